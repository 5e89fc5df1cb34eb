"""Pooled judging: made, judged, exported, evaluated and replicated by commands and pages."""

import csv
import gzip
import io
import json
import re
import zipfile

import pytest
import yaml
from scipy.stats import binomtest
from sklearn.metrics import average_precision_score
from sqlalchemy import select

from survey.core.kinds import KINDS
from survey.services import accounts
from survey.services.collections.items import items_and_topics
from survey.services.exchange.bundle import progress_sentences
from survey.services.participation import participant_list
from survey.services.studies import lifecycle
from survey.services.studies.plans import write_plan
from tests.builders import Visitor
from tests.databases import ON_SQLITE
from tests.pooled import GRADES, a_text_collection, pooling
from tests.services.exchange.changes import readdressed, unzipped
from tests.web.desk import Desk

pytestmark = ON_SQLITE
WHO = ("--asked-by", "the group", "--contact", "ada@example.org")


@pytest.fixture
def runs(tmp_path):
    return a_text_collection(tmp_path)


def test_a_pool_is_the_union_of_the_first_documents_and_nothing_else_is_stored(
    run, session, tmp_path, runs
):
    made = json.loads(run("study", "new", "lab", *pooling(tmp_path, runs), "--json"))
    first = {
        (topic, document)
        for path in runs
        for topic, _, document, rank, *_ in map(str.split, path.read_text().splitlines())
        if int(rank) <= 5
    }
    assert made["pool"].startswith(f"3 topics, 2 runs, depth 5: {len(first)} documents (")
    [report, topics] = made["files"]
    assert (report["rows"], report["taken"]) == (140, len(first))
    assert (topics["rows"], topics["taken"]) == (3, 3)
    study = lifecycle.find_study(session, "lab")
    asked = {
        (each.topic, document)
        for each in study.plan.draw_questions()
        for document in each.documents
    }
    assert asked == first
    items, _ = items_and_topics(session, study)
    assert {each.document for each in items} == {document for _, document in first}


@pytest.mark.parametrize(
    "text",
    [
        "topic,document\n301,doc-301-0\n301,doc-301-1\n",
        "301 0 doc-301-0 1\n301 0 doc-301-1 0\n",
        "301 Q0 doc-301-1 1 9 a\n301 Q0 doc-301-0 2 8 a\n301 Q0 doc-301-2 3 7 a\n",
        "301 doc-301-0\n301 doc-301-1\n",
        "topic\tdocument\n301\tdoc-301-0\n301\tdoc-301-1\n",
        '{"301": {"doc-301-0": 1, "doc-301-1": 0}}',
    ],
)
def test_a_pool_is_read_from_a_table_judgements_or_a_run(run, session, tmp_path, runs, text):
    (tmp_path / "pool.txt").write_text(text)
    options = ("--kind", "labelling", "--pool", tmp_path / "pool.txt", "--pool-depth", 2)
    run("study", "new", "lab", *options, "--topics-file", tmp_path / "queries.jsonl")
    [question] = lifecycle.find_study(session, "lab").plan.draw_questions()
    assert (question.topic, question.documents) == ("301", ("doc-301-0", "doc-301-1"))


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (("--pool-depth", "5"), "--pool-depth is about documents to judge: --kind labelling."),
        (("--kind", "labelling", "--pool-depth", "5"), "--pool-depth needs a pool: --run, or"),
        (("--kind", "labelling", "--gold", "gold.csv"), "--gold needs a pool: --run, or --pool"),
    ],
)
def test_options_of_pools_without_one_say_what_is_missing(run, tmp_path, options, fault):
    (tmp_path / "gold.csv").write_text("topic,document,relevance\n")
    words = [tmp_path / each if each == "gold.csv" else each for each in options]
    assert fault in " ".join(run("study", "new", "lab", *words, status=2).split())


def a_plan(folder, **changes):
    plan = {
        **{"kind": "labelling", "title": "Which pages match?", "purpose": "To test.", "batch": 6},
        **{"asked_by": "Ada", "contact": "ada@example.org", "consent": "I agree."},
        **{"scenario": "Judge each.", "participants": 3, "minutes": 10, "grades": GRADES},
        **changes,
    }
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(plan))
    return path


