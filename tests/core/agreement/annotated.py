"""Labels of planted annotators, and who of four is found to differ."""

import numpy as np

NAMES = ("ann", "bob", "dan", "eve", "fay")


def labels(rng, documents, right, yes=0.4):
    """What annotators say of documents, each with a chance to be right."""
    truth = rng.random(documents) < yes
    said = [np.where(rng.random(documents) < chance, truth, ~truth) for chance in right]
    return np.array(said).T * 1.0


def times_a_guesser_is_found(rng, times, differ):
    """How often the fourth of four is found, who guesses three in five; no other ever is."""
    found = 0
    for _ in range(times):
        table = labels(rng, 120, [0.9] * 4)
        guesses = rng.random(120) < 0.6
        table[guesses, 3] = rng.random(guesses.sum()) < 0.5
        *others, guesser = differ(table)
        assert others == [False] * 3
        found += guesser
    return found
