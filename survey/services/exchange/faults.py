"""Telling the faults of several rows together."""

from collections.abc import Iterator
from contextlib import contextmanager

from survey.services.exchange.sheets import BundleError

MOST_FAULTS = 10


class Faults:
    """The faults of files, told together: the first ten, and how many more there are."""

    def __init__(self) -> None:
        self._told: list[str] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note the fault in which what stands inside ends, and go on after it."""
        try:
            yield
        except BundleError as error:
            self._told.append(str(error))

    def stop_if_any(self) -> None:
        """Raise one BundleError, with a line for each fault, if there was any."""
        if not self._told:
            return
        told = self._told[:MOST_FAULTS]
        if len(self._told) > MOST_FAULTS:
            told.append(f"and {len(self._told) - MOST_FAULTS} more faults like these")
        raise BundleError("\n".join(told))