def an_open_study(run, folder, runs, **changes):
    run("study", "new", "lab", "--from", a_plan(folder, **changes), *pooling(folder, runs))
    run("study", "open", "lab", "--anyway", "tests may show nothing")


def judged_by_bots(run, folder, runs, people=3, error=0.1, **changes):
    an_open_study(run, folder, runs, **changes)
    prefer = ("--prefer", f"{folder / 'qrels.txt'}:{error}", "--seed", 3)
    run("simulate", "lab", "--participants", people, *prefer)
    run("study", "close", "lab")
    run("export", "lab", "--include-test", "--to", folder / "lab.zip")
    return zipfile.ZipFile(folder / "lab.zip")


def rows_of(bundle, name):
    return [*csv.DictReader(io.TextIOWrapper(bundle.open(name)))]


@pytest.mark.slow
def test_what_bots_judge_is_what_the_runs_are_evaluated_by(run, session, tmp_path, runs):
    bundle = judged_by_bots(run, tmp_path, runs, error=0)
    truth = dict.fromkeys(()) | {
        (topic, document): int(grade)
        for topic, _, document, grade in map(
            str.split, (tmp_path / "qrels.txt").read_text().splitlines()
        )
    }
    (tmp_path / "new.txt").write_bytes(bundle.read("qrels.txt"))
    judged = {
        (topic, document): int(grade)
        for topic, _, document, grade in map(
            str.split, (tmp_path / "new.txt").read_text().splitlines()
        )
    }
    assert judged == {pair: truth[pair] for pair in judged}
    pool = rows_of(bundle, "pool.csv")
    assert {(row["topic"], row["document"]) for row in pool} == {*judged}
    assert {row["judged"] for row in pool} == {"3"}
    ranks = {(row["topic"], row["document"]): row["best_rank"] for row in pool}
    for line in runs[0].read_text().splitlines():
        topic, _, document, rank, *_ = line.split()
        if int(rank) <= 5:
            assert int(ranks[topic, document]) <= int(rank)
    told = run(
        "evaluate",
        "--qrels",
        tmp_path / "new.txt",
        "--run",
        *runs,
        "--measures",
        "AP,P@5",
        "--json",
    )
    assert set(json.loads(told)["runs"]) == {"run-a", "run-b"}
    checked = run("replicate", tmp_path / "lab.zip", "--run", *runs)
    assert "the pooled documents of 3 topics come out of the files again" in checked
    other = tmp_path / "run-a.run"
    other.write_text(other.read_text().replace("doc-301-0 ", "doc-301-x "))
    refused = run("replicate", tmp_path / "lab.zip", "--run", *runs, status=1)
    assert "topic 301, run run-a: the plan has other first documents than the file" in refused


@pytest.mark.slow
def test_a_run_is_scored_without_what_it_alone_found(run, session, tmp_path, runs):
    judged_by_bots(run, tmp_path, runs, people=1, error=0, grades=None, relevant_from=1)
    pool = json.loads(run("analyse", "lab", "--include-test", "--json"))["pool"]
    qrels = {}
    for topic, _, document, grade in map(
        str.split, (tmp_path / "qrels.txt").read_text().splitlines()
    ):
        qrels[topic, document] = int(grade) > 0
    first = {}
    for path in runs:
        for topic, _, document, rank, *_ in map(str.split, path.read_text().splitlines()):
            if int(rank) <= 5:
                first.setdefault(path.stem, {}).setdefault(topic, []).append(document)
    for name, topics in first.items():
        other = next(documents for run_name, documents in first.items() if run_name != name)
        for key in ("mean", "without_own_finds"):
            values = []
            for topic, documents in topics.items():
                pooled = {*documents, *other[topic]}
                relevant = {each for each in pooled if qrels[topic, each]}
                if not relevant:
                    continue
                if key == "without_own_finds":
                    relevant -= {*documents} - {*other[topic]}
                hits = [each in relevant for each in documents]
                precision = average_precision_score(hits, range(5, 0, -1)) if any(hits) else 0
                values.append(precision * sum(hits) / len(relevant) if relevant else 0)
            mean = sum(values) / len(values)
            assert pool["runs"][name]["AP"][key] == pytest.approx(mean), (name, key)


