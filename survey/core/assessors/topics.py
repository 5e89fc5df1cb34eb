"""The order of topics."""

from collections.abc import Iterable


def in_order(topics: Iterable[str]) -> list[str]:
    """Sort topics: whole numbers by size, then all others by the alphabet."""
    return sorted(topics, key=_place)


def _place(topic: str) -> tuple[bool, int, str]:
    number = topic.isascii() and topic.isdecimal()
    return (not number, len(topic) if number else 0, topic)
