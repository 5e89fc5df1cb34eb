"""Surveys that compare measures of ranked search results with human judgement.

In a notebook: ``import survey``, then ``survey.score``, ``survey.read_bundle``, ``survey.analyse``,
``survey.replicate``, ``survey.pool`` and ``survey.reproduce``; ``help(survey.analyse)`` explains
one. They are imported at first use, so that ``import survey`` takes no time.
"""

__version__ = "0.2.0"

_OF_NOTEBOOKS = ("analyse", "pool", "read_bundle", "replicate", "reproduce", "score")


def __getattr__(name: str) -> object:
    """Import a function for notebooks when it is first used."""
    if name not in _OF_NOTEBOOKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("survey.notebook"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_OF_NOTEBOOKS])