def gold_file(folder, topics=("301", "302", "303")):
    rows = [
        f"{topic},doc-{topic}-{place},{grade},sure"
        for topic in topics
        for place, grade in ((0, 2), (29, 0))
    ]
    (folder / "gold.csv").write_text("\n".join(["topic,document,relevance,reason", *rows]) + "\n")
    return "gold.csv"


@pytest.mark.slow
def test_gold_documents_are_mixed_in_and_are_in_no_judgements(run, session, tmp_path, runs):
    bundle = judged_by_bots(
        *(run, tmp_path, runs), error=0.3, gold=gold_file(tmp_path), gold_share=0.4
    )
    gold = rows_of(bundle, "gold.csv")
    assert {row["topic"] for row in gold} == {"301", "302", "303"}
    assert len(gold) == 3 * 3 * 2  # of each person and topic both, two fifths of five to seven
    known = {(row["topic"], row["document"]) for row in gold}
    qrels = {tuple(line.split()[::2]) for line in bundle.read("qrels.txt").decode().splitlines()}
    assert not known & qrels
    right = sum(row["right"] == "1" for row in gold)
    assert right == sum((int(row["answer"]) >= 1) == (int(row["relevance"]) >= 1) for row in gold)
    interval = binomtest(right, len(gold)).proportion_ci(method="exact")
    low, high = (round(100 * each) for each in (interval.low, interval.high))
    sentence = f"{right} of {len(gold)} right ({low} to {high} %)"
    assert run("analyse", "lab", "--include-test").count(f"Gold documents: {sentence}.") == 1
    run("replicate", tmp_path / "lab.zip", "--run", *runs)
    places = {}
    for row in rows_of(bundle, "labels.csv"):
        places.setdefault((row["participant"], row["topic"]), []).append(row["document"])
    at = [order.index(each) for order in places.values() for _, each in known if each in order]
    assert len({*at}) > 5


@pytest.mark.slow
def test_chunks_go_to_three_of_seven_annotators_and_agreement_is_of_what_both_judged(
    run, session, tmp_path, runs
):
    bundle = judged_by_bots(
        *(run, tmp_path, runs), people=7, participants=7, chunk=5, judges=3, overlap=1
    )
    questions = {row["question"]: row for row in rows_of(bundle, "questions.csv")}
    assert all(len(row["documents"].split()) <= 5 for row in questions.values())
    judged = {}
    for row in rows_of(bundle, "labels.csv"):
        judged.setdefault((row["topic"], row["document"]), []).append(row["participant"])
    parts = {}
    for row in questions.values():
        for document in row["documents"].split():
            parts.setdefault((row["topic"], document), []).append(row["question"])
    assert {pair: len(people) for pair, people in judged.items()} == {
        pair: 3 * len(asked) for pair, asked in parts.items()
    }
    assert sum(len(asked) > 1 for asked in parts.values()) == 3  # one of each topic is in all
    assert all(len({*people}) == len(people) for people in judged.values())
    run("analyse", "lab", "--include-test", "--to", tmp_path / "out")
    labels = sorted((tmp_path / "out" / "labels").iterdir())
    run("assess", "merge", *labels, "--pooled", "--to", tmp_path / "merged")
    for name in ("weights.csv", "weights.txt", "qrels.txt", "agreement.csv"):
        merged = (tmp_path / "merged" / name).read_bytes()
        assert merged == (tmp_path / "out" / name).read_bytes() == bundle.read(name), name


@pytest.mark.slow
def test_judged_documents_are_skipped_and_some_are_asked_again(run, session, tmp_path, runs):
    lines = (tmp_path / "qrels.txt").read_text().splitlines()
    (tmp_path / "early.txt").write_text("\n".join(each for each in lines if each.startswith("301")))
    bundle = judged_by_bots(
        *(run, tmp_path, runs), people=1, error=0, judged="early.txt", ask="unjudged", rejudge=2
    )
    asked = {tuple(line.split()[::2]) for line in bundle.read("qrels.txt").decode().splitlines()}
    assert sum(topic == "301" for topic, _ in asked) == 2
    told = run("analyse", "lab", "--include-test")
    assert "Of 2 documents judged again, 2 are as before (16 to 100 %)." in told
    pool = {(row["topic"], row["document"]) for row in rows_of(bundle, "pool.csv")}
    whole = bundle.read("qrels-all.txt").decode().splitlines()
    assert {tuple(line.split()[::2]) for line in whole} == pool
    assert f"{len(pool)} of {len(pool)} pooled documents are judged" in told


