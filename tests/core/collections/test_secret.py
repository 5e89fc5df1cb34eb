"""Feedback on secret topics: what it shows, and that it raises no final score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.collections.evaluation import compare_runs
from survey.core.collections.runs import read_judgements
from survey.core.collections.secret import (
    beats,
    commitment,
    feedback,
    shown_mean,
    split_topics,
    starred,
)
from survey.core.measures import measure_named
from survey.core.text_input import FileFaults
from tests.core.collections.test_bootstrap import evaluation_of

SHARES = st.integers(0, 1000).map(lambda value: value / 1000)
PAIRS = st.lists(st.tuples(SHARES, SHARES), min_size=2, max_size=40)


@given(PAIRS, st.sampled_from(["higher", "lower"]))
def test_no_value_is_shown_unless_it_beats_the_best_by_a_standard_error(pairs, better):
    values, best = map(list, zip(*pairs, strict=True))
    shown, is_new = feedback(values, best, better)
    gains = (np.array(values) - best) * (1 if better == "higher" else -1)
    margin = np.std(gains, ddof=1) / np.sqrt(len(gains))
    if is_new:
        assert gains.mean() > margin
        assert shown == shown_mean(values)
    else:
        assert gains.mean() < margin + 1e-8
        assert shown == shown_mean(best)  # which the group knows: nothing depends on the run


@given(st.lists(SHARES, min_size=2, max_size=40), st.data())
def test_a_change_of_one_topic_alone_is_never_shown(best, data):
    place = data.draw(st.integers(0, len(best) - 1))
    values = [*best]
    values[place] = data.draw(SHARES)
    assert not beats(values, best)


@given(PAIRS)
def test_of_two_runs_one_at_most_beats_the_other(pairs):
    first, second = map(list, zip(*pairs, strict=True))
    assert not (beats(first, second) and beats(second, first))
    assert beats(first, second) == beats(second, first, "lower")
    assert not beats(first, first)


@given(st.lists(SHARES, min_size=2, max_size=40))
def test_a_first_run_is_shown_to_two_decimals(values):
    shown, is_new = feedback(values, None)
    assert is_new
    assert shown == pytest.approx(np.mean(values), abs=0.005 + 1e-12)
    assert shown == round(shown, 2)


@given(st.sets(st.text("abc123", min_size=1), min_size=1, max_size=50), st.integers(0, 2**63))
def test_topics_are_halved_and_the_seed_alone_decides(names, seed):
    topics = sorted(names)
    first, final = split_topics(topics, seed)
    assert sorted([*first, *final]) == topics
    assert len(final) - len(first) in (0, 1)
    backwards = split_topics(topics[::-1], seed)
    assert [{*part} for part in backwards] == [{*first}, {*final}]


def test_the_split_is_that_of_every_version():
    topics = [str(number) for number in range(1, 13)]
    first, final = split_topics(topics, 7)
    assert (" ".join(first), " ".join(final)) == ("2 3 4 7 8 12", "1 5 6 9 10 11")


def test_the_committed_file_is_of_trecs_format_and_names_its_salt():
    judgements = {"1": {"b": 1, "a": 0}, "2": {"c": 2}, "public": {"d": 1}}
    text = commitment(judgements, (["2"], ["1"]), {"salt": "abc"})
    assert text == "# salt: abc\n# open: 2\n# final: 1\n2 0 c 2\n1 0 a 0\n1 0 b 1\n"
    faults = FileFaults()
    assert read_judgements("it", text.splitlines(), faults) == {
        topic: judgements[topic] for topic in ("2", "1")
    }
    assert not faults


def test_stars_are_those_of_survey_evaluate_against_the_best_baseline():
    rng = np.random.default_rng(5)
    names = ("low", "high", "run", "same")
    values = dict(zip(names, rng.random((4, 12)) * 0.3 + [[0], [0.2], [0.6], [0.2]], strict=True))
    of_ap = {name: {"AP": column.tolist()} for name, column in values.items()}
    runs = {name: of_ap[name] for name in ("run", "same")}
    baselines = {name: of_ap[name] for name in ("low", "high")}
    topics = [str(number) for number in range(12)]
    [(measure, (baseline, stars))] = starred([measure_named("AP")], runs, baselines, topics).items()
    assert (measure, baseline) == ("AP", "high")
    evaluated = evaluation_of(high=values["high"], run=values["run"], same=values["same"])
    expected = {result.run: result.stars for result in compare_runs(evaluated, "high")}
    assert stars == expected
    assert stars["run"]
    assert starred([measure_named("AP")], runs, {}, topics) == {}
    of_group = starred([measure_named("AP")], {"high": runs["run"]}, baselines, topics)
    assert of_group["AP"][1]["high"]  # a group may be called as the baseline is


TOPICS, DOCUMENTS, RELEVANT, FIRST, RUNS = 40, 200, 20, 10, 500
CHANCE = RELEVANT / DOCUMENTS


def climbed(seed, tells, is_open):
    """The final precision of the run that 500 random changes lead to, by some feedback.

    ``tells``: values and those of the best run → whether a change is kept; ``is_open``: whether it
    sees the open topics, else the final ones. Half of the topics are open.
    """
    rng = np.random.default_rng(seed)
    relevant = np.zeros((TOPICS, DOCUMENTS), dtype=bool)
    for row in relevant:
        row[rng.choice(DOCUMENTS, RELEVANT, replace=False)] = True
    first, final = ([*map(int, part)] for part in split_topics([*map(str, range(TOPICS))], seed))

    def lists():
        return rng.random((TOPICS, DOCUMENTS)).argpartition(FIRST)[:, :FIRST]

    def precision(run):
        return np.take_along_axis(relevant, run, axis=1).mean(axis=1)

    seen, best = first if is_open else final, lists()
    for _ in range(RUNS - 1):
        run = np.where(rng.random((TOPICS, 1)) < 0.1, lists(), best)
        if tells(precision(run)[seen], precision(best)[seen]):
            best = run
    return precision(best)[final].mean()


@pytest.mark.slow
def test_500_random_submissions_do_not_raise_the_final_score():
    def ladder(values, best):
        return feedback(values, best)[1]

    def exact_mean(values, best):
        return values.mean() > best.mean()

    def finals(tells, is_open):
        return np.array([climbed(seed, tells, is_open) for seed in range(20)])

    ours = finals(ladder, is_open=True)
    assert abs(ours.mean() - CHANCE) < 3 * ours.std(ddof=1) / np.sqrt(len(ours))
    # Feedback with all decimals on the topics of the final score, as leaderboards give it.
    naive = finals(exact_mean, is_open=False)
    assert naive.mean() > 2 * CHANCE
    # Where the same topics are used for both, the ladder tells less.
    same = finals(ladder, is_open=False)
    assert same.mean() < naive.mean() - 3 * (naive - same).std(ddof=1) / np.sqrt(len(naive))
