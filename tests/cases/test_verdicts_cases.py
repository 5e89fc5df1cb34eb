"""The figures of whole studies that were computed apart from this code (verdicts.json)."""

import csv
import json
import math
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from survey.cli import survey
from survey.core.studies.rankings import letters_for

CASES = json.loads((Path(__file__).parent / "verdicts.json").read_text())
VOTES = (
    *("participant", "question", "position", "label_order", "column_order", "list_order"),
    *("clicked", "custom_ranking"),
)


def write_csv(path, head, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)


def write_votes(case, folder):
    """Write questions and answers of a study made elsewhere."""
    questions = [
        [number, letter, " ".join(map(str, ranks)), case["collection_size"]]
        for number, lists in enumerate(case["lists"], 1)
        for letter, ranks in zip(letters_for(len(lists)), lists, strict=True)
    ]
    write_csv(folder / "questions.csv", ["question", "list", "ranks", "collection_size"], questions)
    names, rows = case["measures"], []
    for turn, (person, question, ticked) in enumerate(case["answers"]):
        start = turn % len(names)
        behind = names[start:] + names[:start]  # labels turn, so that a wrong mapping shows
        labels = " ".join(str(behind.index(name) + 1) for name in ticked or [])
        own = "" if ticked else case["own_order"]
        rows.append([f"P{person:02}", question, "", " ".join(behind), "", "", labels, own])
    write_csv(folder / "responses.csv", VOTES, rows)


def write_base(case, folder):
    """Write the bundle that a case changes; return it and its participants' ids."""
    base = CASES["bases"][case["base"]]
    for name, text in base["files"].items():
        (folder / name).write_text(text)
    answered = Counter(person for person, *_ in case["answers"])
    people = [*csv.DictReader(base["files"]["participants.csv"].splitlines())]
    for number, row in enumerate(people):
        row |= {"is_test": "0", "status": "complete"}
        if answered[number] != base["asked"]:
            row |= {"status": "started", "completed_at": "", "minutes": ""}
    some = people[: max(answered) + 1]
    write_csv(folder / "participants.csv", people[0], [row.values() for row in some])
    return base, [row["participant"] for row in people]


def write_answers(base, folder, name, answers):
    """Write the table of a bundle with these answers, else as its first row is."""
    first = next(csv.DictReader(base["files"][name].splitlines()))
    write_csv(folder / name, first, [(first | answer).values() for answer in answers])


def write_own_orderings(case, folder):
    base, ids = write_base(case, folder)
    head = base["files"]["responses.csv"].splitlines()[0].split(",")
    answers = [
        {
            "participant": ids[person],
            "question": question,
            "position": question,
            "custom_ranking": order,
            "is_test": "0",
        }
        for person, question, order in case["answers"]
    ]
    assert set(answers[0]) <= set(head)
    write_answers(base, folder, "responses.csv", answers)


def write_preferences(case, folder):
    base, ids = write_base(case, folder)
    answers = []
    for person, question, sign in case["answers"]:
        runs = base["runs"][str(question)]
        left, right = runs if (person + question) % 2 == 0 else runs[::-1]
        preferred = {1: runs[0], -1: runs[1]}.get(sign)
        answers.append(
            {
                "participant": ids[person],
                "question": question,
                "topic": base["topic"][str(question)],
                "left": left,
                "right": right,
                "preferred": {left: "left", right: "right"}.get(preferred, "equal"),
                "position": question,
            }
        )
    write_answers(base, folder, "preferences.csv", answers)


def write_labels(case, folder):
    for name, labels in case["labels"].items():
        lines = [f"{topic} 0 {document} {grade}\n" for topic, document, grade in labels]
        (folder / f"{name}.txt").write_text("".join(lines))


WRITERS = {
    "votes": write_votes,
    "own": write_own_orderings,
    "preference": write_preferences,
    "labels": write_labels,
}


def analysed(case, folder):
    """Write a case as files and return what the command prints of them."""
    WRITERS[case["kind"]](case, folder)
    command = ["analyse", str(folder)]
    if case["kind"] == "labels":
        files = [str(folder / f"{name}.txt") for name in case["labels"]]
        command = ["assess", "merge", *files, "--to", str(folder / "merged")]
    done = CliRunner().invoke(survey, [*command, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def value_at(content, path):
    """Return the value at a path; a step {...} picks the entry with these values."""
    for step in path:
        if isinstance(step, dict):
            [content] = [each for each in content if step.items() <= each.items()]
        else:
            content = content[step]
    return content


def agrees(value, expected, tolerance):
    if isinstance(expected, list):
        return (
            isinstance(value, list)
            and len(value) == len(expected)
            and all(agrees(*both, tolerance) for both in zip(value, expected, strict=True))
        )
    if expected is None or isinstance(expected, str | bool):
        return value == expected
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isclose(value, expected, rel_tol=tolerance, abs_tol=tolerance)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES["cases"]])
def test_the_figures_are_those_computed_apart(case, tmp_path):
    content = analysed(case, tmp_path)
    values = [(path, value_at(content, path), *rest) for path, *rest in case["expect"]]
    assert [each for each in values if not agrees(*each[1:])] == []


def test_a_figure_that_differs_is_noticed():
    assert agrees(0.12345, 0.12346, 1e-3)
    assert not agrees(0.12345, 0.12346, 1e-6)
    assert not agrees([0.1], [0.1, 0.2], 1e-6)
    assert not agrees(None, 0.1, 1e-6)
    assert not agrees("kind", "these", 1e-6)
    assert sum(len(case["expect"]) for case in CASES["cases"]) == 368
