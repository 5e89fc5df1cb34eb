"""The participant's pages, below /s/SLUG.

visit: the study and participant of a request, which page comes next, the pages of each kind of
question · entry: begin, resume, consent, about you, scenario · practice: its screens · questions:
their pages, review, the end · kind_pages: form and words of declared answers · asked_fields: what a
plan asks beside questions · trial: one question to try · own_data: see, download, stop, erase.
"""

from survey.web.participant import entry, own_data, practice, questions
from survey.web.participant.visit import blueprint

__all__ = ["blueprint", "entry", "own_data", "practice", "questions"]
