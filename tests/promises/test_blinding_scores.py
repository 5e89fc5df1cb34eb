"""Promise 3: how often what is printed tells which measure is behind a label, against chance."""

from itertools import permutations
from random import Random

import numpy as np
import pytest

from survey.core.measures.measure import Setting
from survey.core.studies.generators import GENERATORS
from survey.core.studies.questions import build_question

MEASURES = ("AP", "NMRR", "MNRO")
LABELLINGS = list(permutations(range(len(MEASURES))))
LEARNT, TOLD = 1_000, 500


def random_lists(number):
    chance = Random(number)
    return [sorted(chance.sample(range(1, 101), 5)) for _ in range(5)]


def questions(generator, *, rescaled=False):
    """Questions drawn as studies draw them; the random ones by their own, faster chance."""
    setting = Setting(100, rescaled=rescaled)
    if generator == "random":
        drawn = (
            build_question(n, random_lists(n), MEASURES, setting) for n in range(LEARNT + TOLD)
        )
        return [one for one in drawn if not any(each.all_tied for each in one.rankings.values())]
    design = {"lists": 5, "relevant": 5, "measures": MEASURES, "setting": setting}
    return [GENERATORS[generator](n, seed=1, **design) for n in range(1, 301)]


def features(question, *, scores):
    """For each measure's column: its numbers, those of the others, and how their orders agree.

    Nothing depends on where a column stands or on its label.
    """
    columns = [question.columns[name] for name in MEASURES]
    places = np.array([[*column.ranking.places.values()] for column in columns])
    one, other = np.triu_indices(places.shape[1], 1)
    signs = np.sign(places[:, one] - places[:, other])
    own = [[len(column.ranking.groups)] for column in columns]
    if scores:
        for numbers, column in zip(own, columns, strict=True):
            values = np.sort([float(text) for text in column.shown])
            numbers += [*values, *np.diff(values), values.std(), values.mean()]
    for index, numbers in enumerate(own):
        others = [each for each in range(len(own)) if each != index]
        beside = np.sort([own[each] for each in others], axis=0).ravel()
        agreement = sorted(signs[index] @ signs[each] for each in others)
        yield [*numbers, *beside, *agreement]


def share_told(drawn, *, scores):
    """The share of unseen questions in which all labels are told, ties shared."""
    from sklearn.ensemble import RandomForestClassifier  # a second, which other tests need not wait

    table = np.array([[*features(each, scores=scores)] for each in drawn])
    seen = 2 * len(drawn) // 3
    forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=0)
    forest.fit(table[:seen].reshape(-1, table.shape[2]), np.tile(range(len(MEASURES)), seen))
    guesses = forest.predict_proba(table[seen:].reshape(-1, table.shape[2]))
    logs = np.log(guesses.reshape(-1, len(MEASURES), len(MEASURES)) + 1e-9)
    score = np.array([logs[:, range(len(MEASURES)), list(each)].sum(1) for each in LABELLINGS])
    best = np.isclose(score, score.max(0))
    return float((best[0] / best.sum(0)).mean())


def share_told_by_a_rule(drawn):
    """“The smallest spread is AP; of the others the smaller mean is NMRR”."""
    told = 0
    for question in drawn:
        shown = {name: np.array(question.columns[name].shown, dtype=float) for name in MEASURES}
        first = min(MEASURES, key=lambda name: np.ptp(shown[name]))
        second = min({*MEASURES} - {first}, key=lambda name: shown[name].mean())
        told += (first, second) == ("AP", "NMRR")
    return told / len(drawn)


@pytest.mark.trial
def test_hidden_scores_tell_less_than_rescaled_ones_and_these_less_than_the_papers(measured):
    shown, rescaled = questions("random"), questions("random", rescaled=True)
    rule = share_told_by_a_rule(shown)
    told = [share_told(shown, scores=True), share_told(rescaled, scores=True)]
    told += [share_told(each, scores=False) for each in (shown, questions("discriminative"))]
    assert told[0] > told[1] > told[2] > told[3]
    assert told[1] < rule
    assert told[2] < 0.6
    assert told[3] < 0.4
    measured(
        f"All three labels of a question told, where chance tells 1 in 6: by a rule of two "
        f"sentences on the paper's scores {rule:.1%}; by a program that had learnt from other "
        f"questions, from scores {told[0]:.1%}, from scores rescaled to 0–100 {told[1]:.1%}, from "
        f"orderings alone {told[2]:.1%}, from orderings of discriminative lists {told[3]:.1%}."
    )
