"""Finding a measure's name in a text that participants read."""

import re
from collections.abc import Iterable

from survey.core.measures.measure import Measure

SHORTEST_ANYWHERE = 4  # letters of a name that is found inside a word as well
NUMBER = r"[0-9.]+"


class SpokenNames:
    """The names by which texts speak of measures, ready to be looked for.

    Found are whole words of letters (ap, "AP2"), capitals within a word (mAPs), names of
    four letters and more anywhere (mymnrostudy; of means only as words, since "anar" is in
    canary), and labels in running text. What stands before a cut-off counts as the name,
    whatever the cut-off: nDCG, S-recall, F1, "precision at 3", P@3. A single letter alone
    does not.
    """

    def __init__(self, measures: Iterable[Measure]) -> None:
        self._words: dict[str, str] = {}
        parts: dict[str, str] = {}
        for measure in measures:
            stem, at, _ = measure.name.lower().partition("@")
            shown = f"{measure.name.partition('@')[0]}@k" if at else measure.name
            mean = measure.mean_name.lower().partition("@")[0]
            if stem.isalpha() and len(stem) > 1:
                self._words.setdefault(stem, shown)
                if len(stem) >= SHORTEST_ANYWHERE:
                    parts.setdefault(re.escape(stem), shown)
            elif len(stem) > 1:  # S-recall, F0.5
                parts.setdefault(rf"(?<![a-z0-9]){re.escape(stem)}(?![a-z0-9])", shown)
            if at:
                parts.setdefault(rf"(?<![a-z0-9]){re.escape(stem)}@{NUMBER}", shown)
            if mean.isalpha() and len(mean) > 1:
                self._words.setdefault(mean, measure.mean_name)
            parts.setdefault(_label(measure.label.lower()), shown)
        self._names = [*parts.values()]
        self._anywhere = re.compile("|".join(f"({part})" for part in parts) or r"(?!)")

    def first_in(self, text: str) -> str | None:
        """Return a name that a text holds, None if it holds none."""
        lowered = " ".join(text.lower().split())
        words = [*re.findall(r"[a-z]+", lowered)]
        words += [run.lower() for run in re.findall(r"[A-Z]{2,}", text)]
        for word in words:
            if word in self._words:
                return self._words[word]
        found = self._anywhere.search(lowered)
        return self._names[found.lastindex - 1] if found and found.lastindex else None


def _label(label: str) -> str:
    """Return the pattern of a label, whatever its cut-off: precision at 10, at 3."""
    return re.sub(rf" at {NUMBER}$", f" at {NUMBER}", re.escape(label).replace(r"\ ", " "))