def test_place_and_grades_survive_a_pause_and_a_document_can_be_left_unjudged(
    app, run, session, tmp_path, runs
):
    an_open_study(run, tmp_path, runs, cannot_judge=True)
    visitor = Visitor(app.test_client(), "lab")
    visitor.go("/q/1")
    assert "What counts as relevant" in visitor.text
    assert "Adverts do not count." in visitor.text
    tiles = visitor.page.select(".tile")
    assert len(tiles) == 6
    names = [each.text for each in tiles[0].select("label")]
    assert names == ["Not relevant", "Partly relevant", "Relevant", "I cannot judge this"]
    hidden = visitor.page.select_one("main").decode()
    assert not re.search(r"doc-30|run-a|run-b", hidden)  # neither documents nor runs
    visitor.submit("/q/1", **{"grade-1": "2", "grade-2": "0", "grade-3": "x"}, go="next")
    assert "3 results have no answer yet" in visitor.text
    visitor.submit("/q/1", **{"grade-4": "1"}, go="back")
    again = Visitor(visitor.client, "lab")
    again.open("/q/1")
    checked = [(each["name"], each["value"]) for each in again.page.select("[type=radio][checked]")]
    assert checked == [("grade-1", "2"), ("grade-2", "0"), ("grade-3", "x"), ("grade-4", "1")]
    assert "4 of " in again.page.select_one("#looked").text
    again.post("/q/1", **{"grade-5": "7"}, batch="1")
    assert again.page.select_one(".problems, .asks") or "ticked" in again.text


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"overlap": 2}, "overlap is 2; it needs chunk and judges"),
        ({"chunk": 3, "judges": 3, "overlap": 1}, "annotators needed, 3 planned"),
        ({"judges": 4}, "judges is 4; there are 3 annotators"),
        ({"judges": 2, "design": "pool", "per_participant": 1}, "judges deals the chunks out"),
        ({"grades": [{"value": 0, "name": "No"}]}, "grades has 1; 2 to 6 are allowed"),
        ({"grades": [{"value": 1, "name": "a"}, {"value": 1, "name": "b"}]}, "a value twice"),
        ({"relevant_from": 3}, "relevant_from is 3; the highest grade is 2"),
        ({"grades": [], "cannot_judge": True}, "cannot_judge is true; it needs named grades"),
        ({"ask": "judged"}, "ask is 'judged'; allowed is all, unjudged, or a list of fields"),
        ({"ask": "unjudged"}, "ask: unjudged needs the judgements"),
        ({"rejudge": 2}, "rejudge is 2; it counts with ask: unjudged only"),
        ({"gold_share": 2}, "gold_share is 2; a share from 0 to 1 is needed"),
        ({"pool": {"order": "best"}}, "order is 'best'; allowed is random, fusion, likeness"),
        ({"pool": {"order": ["best"]}}, "order is ['best']; allowed is random, fusion, likeness"),
        ({"judged": {"301": ["d1"]}}, "['d1'] found; a grade for each document is needed"),
        ({"judged": "none.txt"}, "judged: there is no file none.txt beside the plan"),
    ],
)
def test_what_cannot_be_is_named(run, tmp_path, runs, changes, fault):
    path = a_plan(tmp_path, **changes)
    result = run(
        "study",
        "new",
        "lab",
        "--from",
        path,
        *pooling(tmp_path, runs),
        status=1 + ("none.txt" in fault),
    )
    assert fault in " ".join(result.split())


def test_settings_of_pools_are_refused_without_one(run, tmp_path):
    path = a_plan(tmp_path, topics=["301"], chunk=5)
    told = " ".join(run("study", "new", "lab", "--from", path, status=1).split())
    assert "chunk is set; pooled documents are needed (--run with --pool-depth, or --pool)" in told
    assert "grades is set" in told


