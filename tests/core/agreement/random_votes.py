"""Random studies and answers, for comparing the analysis with other ways to compute it."""

import numpy as np
from hypothesis import strategies as st

from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.credits import Ballots, tally_credits
from survey.core.studies.rankings import Ranking, letters_for

MEASURES = ("AP", "NMRR", "MNRO")


def ballots_of(responses, rankings, measures=MEASURES):
    """The ballots of answers given one by one."""
    return Ballots.of(Answers.of(responses), rankings, measures)


def credits_of(responses, rankings, measures=MEASURES):
    """The credits of answers given one by one."""
    return tally_credits(ballots_of(responses, rankings, measures))


def of_each(credits, values):
    """What stands for each ballot, for each answer, with the participant of each."""
    ballots = credits.ballots
    return values[ballots.ballot_index], np.repeat(
        np.arange(len(ballots.first_answer)), ballots.answer_counts
    )


def weak_order(rng, lists):
    """A ranking with ties now and then."""
    keys = rng.integers(0, lists, lists).tolist()
    return Ranking.by_key(dict(zip(letters_for(lists), keys, strict=True)))


def random_rankings(rng, questions, *, lists=5, identical=0.3):
    """Question → measure → order; a measure takes the order of another one now and then."""
    rankings = {}
    for question in range(1, questions + 1):
        orders = {name: weak_order(rng, lists) for name in MEASURES}
        if rng.random() < identical:
            first, second = rng.permutation(MEASURES)[:2].tolist()
            orders[first] = orders[second]
        rankings[question] = orders
    return rankings


def random_responses(
    rng, rankings, participants, *, answered=1.0, several=0.2, custom=0.15, leaning=0.0
):
    """Answers by chance: one column or several, or a custom ranking; some missing.

    ``leaning``: the chance that an answer is a tick for MNRO's column and nothing else.
    """
    responses = []
    for who in range(1, participants + 1):
        for question, orders in rankings.items():
            if rng.random() >= answered:
                continue
            own, clicked = None, frozenset()
            behind = tuple(rng.permutation(MEASURES).tolist())
            if rng.random() < leaning:
                clicked = frozenset([behind.index("MNRO") + 1])
            elif rng.random() < custom:
                own = weak_order(rng, len(orders["AP"].letters))
            else:
                ticks = 1 + int(rng.random() < several)
                clicked = frozenset(rng.permutation([1, 2, 3])[:ticks].tolist())
            responses.append(
                Response(
                    participant=f"P{who}",
                    question=question,
                    label_order=behind,
                    clicked=clicked,
                    own=own,
                    column_order=tuple(rng.permutation([1, 2, 3]).tolist()),
                    position=question,
                    seconds=float(rng.uniform(4, 60)),
                )
            )
    return responses


@st.composite
def rankings_by_chance(draw, measures, lists):
    """One to four questions over a few orders, so that identical ones are common."""
    letters = letters_for(lists)
    keys = st.lists(st.integers(0, lists - 1), min_size=lists, max_size=lists)
    orders = keys.map(lambda drawn: Ranking.by_key(dict(zip(letters, drawn, strict=True))))
    few = draw(st.lists(orders, min_size=1, max_size=5))
    numbers = draw(st.lists(st.integers(1, 50), min_size=1, max_size=4, unique=True))
    return {
        number: {name: draw(st.sampled_from(few)) for name in measures}
        for number in sorted(numbers)
    }, orders


@st.composite
def studies(draw):
    """A small study and its answers: (responses, rankings, measures).

    Two or three measures, two to ten lists, up to six participants with answers missing,
    ticks that lean towards a measure or not, several ticks, custom rankings with ties,
    and what is known of how a question stood.
    """
    measures = draw(st.sampled_from([MEASURES, MEASURES[:2], MEASURES[1:]]))
    lists = draw(st.integers(2, 10))
    rankings, orders = draw(rankings_by_chance(measures, lists))
    leaning = draw(st.sampled_from([None, *measures]))
    known = draw(st.booleans())
    labels = range(1, len(measures) + 1)
    responses = []
    for who in range(draw(st.integers(0, 6))):
        for place, question in enumerate(rankings, 1):
            answer = draw(
                st.sampled_from(["missing", "own", "ticks", "leaning", "leaning", "leaning"])
            )
            if answer == "missing":
                continue
            behind = tuple(draw(st.permutations(measures)))
            if answer == "leaning" and leaning:
                clicked = frozenset([behind.index(leaning) + 1])
            else:
                clicked = draw(st.frozensets(st.sampled_from(labels), min_size=1))
            responses.append(
                Response(
                    participant=f"P{who}",
                    question=question,
                    label_order=behind,
                    clicked=frozenset() if answer == "own" else clicked,
                    own=draw(orders) if answer == "own" else None,
                    column_order=tuple(draw(st.permutations(labels))) if known else None,
                    position=place if known else None,
                    seconds=draw(st.floats(0.5, 600)) if known else None,
                )
            )
    return responses, rankings, measures


def leaning_study(seed):
    """A study whose answers lean towards MNRO: (responses, rankings, measures)."""
    rng = np.random.default_rng(seed)
    rankings = random_rankings(rng, int(rng.integers(1, 7)), identical=0.4)
    responses = random_responses(
        rng,
        rankings,
        int(rng.integers(2, 12)),
        answered=rng.choice([0.6, 1.0]),
        leaning=rng.uniform(0, 0.9),
    )
    return responses, rankings, tuple(rng.permutation(MEASURES).tolist())
