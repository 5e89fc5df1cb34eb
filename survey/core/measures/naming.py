"""Finding a measure's name in a text that participants read."""

import re
from collections.abc import Iterable

from survey.core.measures.measure import Measure

SHORTEST_ANYWHERE = 4  # letters of a name that is found inside a word as well


class SpokenNames:
    """The names by which texts speak of measures, ready to be looked for.

    Found are whole words of letters (ap, "AP2"), capitals within a word (mAPs), names of
    four letters and more anywhere (mymnrostudy), and names in running text. What stands
    before a cut-off, as in nDCG@10, counts as the name; a single letter does not.
    """

    def __init__(self, measures: Iterable[Measure]) -> None:
        self._words: dict[str, str] = {}
        parts: dict[str, str] = {}
        for measure in measures:
            for name in (measure.name, measure.mean_name):
                short, whole = _parts(name.lower())
                if len(short) > 1:
                    self._words.setdefault(short, name)
                if len(short) >= SHORTEST_ANYWHERE:
                    parts.setdefault(short, name)
                if whole:
                    parts.setdefault(whole, name)
            parts.setdefault(measure.label.lower(), measure.name)
        self._parts = parts
        longest_first = sorted(parts, key=len, reverse=True)
        self._anywhere = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def first_in(self, text: str) -> str | None:
        """Return a name that a text holds, None if it holds none."""
        lowered = " ".join(text.lower().split())
        words = [*re.findall(r"[a-z]+", lowered)]
        words += [run.lower() for run in re.findall(r"[A-Z]{2,}", text)]
        for word in words:
            if word in self._words:
                return self._words[word]
        found = self._anywhere.search(lowered)
        return self._parts[found[0]] if found else None


def _parts(name: str) -> tuple[str, str]:
    """Return the letters by which a name is known, and the whole of one that has more signs."""
    letters = re.match(r"[a-z]*", name)
    stem = letters[0] if letters else ""
    if stem == name:
        return stem, ""
    # "mean P@10" and S-recall@20 are not known by "mean" and "s".
    return (stem if name.startswith(f"{stem}@") else ""), name
