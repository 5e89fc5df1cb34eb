"""A sample that people judge of a pool that a machine judges: from the plan to the estimates."""

import json
import zipfile

import numpy as np
import pytest

from survey.kinds.preference.estimates import PreferenceEstimates
from survey.kinds.preference.plan import sign_of
from survey.services.studies import lifecycle
from survey.services.studies.plans import write_plan
from tests.databases import ON_SQLITE
from tests.pooled import a_text_collection, pooling

pytestmark = ON_SQLITE
WHO = ("--asked-by", "the group", "--contact", "ada@example.org")


def plan_of(session, slug="lab"):
    session.rollback()
    return lifecycle.find_study(session, slug).plan


def grades_in(folder):
    lines = (line.split() for line in (folder / "qrels.txt").read_text().splitlines())
    return {(topic, document): int(grade) for topic, _, document, grade in lines}


def estimates_in(bundle):
    with zipfile.ZipFile(bundle) as files:
        [name] = [each for each in files.namelist() if each.endswith("beside_people.json")]
        return json.loads(files.read(name))["estimates"]


def judged(run, folder, *options, error="0.1", people=1, depth=15, topics=20, seed=5):
    """Make a study of a sample, judged by people without an error and by a machine with some."""
    runs = a_text_collection(folder, topics=topics, runs=2, seed=3)
    files = pooling(folder, runs, depth)
    run("study", "new", "lab", *files, *options, *WHO, "--seed", seed, "--minutes", 60)
    run("study", "open", "lab", "--anyway", "a test")
    truth = folder / "qrels.txt"
    run("simulate", "lab", "--participants", people, "--prefer", f"{truth}:0")
    run("study", "close", "lab")
    run("judge", "lab", "--simulate", f"{truth}:{error}", "--include-test", "--json")
    run("export", "lab", "--to", folder / "lab.zip", "--include-test")
    return estimates_in(folder / "lab.zip")


def test_a_sample_of_documents_estimates_how_many_of_the_pool_are_relevant(run, session, tmp_path):
    estimates = judged(run, tmp_path, "--sample-documents", 150)
    plan = plan_of(session)
    grades = grades_in(tmp_path)
    relevant = sum(grades[pair] > 0 for pair in plan.population)
    [figure] = estimates["figures"]
    assert estimates["sample"] == {
        "unit": "documents",
        "drawn": 150,
        "answered": 150,
        "pool": len(plan.population),
    }
    assert (figure["human"], figure["machine"]) == (150, len(plan.population))
    both, alone = figure["with_machine"], figure["people_alone"]
    assert both["count_ci95"][0] <= relevant <= both["count_ci95"][1]
    assert alone["count_ci95"][0] <= relevant <= alone["count_ci95"][1]
    assert both["ci95"][1] - both["ci95"][0] < 0.8 * (alone["ci95"][1] - alone["ci95"][0])
    assert figure["sentence"].startswith("With 150 human and ")
    assert "simple random sample" in estimates["assumptions"][0]
    replicated = run("replicate", tmp_path / "lab.zip")
    assert "answers of simulated machine: parsed again from the replies" in replicated


def test_a_sample_of_topics_estimates_the_means_of_runs(run, session, tmp_path):
    estimates = judged(run, tmp_path, "--sample-topics", 20, depth=5, topics=45, seed=6)
    plan = plan_of(session)
    asked = [each.topic for each in plan.draw_questions()]
    assert len(asked) == len({*asked}) == 20
    cut = [tmp_path / f"{run}.cut" for run in plan.pool.runs]
    for path in cut:  # what the pool holds of each run
        ranks = plan.pool.runs[path.stem].items()
        path.write_text(
            "".join(
                f"{topic} Q0 {document} {rank} {-rank} {path.stem}\n"
                for topic, documents in ranks
                for rank, document in enumerate(documents, 1)
            )
        )
    pooled = {pair: grade for pair, grade in grades_in(tmp_path).items() if pair in plan.population}
    truth = "".join(f"{t} 0 {d} {min(grade, 1)}\n" for (t, d), grade in pooled.items())
    (tmp_path / "pooled.txt").write_text(truth)
    files = ("--qrels", tmp_path / "pooled.txt", "--run", *(f"{path.stem}={path}" for path in cut))
    means = json.loads(run("evaluate", *files, "--measures", "AP,nDCG@10", "--per-query", "--json"))
    figures = {each["name"]: each for each in estimates["figures"]}
    for name in ("AP run-a", "AP run-b", "nDCG@10 run-a", "nDCG@10 run-b"):
        measure, run_name = name.split()
        of_topics = means["runs"][run_name]["per_query"]
        drawn = [of_topics[topic][measure] for topic in asked]
        assert figures[name]["people_alone"]["estimate"] == pytest.approx(np.mean(drawn))
        low, high = figures[name]["with_machine"]["ci95"]
        assert low <= means["runs"][run_name]["mean"][measure] <= high
    first, second = (figures[f"AP {name}"] for name in plan.pool.runs)
    less = figures["AP run-a-run-b"]
    alone = [each["people_alone"]["estimate"] for each in (first, second, less)]
    assert alone[0] - alone[1] == pytest.approx(alone[2])
    assert less["n"] == 20
    assert figures["relevant"]["M"] == 45
    saved = run("power", "--from-bundle", tmp_path / "lab.zip", "--judged", "20,30")
    assert "With 30 judged by people and 45 by a machine" in saved