def test_a_plan_that_is_written_is_read_as_the_same(run, session, tmp_path, runs):
    changes = {"gold": gold_file(tmp_path), "judged": "qrels.txt", "ask": "unjudged", "rejudge": 9}
    an_open_study(run, tmp_path, runs, pool={"order": "fusion"}, **changes)
    plan = lifecycle.find_study(session, "lab").plan
    assert plan.pool.order == "fusion"
    session.rollback()
    (tmp_path / "again.yaml").write_text(write_plan(plan))
    run("study", "new", "again", "--from", tmp_path / "again.yaml")
    assert lifecycle.find_study(session, "again").plan == plan


def test_a_run_that_is_judged_later_says_how_much_of_it_is_not(run, tmp_path, runs):
    judged = (tmp_path / "qrels.txt").read_text().splitlines()
    alone = [line for line in judged if not line.split()[2].endswith(("-1", "-2"))]
    (tmp_path / "some.txt").write_text("\n".join(alone))
    files = ("--qrels", tmp_path / "some.txt", "--run", *runs, "--measures", "AP")
    unjudged = json.loads(run("evaluate", *files, "--json"))["unjudged"]
    assert unjudged["depth"] == 10
    first = {}
    for path in runs:
        lines = [line.split() for line in path.read_text().splitlines()]
        first[path.stem] = [line[2] for line in lines if int(line[3]) <= 10]
    expected = {
        name: {"documents": sum(each.endswith(("-1", "-2")) for each in documents), "of": 30}
        for name, documents in first.items()
    }
    assert unjudged["runs"] == expected
    named = ", ".join(
        f"{name} {count['documents']} of 30"
        for name, count in sorted(expected.items(), key=lambda each: -each[1]["documents"])
    )
    told = " ".join(run("evaluate", *files).split())
    assert f"Not judged, of the first 10 documents of each topic: {named}." in told


@pytest.mark.slow
def test_progress_says_how_much_of_the_pool_is_judged_and_how_gold_is_answered(
    run, session, tmp_path, runs
):
    changes = {"error": 0, "gold": gold_file(tmp_path), "gold_share": 0.4}
    judged_by_bots(run, tmp_path, runs, people=2, **changes)
    study = lifecycle.find_study(session, "lab")
    first, gold = progress_sentences(session, study)
    count = len(study.plan.pool.pairs)
    left = sum((each.topic, each.document) in study.plan.pool.pairs for each in study.plan.gold)
    assert first == (
        f"Of test data, in queries that are done: {count - left} of {count} pooled documents are "
        f"judged: {count - left} by 2 annotators."
    )
    assert gold == "Gold documents: 12 of 12 right (74 to 100 %)."
    people = participant_list.list_participants(session, study).test.shown
    assert [person.attention for person in people] == ["6 of 6 attention checks right"] * 2


@pytest.mark.slow
def test_fifty_topics_of_eight_runs_are_judged_by_seven_to_an_evaluated_table(
    run, session, tmp_path
):
    runs = a_text_collection(tmp_path, topics=50, runs=8, documents=120, returned=40)
    grades = {"chunk": 50, "judges": 3, "participants": 7, "batch": 50, "cannot_judge": True}
    plan = a_plan(tmp_path, **grades)
    made = run("study", "new", "lab", "--from", plan, *pooling(tmp_path, runs, 20))
    sentence = re.search(r"50 topics, 8 runs, depth 20: ([\d,]+) documents .*one run alone\.", made)
    count = int(sentence[1].replace(",", ""))
    run("study", "open", "lab")
    prefer = ("--prefer", f"{tmp_path / 'qrels.txt'}:0.1", "--seed", 3)
    run("simulate", "lab", "--participants", 7, *prefer)
    run("study", "close", "lab")
    run("export", "lab", "--include-test", "--to", tmp_path / "lab.zip")
    bundle = zipfile.ZipFile(tmp_path / "lab.zip")
    assert {row["judged"] for row in rows_of(bundle, "pool.csv")} == {"3"}
    (tmp_path / "new.txt").write_bytes(bundle.read("qrels.txt"))
    assert len((tmp_path / "new.txt").read_text().splitlines()) == count
    table = json.loads(
        run(
            "evaluate",
            "--qrels",
            tmp_path / "new.txt",
            "--run",
            *runs,
            "--measures",
            "nDCG@10",
            "--json",
        )
    )
    assert len(table["queries"]) == 50
    assert {each["documents"] for each in table["unjudged"]["runs"].values()} == {0}
    means = {name: each["mean"]["nDCG@10"] for name, each in table["runs"].items()}
    assert sorted(means, key=means.get, reverse=True)[:3] == ["run-a", "run-b", "run-c"]
    run("replicate", tmp_path / "lab.zip", "--run", *runs)


