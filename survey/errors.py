"""What can go wrong in a use case, in words for the person it happens to.

The web turns these into pages in one place (web/errors.py), the command line into
one sentence on stderr.
"""


class SurveyError(Exception):
    """Something the user can understand and often mend; its text is shown as it is."""


class NotFoundError(SurveyError):
    """There is no such study, participant or page."""


class NotAllowedError(SurveyError):
    """The study's state forbids it: not open, closed, frozen."""


class StudyClosedError(NotAllowedError):
    """The study took answers and takes no more."""


class StudyFullError(NotAllowedError):
    """All places of the study are taken."""


class ResultsHiddenError(NotAllowedError):
    """Results per measure are not to be seen yet."""


class SchemaError(SurveyError):
    """The database and this version of the survey do not fit together."""


class BackupError(SurveyError):
    """A backup cannot be made, or is none that could be restored."""
