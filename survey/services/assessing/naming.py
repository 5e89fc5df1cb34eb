"""Topics in a sentence."""

from collections.abc import Sequence

MOST_NAMED = 20  # in a sentence; JSON and files name all


def topics_named(topics: Sequence[str]) -> str:
    """Name topics, and count those for which there is no room."""
    more = len(topics) - MOST_NAMED
    named = ", ".join(topics[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"topic{'s' * (len(topics) != 1)} {named}"