def test_the_settings_of_a_pool_are_changed_in_the_browser_and_the_pool_stays(
    app, run, session, tmp_path, runs
):
    run("study", "new", "lab", "--from", a_plan(tmp_path), *pooling(tmp_path, runs))
    desk = Desk(app, session)
    study = lifecycle.find_study(session, "lab")
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    before = study.plan
    desk.open("/research/studies/lab/plan")
    checked = desk.page.select_one("[name=pool_order][checked]")
    assert (checked["value"], desk.page.select_one("#gold_share")["value"]) == ("random", "0.05")
    changes = {"pool_order": "fusion", "chunk": "4", "judges": "2", "gold_share": ".1"}
    desk.send(desk.address, **changes, grades="- {value: 0, name: No}\n- {value: 3, name: Yes}")
    plan = lifecycle.find_study(session, "lab").plan
    assert (plan.pool.order, plan.pool.runs) == ("fusion", before.pool.runs)
    assert (plan.chunk, plan.judges, plan.gold_share) == (4, 2, 0.1)
    assert [(each.value, each.name) for each in plan.grades] == [(0, "No"), (3, "Yes")]
    assert plan.questions > before.questions
    desk.open("/research/studies/lab/plan")
    desk.send(desk.address, chunk="4", judges="9")
    assert "Annotators of each chunk is 9; there are 3 annotators" in desk.text
    desk.open("/research/studies/lab/preview/1/question/1")
    assert [each.text for each in desk.page.select(".tile")[0].select("label")] == ["No", "Yes"]


@pytest.mark.slow
def test_a_bundle_of_a_pool_is_imported_with_its_steps(run, session, tmp_path, runs):
    bundle = judged_by_bots(run, tmp_path, runs, people=2, cannot_judge=True)
    accounts.add_researcher(session, "Ada")
    session.commit()
    run("import", tmp_path / "lab.zip", "--as", "again", "--owner", "Ada")
    run("export", "again", "--include-test", "--to", tmp_path / "again.zip")
    first = {name: bundle.read(name) for name in bundle.namelist()}
    again = readdressed(unzipped((tmp_path / "again.zip").read_bytes()), first)
    for name in ("questions.csv", "steps.csv", "labels.csv", "pool.csv", "qrels.txt"):
        assert again[name] == first[name], name


def test_by_likeness_each_document_is_shown_once_also_after_refining_and_without_an_item(
    app, run, session, tmp_path, runs
):
    lines = gzip.decompress((tmp_path / "corpus.jsonl.gz").read_bytes()).decode().splitlines()
    kept = "\n".join(line for line in lines if '"doc-301-0"' not in line)
    (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress(kept.encode()))
    changes = {"grades": None, "pool": {"order": "likeness"}, "topics": ["301"]}
    an_open_study(run, tmp_path, runs, **changes)
    visitor = Visitor(app.test_client(), "lab")
    visitor.go("/q/1")
    visitor.submit("/q/1", **{"document": ["1", "2"], "grade": "1"}, go="refine")
    visitor.submit("/q/1", **{"document": ["1"], "grade": "1"}, go="done")
    session.rollback()
    tables = KINDS["labelling"].tables
    batches = session.scalars(
        select(tables.step.c.documents).where(tables.step.c.action.in_(("next", "refine")))
    )
    shown = [document for batch in batches for document in batch]
    [question] = lifecycle.find_study(session, "lab").plan.draw_questions()
    assert sorted(shown) == [*question.documents]
