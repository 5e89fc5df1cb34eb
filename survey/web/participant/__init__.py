"""The participant's pages: /s/SLUG from entry to receipt.

pages: who is asking, and where they may go · entry: coming and coming back ·
preparation: consent, about you, scenario · questions: practice, questions, review, done ·
question_pages: how a question is shown · unsaved: what could not be stored · own_data:
seeing, stopping, erasing · forms, question_form, question_fields: what they fill in ·
filled_in: what of it a question shows.
"""

from survey.web.participant import entry, own_data, preparation, questions, unsaved
from survey.web.participant.visit import blueprint

__all__ = ["blueprint", "entry", "own_data", "preparation", "questions", "unsaved"]
