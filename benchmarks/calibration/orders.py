"""People who hold orders of their own and tick the columns that come near, or only give them."""

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.calibration.studies import MEASURES, Study, ordered_study, study_of
from benchmarks.calibration.tastes import by_design
from benchmarks.situations import Design, stock
from survey.core.agreement.agreement import MeanTests, corrected_tests
from survey.core.agreement.contrasts import by_contrast
from survey.core.agreement.credits import Credits
from survey.core.agreement.differences import Pair, differences, pairs
from survey.core.agreement.label_permutation import Redraws, label_permutation
from survey.core.agreement.own_orderings import own_orderings_of
from survey.core.agreement.verdicts import beyond_random_clicks, decide, preferred_for
from survey.core.statistics.rater_agreement import signs
from survey.core.studies.rankings import TIES_ONLY, Ranking, breaks_ties, contrast

FOR_ORDERS = "MNRO or NMRR is preferred to the other for its order"
MNRO_NEARER = "orderings are called nearer to MNRO's"
NMRR_NEARER = "orderings are called nearer to NMRR's"
EITHER_NEARER = "orderings are called nearer to MNRO's or NMRR's"
SOME_NEARER = "orderings are called nearer to some measure's"

PAIR = Pair("MNRO", "NMRR")

Numbers = NDArray[np.float64]
Scores = Callable[[Numbers, tuple[int, int], Generator], Numbers]
"""From the lists' positions, (questions, lists, items), and the numbers of participants and
questions, to what each participant gives each list, the lowest first."""


def at_random(positions: Numbers, shape: tuple[int, int], chance: Generator) -> Numbers:
    """Order the lists at random."""
    scores: Numbers = chance.random((*shape, positions.shape[1]))
    return scores


def by_early_hits(positions: Numbers, shape: tuple[int, int], chance: Generator) -> Numbers:
    """Order by the sum of 1/position, plus noise as large as the lists' sums differ."""
    value = (1 / positions).sum(axis=2)
    noise = chance.normal(0, 1, (*shape, value.shape[1])) * value.std(axis=1)[:, np.newaxis]
    scores: Numbers = -(value + noise)
    return scores


def nearest_orders(scores: Scores | None) -> Callable[[Design, Generator], Study]:
    """Let people tick the column that agrees with their order in most pairs of lists.

    A tie agrees with no order, and of equals one is drawn. None: people who avoid ties; they tick
    the column that ties the fewest pairs.
    """

    def draw(design: Design, chance: Generator) -> Study:
        questions = stock(distinct=False)
        drawn = chance.choice(len(questions), design.questions, replace=False)
        offered, is_first, positions = _offered()
        offered, is_first, positions = offered[drawn], is_first[drawn], positions[drawn]
        shape = (design.participants, design.questions)
        near = (offered != 0).sum(axis=2) + np.zeros((*shape, len(MEASURES)))
        if scores:
            held = signs(scores(positions, shape, chance))
            near = near + np.einsum("psk,smk->psm", held, offered)
        near = np.where(is_first, near, -1) + 0.5 * chance.random(near.shape)
        rankings = {
            number: dict(questions[place].rankings) for number, place in enumerate(drawn, 1)
        }
        return study_of(near.argmax(axis=2), by_design(design, chance), rankings, chance)

    return draw


@cache
def _offered() -> tuple[NDArray[np.int64], NDArray[np.bool_], Numbers]:
    """Return of the stock's questions the signs of the measures' pairs, and the positions.

    (questions, measures, pairs); whether no measure before has the same order, (questions,
    measures); (questions, lists, items).
    """
    orders = [[each.rankings[name] for name in MEASURES] for each in stock(distinct=False)]
    places = np.array([[[*order.places.values()] for order in of] for of in orders])
    is_first = np.array(
        [[of.index(order) == place for place, order in enumerate(of)] for of in orders]
    )
    positions = [[*each.lists.values()] for each in stock(distinct=False)]
    return signs(places).astype(np.int64), is_first, np.array(positions, dtype=float)


