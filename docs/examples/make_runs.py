"""Write judgements of 50 queries and two runs on which AP and RR contradict each other in each.

One list has a relevant document at the first position and the others late; the other list has all
four early. Each run has each kind of list in half of the queries. docs/judge-a-collection.md, which
is run as a test, uses it.
"""

import sys
from pathlib import Path
from random import Random
from statistics import NormalDist, fmean

NOISE = 0.3  # of the simulated people of the guide
chance = Random(2010)  # noqa: S311  # everyone gets the same example; nothing is secret
leads = []
lines: dict[str, list[str]] = {"qrels": [], "alpha": [], "beta": []}


def average_precision(ranks: list[int]) -> float:
    """Return the average precision of a list whose relevant documents all came back."""
    return fmean(number / rank for number, rank in enumerate(ranks, 1))


for query in range(1, 51):
    documents = [f"d{number}" for number in chance.sample(range(1000, 10_000), 40)]
    relevant, others = documents[:4], documents[4:]
    at_once = [1, *sorted(chance.sample(range(10, 41), 3))]  # RR favours this list,
    together = sorted(chance.sample(range(2, 9), 4))  # and AP this one
    runs = (at_once, together) if query % 2 else (together, at_once)
    lines["qrels"] += [f"{query} 0 {document} 1" for document in relevant]
    for name, ranks in zip(("alpha", "beta"), runs, strict=True):
        left, hits = iter(others), iter(relevant)
        for rank in range(1, 41):
            document = next(hits if rank in ranks else left)
            lines[name].append(f"{query} Q0 {document} {rank} {41 - rank} {name}")
    felt = NormalDist(average_precision(together) - average_precision(at_once), NOISE)
    better, worse = 1 - felt.cdf(NOISE / 10), felt.cdf(-NOISE / 10)
    leads.append((better - worse) / (better + worse))

for name, rows in lines.items():
    Path(f"{name}.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
sys.stdout.write(f"planted lead of AP: {fmean(leads):.3f}\n")
