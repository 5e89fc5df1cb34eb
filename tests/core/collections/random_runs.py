"""A test collection of real size, made from a seed: judgements and runs as texts."""

from functools import cache

import numpy as np

TOPICS, RETURNED, POOL = 50, 1000, 400


@cache
def real_sized(seed: int = 7, runs: int = 2) -> tuple[str, tuple[str, ...]]:
    """Judgements and runs: 50 topics × 1000 documents each.

    400 documents of a topic are judged, from −2 to 3; about half of them, relevant ones too,
    a run does not return. Scores are whole numbers below 200, so most of them are tied.
    """
    rng = np.random.default_rng(seed)
    judgements, texts = [], [[] for _ in range(runs)]
    for topic in range(1, TOPICS + 1):
        names = [f"d{number}" for number in rng.choice(100_000, 1500, replace=False)]
        grades = rng.choice([-2, -1, 0, 1, 2, 3], POOL, p=[0.03, 0.07, 0.7, 0.12, 0.05, 0.03])
        judged = dict(zip(names, grades.tolist(), strict=False))
        judgements += [f"{topic} 0 {name} {grade}" for name, grade in judged.items()]
        for lines in texts:
            for name in rng.permutation(names[100:])[:RETURNED]:
                score = int(rng.integers(150)) + 15 * max(0, judged.get(name, 0))
                lines.append(f"{topic} Q0 {name} 1 {score} made")
    return "\n".join(judgements), tuple("\n".join(lines) for lines in texts)
