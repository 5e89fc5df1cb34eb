"""Finding a measure's name in a text that participants read."""

import re

from survey.core.measures.registry import MEASURES


def measure_in(text: str) -> str | None:
    """Return the registered measure (or mean) that a text names, if it names one.

    Found are whole words of letters (ap, "AP2"), capitals within a word (mAPs), names
    of four letters and more anywhere (mymnrostudy), and names in running text.
    """
    words = {*re.findall(r"[a-z]+", text.lower())}
    words |= {run.lower() for run in re.findall(r"[A-Z]{2,}", text)}
    for measure in MEASURES.values():
        for name in (measure.name, measure.mean_name):
            short = name.lower()
            if short in words or (len(short) > 3 and any(short in word for word in words)):
                return name
        if measure.label in " ".join(text.lower().split()):
            return measure.name
    return None
