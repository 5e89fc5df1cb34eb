"""Whole studies, answer by answer, of the model that ``power_model`` simulates as arrays.

Written without it: participants, questions of the generators and labels are drawn one by one, and
the analysis' own functions give the verdicts.
"""

from collections import Counter
from functools import cache

from survey.core.agreement.agreement import compare_measures
from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.credits import Ballots, tally_credits
from survey.core.agreement.label_permutation import Redraws
from survey.core.agreement.verdicts import verdict
from survey.core.measures import Setting
from survey.core.studies.generators import GENERATORS
from survey.core.studies.rankings import Ranking

MEASURES = ("AP", "NMRR", "MNRO")
FIRST, SECOND, THIRD = reversed(MEASURES)  # of the first pair: MNRO is ahead of NMRR
OWN = Ranking.parse("A>B=C=D>E")


@cache
def questions_of(generator, count):
    """The first questions of a generator, as their orders."""
    setting = Setting(100, None, False)
    draw = GENERATORS[generator]
    return [
        draw(number, seed=2, lists=5, relevant=5, measures=MEASURES, setting=setting).rankings
        for number in range(1, count + 1)
    ]


def verdicts_of(study, questions, replicates, rng):
    """Count the verdicts on the first pair in simulated studies; (difference, margin) apart."""
    counted = Counter()
    for _ in range(replicates):
        chosen = rng.choice(len(questions), study.questions, replace=False)
        rankings = {number: questions[at] for number, at in enumerate(chosen.tolist(), 1)}
        answers = Answers.of(answers_of(study, rankings, rng))
        redraws = Redraws(tally_credits(Ballots.of(answers, rankings, MEASURES)))
        first = compare_measures(redraws, study.difference or 0.1)[0]
        found = verdict(first, study.questions)
        assert (found.pair.first, found.pair.second) == (FIRST, SECOND)
        if found.scope == "kind":
            counted[found.preferred] += 1
            counted[found.preferred, found.preferred_for] += 1
        counted["equal"] += found.scope == "equal" and found.population.startswith("questions of")
    return counted


def answers_of(study, rankings, rng):
    """Yield the answers of one study, as the model has them."""
    tastes = {
        name: (
            rng.normal(0, study.between_participants / 2**0.5, study.participants),
            rng.normal(0, study.between_questions / 2**0.5, study.questions + 1),
        )
        for name in MEASURES
    }
    means = [sum(of[part] for of in tastes.values()) / len(MEASURES) for part in (0, 1)]
    usual = {
        FIRST: (study.decided + study.difference) / 2,
        SECOND: (study.decided - study.difference) / 2,
        THIRD: min(study.decided / 2, 1 - study.decided),
    }
    asked_so_far = dict.fromkeys(rankings, 0)
    for person in range(study.participants):
        by_need = sorted(rankings, key=lambda number: (asked_so_far[number], rng.random()))
        asked = by_need[: study.per_participant]
        for number in asked:
            asked_so_far[number] += 1
        rng.shuffle(asked)
        if rng.random() < study.dropouts:
            asked = asked[: int(rng.integers(1, study.per_participant))]
        clicker = rng.random() < study.random_clickers
        for number in asked:
            labels = tuple(rng.permutation(MEASURES).tolist())
            chances = {}  # by order: a measure that shares an earlier one's adds nothing
            for name, share in usual.items():
                of_person, of_question = tastes[name]
                lean = of_person[person] - means[0][person]
                lean += of_question[number] - means[1][number]
                chances.setdefault(rankings[number][name], (name, max(0, share + lean)))
            pick = rng.random()
            clicked = {1 + int(rng.integers(len(MEASURES)))} if clicker else set()
            for name, chance in chances.values():
                if not clicker and 0 <= pick < chance:
                    clicked = {1 + labels.index(name)}
                pick -= chance
            yield Response(
                participant=f"p{person:03}",
                question=number,
                label_order=labels,
                clicked=frozenset(clicked),
                own=None if clicked else OWN,
            )
