"""Errors that a user can understand; their texts are shown.

web/errors.py turns them into pages, the command line into a sentence on stderr.
"""


def marked(text: str) -> str:
    """Return the text; the call marks it for the translation catalogues, pages translate it."""
    return text


class SurveyError(Exception):
    """The base of errors whose text is shown to the user."""


class NotFoundError(SurveyError):
    """A study, participant or page does not exist, or not for this user."""


class NotPublicNowError(NotFoundError):
    """A published study whose public page is hidden for now."""


class TakenBackError(SurveyError):
    """A published study whose owner has taken its public page back."""


class NotAllowedError(SurveyError):
    """The study's status or the user's role forbids the action."""


class ChangedMeanwhileError(SurveyError):
    """Another researcher has saved something else since the form was opened."""


class SlugError(SurveyError):
    """An address that a study cannot have; ``suggestion``: one like it that is free."""

    def __init__(self, text: str, suggestion: str) -> None:
        super().__init__(text)
        self.suggestion = suggestion


class CannotOpenError(NotAllowedError):
    """The check of a draft has findings that keep it from being opened."""


class StudyClosedError(NotAllowedError):
    """The study is closed, so it takes no more answers."""


class StudyFullError(NotAllowedError):
    """All slots of the study are taken."""


class IdTakenError(NotAllowedError):
    """A participant began with the platform's id in another browser."""


class ResultsHiddenError(NotAllowedError):
    """The votes per measure stay hidden until the study is closed or unblinded."""


class SchemaError(SurveyError):
    """The database is missing, in an unusable encoding, or at another version's revision."""


class BackupError(SurveyError):
    """A backup cannot be written, or a file cannot be restored."""