def preferred(run, folder, *options, participants=6):
    runs = a_text_collection(folder, topics=70, runs=2, seed=3)
    files = ("--qrels", folder / "qrels.txt", "--run", *runs)
    settings = ("--measures", "AP,P@10", "--questions", 66, "--seed", 7, "--minutes", 30)
    made = run("study", "new", "lab", "--kind", "preference", *files, *settings, *WHO, *options)
    checked = run("study", "check", "lab")
    run("study", "open", "lab", "--anyway", "a test")
    run("simulate", "lab", "--participants", participants, "--prefer", "AP:0.05")
    run("study", "close", "lab")
    run("judge", "lab", "--simulate", "AP:0.1", "--include-test", "--json")
    run("export", "lab", "--to", folder / "lab.zip", "--include-test")
    return made, checked


def test_a_sample_of_pairs_estimates_how_often_preferences_agree_with_measures(
    run, session, tmp_path
):
    _, checked = preferred(run, tmp_path, "--sample-questions", 30)
    plan = plan_of(session)
    assert "people judge 30 of 66 questions, drawn at random; a machine judges all" in " ".join(
        checked.split()
    )
    with zipfile.ZipFile(tmp_path / "lab.zip") as files:
        rows = files.read("preferences.csv").decode().splitlines()[1:]
    assert {int(row.split(",")[2]) for row in rows} == {*plan.sampled}
    assert len(plan.sampled) == 30
    estimates = estimates_in(tmp_path / "lab.zip")
    assert estimates["sample"] == {"unit": "questions", "drawn": 30, "answered": 30, "pool": 66}
    figures = {each["name"]: each for each in estimates["figures"]}
    assert {*figures} == {"AP", "P@10", "AP-P@10"}
    for figure in figures.values():
        assert (figure["human"], figure["machine"], figure["missing"]) == (180, 66, [])
    # The bots follow AP, with a little noise.
    assert figures["AP"]["with_machine"]["estimate"] > 0.85
    run("replicate", tmp_path / "lab.zip")
    analysed = json.loads(run("analyse", "lab", "--include-test", "--json"))
    assert analysed["n"]["questions"] == 30
    shares_hold_the_truth(plan)


def shares_hold_the_truth(plan):
    """Let six people with leanings of their own answer all pairs, of which a sample is counted."""
    questions, chance = plan.draw_questions(), np.random.default_rng(4)
    numbers = [each.number for each in questions]
    leanings = dict(zip(numbers, chance.beta(2, 2, len(numbers)), strict=True))

    def answers():
        return {each: "A" if chance.random() < leanings[each] else "B" for each in numbers}

    people = {f"P{who}": answers() for who in range(6)}
    signs = {each.number: sign_of(each, "AP") for each in questions}
    agree = [
        signs[number] == {"A": 1, "B": -1}[letter]
        for own in people.values()
        for number, letter in own.items()
        if signs[number]
    ]
    machine = {each: "A" if leaning > 0.5 else "B" for each, leaning in leanings.items()}
    sampled = {who: {each: own[each] for each in plan.sampled} for who, own in people.items()}
    made = PreferenceEstimates(plan, questions, sampled, frozenset(numbers), machine).estimates()
    figure = made.made[0].as_json()
    for side in ("with_machine", "people_alone"):
        low, high = figure[side]["ci95"]
        assert low <= np.mean(agree) <= high
    assert figure["correlation"] > 0.3


def test_a_plan_file_names_the_pool_that_is_sampled(run, session, tmp_path):
    a_text_collection(tmp_path)
    lines = ["topic,document", *(f"301,doc-301-{place}" for place in range(20))]
    (tmp_path / "pool.csv").write_text("\n".join(lines))
    (tmp_path / "plan.yaml").write_text(
        "kind: labelling\ntitle: Pages\npurpose: To learn.\nconsent: I agree.\n"
        "scenario: There are pages.\nsample: {pool: pool.csv, documents: 8}\n"
    )
    files = ("--items", tmp_path / "corpus.jsonl.gz", "--topics-file", tmp_path / "queries.jsonl")
    run("study", "new", "lab", "--from", tmp_path / "plan.yaml", *files, *WHO)
    plan = plan_of(session)
    assert (plan.sample, len(plan.sampled), len(plan.population)) == ({"documents": 8}, 8, 20)
    assert "people judge 8 of 20 documents, drawn at random" in run("study", "check", "lab")
    assert (
        json.loads(run("study", "items", "lab", tmp_path / "corpus.jsonl.gz", "--json"))["items"]
        == 20
    )
    (tmp_path / "again.yaml").write_text(write_plan(plan))
    run("study", "new", "again", "--from", tmp_path / "again.yaml")
    assert plan_of(session, "again") == plan
    both = ("--sample-documents", 5, "--sample-topics", 2)
    refused = run("study", "new", "two", "--from", tmp_path / "plan.yaml", *both, status=2)
    assert "--sample-documents and --sample-topics both say" in " ".join(refused.split())


def test_a_machines_file_is_read_for_topics_that_people_are_not_asked(run, session, tmp_path):
    runs = a_text_collection(tmp_path, topics=4)
    files = pooling(tmp_path, runs)
    run("study", "new", "lab", *files, "--sample-topics", 2, *WHO, "--seed", 5)
    run("study", "open", "lab", "--anyway", "a test")
    grades = "".join(
        f"{topic} 0 {document} {min(grade, 1)}\n"
        for (topic, document), grade in grades_in(tmp_path).items()
    )
    (tmp_path / "machine.txt").write_text(grades)
    run("judge", "lab", "--file", tmp_path / "machine.txt", "--model", "X")
    run("export", "lab", "--to", tmp_path / "lab.zip")
    with zipfile.ZipFile(tmp_path / "lab.zip") as bundle:
        [name] = [each for each in bundle.namelist() if each.endswith("/answers.csv")]
        topics = {row.split(",")[1] for row in bundle.read(name).decode().splitlines()[1:]}
    assert topics == {"301", "302", "303", "304"}
    run("replicate", tmp_path / "lab.zip")
