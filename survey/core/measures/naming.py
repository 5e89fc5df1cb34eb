"""Finding a measure's name in a text that participants read."""

import re

from survey.core.measures.registry import MEASURES


def measure_in(text: str) -> str | None:
    """Return the registered measure (or mean) that a text names, if it names one.

    Found are whole words of letters (ap, "AP2"), capitals within a word (mAPs), names
    of four letters and more anywhere (mymnrostudy), and names in running text. What stands
    before a cut-off, as in nDCG@10, counts as the name; a single letter does not.
    """
    lowered = " ".join(text.lower().split())
    words = {*re.findall(r"[a-z]+", lowered)}
    words |= {run.lower() for run in re.findall(r"[A-Z]{2,}", text)}
    for measure in MEASURES.values():
        for name in (measure.name, measure.mean_name):
            if _is_in(name.lower(), lowered, words):
                return name
        if measure.label in lowered:
            return measure.name
    return None


def _is_in(name: str, text: str, words: set[str]) -> bool:
    stem = re.match(r"[a-z]*", name)
    short = stem[0] if stem else ""
    if short != name:  # P@10, F1@10, S-recall@20 and "mean P@10" stand whole, or by their stem
        if name in text:
            return True
        short = short if name.startswith(f"{short}@") else ""
    return len(short) > 1 and (
        short in words or (len(short) > 3 and any(short in word for word in words))
    )
