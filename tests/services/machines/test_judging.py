"""A machine answers every kind of question through HTTP, from what participants see alone."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from survey.core.kinds import KINDS
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.bundle import SUMS, bundle_files, sha256_of, sums_text
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import BundleError, open_files
from survey.services.machines import records
from survey.services.machines.endpoint import KEY_VARIABLE
from survey.services.machines.judging import Budget, ReplyCache, usual_orders
from survey.services.machines.stored import bundle_with
from tests.services.machines.desk import (
    PREFERENCES,
    STUDIES,
    Asked,
    content_named,
    judging_of,
)

JUDGED = "labelling"  # a study whose questions are quickly asked


def answers_of(name, tmp_path, **settings):
    content = content_named(name)
    judging = judging_of(name, orders=usual_orders(content), **settings)
    without_noise = f"{content.plan.measures[0]}:0" if name == "preference" else None
    return Asked(judging, tmp_path, preference=PREFERENCES.get(name, without_noise))


def bundle_of(asked, tmp_path):
    path = tmp_path / "judged.zip"
    with path.open("wb") as file:
        file.writelines(bundle_with(asked.judging.content, asked.record))
    return open_files(path, path.name)


@pytest.mark.parametrize("name", STUDIES)
def test_each_kind_is_judged_and_replicates_without_a_network(name, tmp_path, monkeypatch):
    asked = answers_of(name, tmp_path, samples=2)
    record = asked.record
    assert {answer.status for answer in record.answers} == {records.ANSWERED}
    assert len(asked.fake.bodies) == len(record.answers)
    files = bundle_of(asked, tmp_path)
    monkeypatch.setattr("requests.Session.post", None)
    steps = [*replicate(files)]
    folder = f"machines/{record.name}"
    assert f"{folder}: {len(record.answers)} answers of a model: parsed again from the replies" in [
        *steps
    ]


@pytest.mark.parametrize("name", STUDIES)
def test_the_planted_answers_come_back(name, tmp_path):
    asked = answers_of(name, tmp_path)
    kind, plan = asked.judging.kind, asked.judging.plan
    verdicts = asked.record.verdicts("undecided")
    people = kind.people_answers(asked.judging.content, AnalysisOptions(include_test=True))
    questions = {each.number: each for each in asked.judging.content.questions}
    for (number, document), answer in verdicts.items():
        question = questions[number]
        if name == "ordering":
            assert answer == str(question.rankings["MNRO"])
        if name == "labelling":
            relevant = sum(document.encode()) % 20 < 10
            assert answer == str(plan.highest * relevant)
        if name == "preference":
            places = question.rankings[plan.measures[0]].places
            best = [letter for letter in "AB" if places[letter] == 1]
            assert [answer] == best if len(best) == 1 else answer == "equal"
    assert people
    assert verdicts.keys() >= {unit for answers in people.values() for unit in answers}


def test_what_people_said_and_what_a_machine_said_are_compared_in_the_same_words(tmp_path):
    for name in STUDIES:
        asked = answers_of(name, tmp_path / name)
        kind, content = asked.judging.kind, asked.judging.content
        people = kind.people_answers(content, AnalysisOptions(include_test=True))
        for answers in people.values():
            for (number, document), text in answers.items():
                question = next(each for each in content.questions if each.number == number)
                assert kind.read_machine_answer(content.plan, question, document, text) == text


@pytest.mark.parametrize("name", STUDIES)
def test_nothing_is_sent_that_a_participant_does_not_see(name, tmp_path, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, "sk-secret-key")
    asked = answers_of(name, tmp_path)
    content, sent = asked.judging.content, "\n".join(asked.fake.bodies)
    plan = content.plan
    hidden = {item.document for item in content.items} | {
        file for item in content.items if (file := item.file)
    }
    hidden |= {topic.topic for topic in content.topics}
    hidden |= {person.public_id for person in content.participants()}
    hidden |= {*getattr(plan, "runs", ())}
    hidden |= {item.sha256 for item in content.items if item.sha256}
    hidden |= {f'"{name}"' for name in getattr(plan, "measures", ())}
    hidden |= {content.slug, content.digest, str(plan.seed), "sk-secret-key"}
    texts = _shown_texts(content)
    assert [each for each in hidden if len(each) > 2 and each in sent and each not in texts] == []
    assert asked.endpoint._session.headers["Authorization"] == "Bearer sk-secret-key"
    assert (
        "sk-secret-key"
        not in "".join("".join(lines) for _, lines in asked.record.files())
        + (tmp_path / "replies.jsonl").read_text()
    )


def _shown_texts(content):
    """Return all that pages show as texts, in which an id may happen to be a word."""
    shown = [item.words for item in content.items] + [topic.text or "" for topic in content.topics]
    return " ".join([content.plan.story, content.plan.question_text, *filter(None, shown)])


def test_measures_are_named_by_no_request(tmp_path):
    asked = answers_of("ordering", tmp_path)
    words = json.loads(asked.fake.bodies[0])["messages"][1]["content"]
    shown = json.loads(words)
    assert {*shown["methods"]} == {"Method 1", "Method 2", "Method 3"}
    story = asked.judging.content.plan.story
    for measure in asked.judging.plan.measures:
        assert measure in story or measure not in words


def test_columns_and_sides_differ_between_samples_and_are_the_same_again(tmp_path):
    judging = judging_of("preference", samples=8)
    drawn = [question.asked.drawn for question, _ in judging.questions()]
    assert len({str(each) for each in drawn}) == 2
    again = judging_of("preference", samples=8)
    assert drawn == [question.asked.drawn for question, _ in again.questions()]


def test_both_orders_swap_the_sides(tmp_path):
    record = answers_of("preference", tmp_path).record
    assert Counter(answer.order for answer in record.answers) == {"first": 2, "swapped": 2}
    judging = judging_of("preference", orders=("first", "swapped"))
    pairs = [question.asked.drawn.left_list for question, _ in judging.questions()]
    assert {*pairs[:2]} == {"A", "B"}


def test_a_machine_that_always_says_left_prefers_neither_list(tmp_path):
    judging = judging_of("preference", orders=("first", "swapped"))
    record = Asked(judging, tmp_path, side_bias=1.0).record
    assert {*record.verdicts("undecided").values()} == {"undecided"}


def test_the_most_frequent_answer_counts_and_on_ties_the_first_samples():
    assert records.most_frequent(["A", "B", "B"]) == "B"
    assert records.most_frequent(["B", "A", "A", "B"]) == "B"
    assert records.most_frequent([]) is None


@pytest.mark.parametrize(
    ("column", "found"),
    [("answer", "1"), ("status", "refused"), ("sample", "2")],
)
def test_a_changed_answer_is_found(column, found, tmp_path):
    asked = answers_of(JUDGED, tmp_path)
    record = asked.record
    first = record.answers[0]
    wrong = {"answer": {"1": "0", "0": "1"}[first.answer], "status": "refused", "sample": 2}[column]
    changed = first._replace(**{column: wrong}, **({"answer": ""} if column == "status" else {}))
    answers = [changed, *record.answers[1:]]
    about = {**record.about, "answers_sha256": records.lines_digest(records.answer_lines(answers))}
    if column == "sample":
        about["samples"] = 1
    content = replace(
        asked.judging.content, machines=[records.MachineRecord(about, answers, record.replies)]
    )
    files = {name: "".join(lines).encode() for name, lines in bundle_files(content)}
    sums = {name: sha256_of(text) for name, text in files.items()}
    files[SUMS] = sums_text(sums).encode()
    with pytest.raises(BundleError, match=r"answers\.csv, row 2|is missing in replies"):
        [*replicate(files)]


def test_budgets_end_a_start_and_the_next_goes_on(tmp_path):
    judging = judging_of(JUDGED)
    total = len([*judging.questions()])
    first = Asked(judging, tmp_path, budget=Budget(requests=5))
    assert "the most that --most-requests allows" in first.ended
    assert 5 <= len(first.fake.bodies) < total
    second = Asked(judging, tmp_path)
    assert second.ended == ""
    assert len(first.fake.bodies) + len(second.fake.bodies) == total


def test_a_cost_ends_a_start(tmp_path):
    budget = Budget(cost=0.001, price_in=10, price_out=10)
    assert "spent" in Asked(judging_of(JUDGED), tmp_path, budget=budget).ended


def test_a_line_that_was_being_written_when_the_power_failed_is_asked_again(tmp_path):
    judging = judging_of(JUDGED)
    first = Asked(judging, tmp_path)
    path = tmp_path / "replies.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    second = Asked(judging, tmp_path)
    assert len(second.fake.bodies) == 1
    assert second.record == first.record
    assert len(ReplyCache(path)._replies) == len(first.fake.bodies)


def test_every_registered_kind_can_be_asked():
    for kind in KINDS.values():
        assert kind.similarity in ("equal", "graded", "one-list", "clusters", "order")