def preference_for_orders(
    draw: Callable[[Design, Generator], Study], design: Design
) -> Callable[[Generator], Mapping[str, bool | None]]:
    """Tell whether MNRO or NMRR is preferred to the other, and for its order."""

    def study(chance: Generator) -> Mapping[str, bool | None]:
        return {FOR_ORDERS: _for_orders(draw(design, chance).credits)}

    return study


def tests_of_pairs(credits: Credits) -> list[MeanTests]:
    """Return the corrected tests of each pair of measures."""
    tests = [MeanTests.of(differences(credits, pair), credits) for pair in pairs(MEASURES)]
    return corrected_tests(tests, MEASURES)


def _for_orders(credits: Credits) -> bool:
    tests = tests_of_pairs(credits)[pairs(MEASURES).index(PAIR)]
    decision = decide(tests)
    if not decision or not tests.mean:
        return False
    if not beyond_random_clicks(label_permutation(Redraws(credits), PAIR), tests.mean):
        return False
    parts = by_contrast(differences(credits, PAIR), credits, PAIR)
    return preferred_for(parts, decision.population, tests.mean) == "orders"


def through_ties(share: float, design: Design) -> Callable[[Generator], Mapping[str, bool | None]]:
    """Let people order lists as NMRR does and, with a chance, as MNRO where NMRR ties them.

    Else they put the tied lists the other way round. MNRO only breaks ties of NMRR.
    """
    known = _only_ties()

    def study(chance: Generator) -> Mapping[str, bool | None]:
        drawn = [known[place] for place in chance.choice(len(known), design.questions, False)]
        rankings = {number: dict(each) for number, each in enumerate(drawn, 1)}
        held = [
            [_following(rankings[number], share, chance) for number in rankings]
            for _ in range(design.participants)
        ]
        nearer = _nearer(ordered_study(held, rankings))
        return {
            MNRO_NEARER: nearer["MNRO-NMRR"] == "MNRO",
            NMRR_NEARER: nearer["MNRO-NMRR"] == "NMRR",
        }

    return study


def random_orderings(design: Design) -> Callable[[Generator], Mapping[str, bool | None]]:
    """Let people order lists at random."""
    questions = stock(distinct=False)

    def study(chance: Generator) -> Mapping[str, bool | None]:
        drawn = chance.choice(len(questions), design.questions, replace=False)
        rankings = {
            number: dict(questions[place].rankings) for number, place in enumerate(drawn, 1)
        }
        letters = [*questions[0].lists]
        held = [
            [Ranking(tuple((letter,) for letter in chance.permutation(letters))) for _ in rankings]
            for _ in range(design.participants)
        ]
        nearer = _nearer(ordered_study(held, rankings))
        return {SOME_NEARER: any(nearer.values())}

    return study


def _nearer(study: Study) -> Mapping[str, str | None]:
    verdicts = own_orderings_of(study.ballots).verdicts(len(study.rankings))
    return {str(each.pair): each.preferred for each in verdicts}


@cache
def _only_ties() -> list[Mapping[str, Ranking]]:
    """Return the orders in the stock's questions in which MNRO only breaks ties of NMRR."""
    orders = [each.rankings for each in stock(distinct=False)]
    return [
        of
        for of in orders
        if contrast(of["MNRO"], of["NMRR"]) == TIES_ONLY and breaks_ties(of["MNRO"], of["NMRR"])
    ]


def _following(orders: Mapping[str, Ranking], share: float, chance: Generator) -> Ranking:
    places = orders["MNRO"].places
    groups: list[tuple[str, ...]] = []
    for group in orders["NMRR"].groups:
        broken = sorted(group, key=places.__getitem__)
        if chance.random() >= share:
            broken.reverse()
        groups += [(letter,) for letter in broken]
    return Ranking(tuple(groups))
