"""Compare what a bundle holds with what is recomputed, where another version may have made it.

A value that differs is a fault, whoever made the bundle. What a bundle of another version lacks, or
has beside what this one writes, is noted; so are descriptions in other words.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import starmap

from survey import __version__
from survey.release import UNKNOWN, made_by
from survey.services.exchange.foreign_file import name_some
from survey.services.exchange.input_files import BundleError

VERSION = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}")
MAKER = ("survey", "commit", "modified")  # of versions


class BundleComparison:
    """What made a bundle, and what of the bundle cannot be compared.

    ``versions``: as study.json has them. ``is_ours``: whether this version of the survey made it.
    """

    def __init__(self, versions: object) -> None:
        versions = versions if isinstance(versions, Mapping) else {}
        self._version = str(versions.get("survey"))[:40]
        self._commit = str(versions.get("commit") or UNKNOWN)[:40]
        same = [versions.get(name) == made_by().get(name) for name in MAKER]
        self.is_ours = "commit" in versions and all(same)
        self._notes: dict[str, dict[str, dict[str, None]]] = {}  # sort → file → places

    @property
    def is_newer(self) -> bool:
        """Whether a later version than this one made the bundle."""
        is_version = VERSION.fullmatch(self._version)
        return bool(is_version) and _numbers(self._version) > _numbers(__version__)

    @property
    def newer(self) -> str:
        """The sentence about a bundle of a later version."""
        return (
            f"The bundle was made by version {self._version} of the survey, and this is the older "
            f"{__version__}: install ranking-survey {self._version} or later to read it"
        )

    def explained(self, error: BundleError) -> BundleError:
        """Return an error with the version that made the bundle, where this one is another."""
        if self.is_newer:
            return BundleError(self.newer)
        if self.is_ours:
            return error
        ours = _named(__version__, made_by()["commit"], is_same=self._version == __version__)
        return BundleError(
            f"{error}{chr(10) if chr(10) in str(error) else '. '}The bundle was made by "
            f"{self._maker}, and this is {ours}: if these compute it differently, it is no fault "
            f"of the bundle, and {self._maker} replicates it"
        )

    @property
    def _maker(self) -> str:
        return _named(self._version, self._commit, is_same=self._version == __version__)

    def of_format(self, number: int) -> str:
        """Return the sentence about a bundle in an earlier format, which is then not this one's."""
        self._is_ours = False
        return f"the bundle is in format {number}, made by release {self._maker}: read by its rules"

    def lacks(self, place: str) -> None:
        """Note what the bundle lacks; raise BundleError where its maker writes it."""
        if self.is_ours:
            raise BundleError(f"{place} is missing")
        self._note("not in this bundle", place)

    def holds(self, place: str, fault: str = "does not belong there") -> None:
        """Note what this version does not write; raise BundleError where it made the bundle."""
        if self.is_ours:
            raise BundleError(f"{place} {fault}")
        self._note("not compared, as this version does not write it", place)

    def says_otherwise(self, place: str, fault: str) -> None:
        """Note a sentence in other words than this version's; raise BundleError if it made it."""
        if self.is_ours:
            raise BundleError(fault)
        self._note("in other words, of the same figures", place)

    def rewords(self, place: str) -> None:
        """Note a description in other words than this version's."""
        self._note("not compared, as descriptions are no results", place)

    def notes(self) -> Iterator[str]:
        """Yield a sentence for each sort of what was not compared."""
        maker = "" if self.is_ours else f"; made by {self._maker}"
        for sort, files in self._notes.items():
            yield f"{sort}: {'; '.join(starmap(_with_places, files.items()))}{maker}"

    def _note(self, sort: str, place: str) -> None:
        # Of a list, the same is mostly so of each of its items.
        file, *rest = re.sub(r" [0-9]+(?=,|$)", "", place).split(", ")
        places = self._notes.setdefault(sort, {}).setdefault(file, {})
        if rest:
            places[".".join(rest)] = None


def _with_places(file: str, places: Mapping[str, None]) -> str:
    return f"{file} ({name_some(places)})" if places else file


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def _named(version: str, commit: str, *, is_same: bool) -> str:
    """Return how a version is called; its commit counts where both are of the same."""
    if not is_same:
        return version
    return (
        f"{version} of commit {commit}" if commit != UNKNOWN else f"{version} of an unknown commit"
    )
