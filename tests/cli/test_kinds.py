"""Studies of each kind from options alone; their judgements in the bundle as commands read them."""

import csv
import gzip
import io
import json
import zipfile

import numpy as np
import pytest
import yaml
from sqlalchemy import select

from survey.db.item_queries import items_of
from survey.db.models import Participant
from survey.db.models.items import StoredVector
from survey.services import accounts
from survey.services.collections import items
from survey.services.exchange import bundle
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import BundleError, open_files
from survey.services.studies import lifecycle
from tests.databases import ON_SQLITE
from tests.grouped import FIRST_TOPIC, SECOND_TOPIC, a_grouping_study, grouped
from tests.labelled import PLAN as LABELLING
from tests.labelled import a_shaded_picture, labelled
from tests.preferred import PLAN as PREFERENCE
from tests.preferred import a_preference_study, a_qrels, a_run, preferred
from tests.tasks import words
from tests.tasks.test_words import PLAN as WORDS
from tests.web.desk import Desk

pytestmark = ON_SQLITE


@pytest.fixture
def collection(tmp_path):
    folder = tmp_path / "collection"
    folder.mkdir()
    for document in FIRST_TOPIC:
        (folder / f"{document}.png").write_bytes(a_shaded_picture(document.split("-")[0], document))
    (folder / "topics.csv").write_text("topic,text,image\nwarm,Warm colours,\nred,,red-0\n")
    topics = {"5": FIRST_TOPIC, "7": SECOND_TOPIC}
    lines = [f"{topic} 0 {each} 1\n" for topic, some in topics.items() for each in some]
    (tmp_path / "qrels.txt").write_text("".join([*lines, "8 0 red-0 1\n", "5 0 red-9 0\n"]))
    (tmp_path / "keywords.txt").write_text("sea\n\nold  town \n")
    return folder


def test_labels_are_asked_for_the_topics_of_the_items_or_for_keywords(session, run, collection):
    words = collection.parent / "keywords.txt"
    (collection / "items.csv").write_text(
        "document,file,keywords\n"
        + "".join(f"{each},{each}.png,{each.split('-')[0]}\n" for each in FIRST_TOPIC)
    )
    new = ("study", "new", "--kind", "labelling", "--items", collection)
    run(*new, "both", "--keywords", words, "--topics-file", collection / "topics.csv")
    assert lifecycle.find_study(session, "both").plan.topics == ("warm", "red", "sea", "old-town")
    session.rollback()
    run(*new, "topics")
    assert lifecycle.find_study(session, "topics").plan.topics == ("warm", "red")
    session.rollback()
    run(*new, "some", "--keywords", words)
    study = lifecycle.find_study(session, "some")
    plan = study.plan
    assert (plan.kind, plan.topics) == ("labelling", ("sea", "old-town"))
    stored = {each.document: each.keywords for each in items_of(session, study.id)}
    assert stored["red-0"] == "red"
    session.rollback()
    assert plan.question_text == ""  # each query has a sentence of its own
    run("study", "open", "some", "--asked-by", "Ada", "--contact", "ada@example.org")


def test_long_texts_of_a_labelling_study_are_cut_and_gzip_needs_no_ending(session, run, tmp_path):
    (tmp_path / "topics.csv").write_text("topic,text\na,Words\n")
    packed = tmp_path / "corpus"
    packed.write_bytes(gzip.compress(f"document,title\nd1,{'t' * 501}\n".encode()))
    new = ("study", "new", "long", "--kind", "labelling", "--items", packed)
    new += ("--topics-file", tmp_path / "topics.csv")
    assert "501 characters are too many; 500 are allowed" in run(*new, status=1)
    assert "1 text was cut" in run(*new, "--cut-texts", status=0)


def test_groups_are_asked_for_what_is_relevant(session, run, collection):
    qrels = collection.parent / "qrels.txt"
    options = ("--kind", "grouping", "--items", collection, "--qrels", qrels)
    told = run("study", "new", "some", *options, status=1)
    assert "Warning: 2 of 2 topics have no text or picture (first: “5”)." in told
    plan = lifecycle.find_study(session, "some").plan
    assert plan.topics == (("5", tuple(sorted(FIRST_TOPIC))), ("7", tuple(sorted(SECOND_TOPIC))))
    session.rollback()
    run("study", "new", "seven", *options, "--topics", "7", status=1)
    assert len(lifecycle.find_study(session, "seven").plan.topics) == 1


def test_a_simulation_of_groups_says_who_answers_which_topics(run, session):
    a_grouping_study(session)
    session.rollback()
    simulated = ("simulate", "grouped", "--participants", 2)
    assert (
        "2 simulated participants took part. Each first assessor answers 2 questions; a third "
        "assessor, only what the first two did not agree on."
    ) in " ".join(run(*simulated).split())


@pytest.fixture
def runs(tmp_path):
    """Judgements and two runs, of which people say which is better."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for file in (a_qrels(), a_run("alpha"), a_run("beta")):
        (folder / file.name).write_text(file.text)
    return folder


def test_preferences_are_asked_for_all_pairs_of_runs(session, run, runs, collection):
    options = (
        *("--kind", "preference", "--qrels", runs / "qrels.txt"),
        *("--run", runs / "alpha.txt", runs / "beta.txt", "--collection-size", 12),
    )
    told = run("study", "new", "some", *options, "--items", collection, status=1)
    assert "Warning: 2 of 2 topics are in no question (first: “red”)." in told
    plan = lifecycle.find_study(session, "some").plan
    assert (plan.kind, plan.questions, plan.selection) == ("preference", 5, "all")
    assert (plan.show_items, plan.show_positions, plan.ask_strength) == (True, False, False)
    session.rollback()
    run(
        "study",
        "new",
        "few",
        *options,
        "--contrast",
        "AP,RR",
        "--ask",
        "strength",
        "--questions",
        2,
    )
    plan = lifecycle.find_study(session, "few").plan
    assert (plan.questions, plan.contrast, plan.measures) == (2, ("AP", "RR"), ("AP", "RR"))
    assert (plan.show_positions, plan.ask_strength) == (True, True)
    assert "contradict each other on 2 of 2 pairs" in run("study", "check", "few")


def test_a_plan_file_of_preference_takes_its_lists_from_runs(session, run, runs):
    plan = {**PREFERENCE, "reason_question": "Why?", "mark_relevant": True, "questions": 3}
    file = runs / "plan.yaml"
    file.write_text(yaml.safe_dump(plan))
    options = (
        *("--from", file, "--qrels", runs / "qrels.txt", "--collection-size", 12),
        *("--run", runs / "alpha.txt", runs / "beta.txt"),
    )
    run("study", "new", "some", *options)
    made = lifecycle.find_study(session, "some").plan
    assert (made.questions, made.reason_question, made.mark_relevant) == (3, "Why?", True)
    session.rollback()
    run("study", "new", "more", *options, "--questions", 5)
    assert lifecycle.find_study(session, "more").plan.questions == 5
    session.rollback()
    # The plan that is printed makes the same study.
    file.write_text(run("study", "plan", "some"))
    run("study", "new", "same", "--from", file)
    assert lifecycle.find_study(session, "same").plan == made


def test_vectors_may_be_anywhere_and_have_any_name(run, session, collection):
    lines = ["document,a,b", *(f"{each},1,{place}" for place, each in enumerate(FIRST_TOPIC))]
    vectors = collection.parent / "mine.csv"
    vectors.write_text("\n".join(lines))
    # Not those of another file beside the items.
    (collection / "features.csv").write_text("document,a\nnobody,1\n")
    options = ("--kind", "labelling", "--items", collection, "--features", vectors)
    run("study", "new", "some", *options)
    assert len(session.scalars(select(StoredVector)).all()) == len(FIRST_TOPIC)
    session.rollback()
    np.save(collection.parent / "mine.npy", np.eye(len(FIRST_TOPIC)))
    rows = collection.parent / "mine.npy"
    told = run("study", "items", "some", "--features", rows, status=1)
    assert "There is no mine.txt" in told
    rows.with_suffix(".txt").write_text("\n".join(FIRST_TOPIC))
    run("study", "items", "some", "--features", rows)
    assert ".csv, .jsonl or .npy" in run(
        "study", "items", "some", "--features", collection.parent / "qrels.txt", status=1
    )


@pytest.mark.parametrize(
    ("option", "name", "text"),
    [
        ("--features", "vectors.txt", "red-0,1\n"),
        ("--items", "items.csv", "document,words\nred-0,Something red\n"),
        ("--topics-file", "topics.csv", "query,words\n1,Something red\n"),
    ],
)
def test_a_faulty_file_leaves_no_draft(run, session, collection, option, name, text):
    faulty = collection.parent / name
    faulty.write_text(text)
    options = () if option == "--items" else ("--items", collection)
    output = run("study", "new", "some", *options, option, faulty, status=1)
    assert name in output or ".csv, .jsonl or .npy" in output
    assert lifecycle.all_studies(session) == []
    session.rollback()
    run("study", "new", "some", "--items", collection)  # the address is free


def test_an_interrupted_study_leaves_no_draft(run, session, collection, monkeypatch):
    def interrupted(*arguments, **options):
        take_in(*arguments, **options)
        raise KeyboardInterrupt

    take_in = items.take_in
    monkeypatch.setattr(items, "take_in", interrupted)
    run("study", "new", "some", "--items", collection, status=1)
    assert lifecycle.all_studies(session) == []


@pytest.mark.parametrize(
    ("options", "fault", "status"),
    [
        (("--kind", "grouping"), "topics is empty", 1),
        (("--kind", "labelling"), "topics is empty", 1),
        (("--kind", "preference"), "own_lists is empty", 1),
        (("--kind", "grouping", "--preset", "mnro"), "--preset mnro is of the kind ordering", 2),
        (("--kind", "labelling", "--keywords", "twice.txt"), "line 2: 'sea' found", 1),
        (("--kind", "labelling", "--keywords", "tag.txt"), "line 1: '#sea' found; an id beg", 1),
        (("--kind", "grouping", "--qrels", "qrels.txt", "--topics", "9"), "no relevant", 1),
    ],
)
def test_what_a_kind_lacks_is_named(run, collection, options, fault, status):
    (collection.parent / "twice.txt").write_text("sea\nsea\n")
    (collection.parent / "tag.txt").write_text("#sea\n")
    paths = [collection.parent / each if each.endswith(".txt") else each for each in options]
    assert fault in run("study", "new", "some", *paths, status=status)


@pytest.mark.parametrize(
    "text", ["kind: preference\r\n", 'kind: "preference"\n', "kind: preference  # of two\n"]
)
def test_the_kind_of_a_plan_file_is_read_as_its_fields_are(session, run, runs, text):
    plan = {name: value for name, value in PREFERENCE.items() if name != "kind"}
    rest = yaml.safe_dump({**plan, "questions": 3})
    (runs / "plan.yaml").write_bytes((text + rest).encode())
    options = ("--qrels", runs / "qrels.txt", "--collection-size", 12)
    files = ("--run", runs / "alpha.txt", runs / "beta.txt")
    run("study", "new", "some", "--from", runs / "plan.yaml", *options, *files)
    assert lifecycle.find_study(session, "some").plan.kind == "preference"


def test_a_file_of_an_unknown_kind_is_refused_with_the_kinds_that_there_are(run, tmp_path):
    (tmp_path / "plan.yaml").write_text("kind: stars\n")
    told = run("study", "new", "some", "--from", tmp_path / "plan.yaml", status=1)
    assert "kind is 'stars'; allowed is ordering, labelling," in " ".join(told.split())


def test_topics_override_those_of_a_plan_file(session, run, collection):
    file = collection.parent / "plan.yaml"
    file.write_text(yaml.safe_dump({**LABELLING, "topics": ["warm", "red"]}))
    new = ("study", "new", "some", "--from", file, "--items", collection)
    told = run(*new, "--topics", "red", "--graded", status=2)
    assert "--graded needs --qrels and --run as well." in told
    run(*new, "--topics", "red")
    assert lifecycle.find_study(session, "some").plan.topics == ("red",)


@pytest.mark.parametrize("option", ["--questions", "--lists", "--relevant", "--generator"])
def test_what_the_lists_of_a_plan_file_decide_is_no_option(run, tmp_path, option):
    run("init")
    lists = [[[1, 2], [2, 3]], [[3, 4], [4, 5]]]
    (tmp_path / "plan.yaml").write_text(f"preset: mnro\nown_lists: {lists}\n")
    value = "discriminative" if option == "--generator" else 2
    new = ("study", "new", "some", "--from", tmp_path / "plan.yaml")
    told = run(*new, option, value, status=2)
    assert f"{option} cannot be combined with your own lists, which decide it." in told
    run(*new)


def test_a_kind_of_another_package_is_made_from_a_file(run, monkeypatch, tmp_path):
    words.register(monkeypatch)
    run("init")
    file = tmp_path / "plan.yaml"
    file.write_text(yaml.safe_dump(WORDS))
    told = run("study", "new", "some", "--kind", "stars", "--from", file, status=2)
    assert "'stars' is not one of 'ordering', 'labelling', 'grouping', 'preference'" in told
    told = run("study", "new", "some", "--kind", "words", status=2)
    assert "There are no general texts of the kind words; add --from." in told
    run("study", "new", "some", "--kind", "words", "--from", file)
    assert json.loads(run("study", "plan", "some", "--json"))["kind"] == "words"


def unzipped(session, study, folder):
    content = b"".join(bundle.stream_bundle(session, study))
    session.rollback()
    zipfile.ZipFile(io.BytesIO(content)).extractall(folder)
    return content


def test_a_bundle_of_labels_has_what_the_command_makes_of_its_judgements(
    app, session, run, tmp_path
):
    unzipped(session, labelled(app, session), tmp_path / "it")
    files = sorted((tmp_path / "it/judgements").iterdir())
    assert [each.name[:2] for each in files] == ["P-"] * 3
    run("assess", "merge", *files, "--to", tmp_path / "merged")
    for name in ("weights.txt", "qrels.txt"):
        assert (tmp_path / "it" / name).read_bytes() == (tmp_path / "merged" / name).read_bytes()
    labels = [*csv.DictReader((tmp_path / "it/labels.csv").read_text().splitlines())]
    assert {*labels[0]} == {
        *("study", "participant", "question", "topic", "document", "grade", "batch", "round"),
        *("marked_at", "revisions", "exposure", "is_test", "excluded", "flagged", "arm"),
    }
    lines = {
        f"{each['topic']} 0 {each['document']} {each['grade']}"
        for each in labels
        if each["participant"] == files[0].stem and each["grade"]
    }
    assert lines == {*files[0].read_text().splitlines()}
    marked = [each for each in labels if each["grade"] not in ("0", "")]
    assert all(each["marked_at"] for each in marked)
    assert {each["exposure"] for each in marked} == {"seen"}
    assert {each["round"] for each in labels} == {"0", "1"}


@pytest.mark.slow
def test_a_bundle_of_groups_has_what_the_command_makes_of_its_judgements(
    app, session, run, tmp_path
):
    content = unzipped(session, grouped(app, session), tmp_path / "it")
    people = csv.DictReader((tmp_path / "it/participants.csv").read_text().splitlines())
    order = sorted(people, key=lambda each: (each["started_at"], each["participant"]))
    arms = [(each["arm"], tmp_path / f"it/judgements/{each['participant']}.txt") for each in order]
    first, second = (path for arm, path in arms if arm == "first")
    [third] = (path for arm, path in arms if arm == "third")
    run("assess", "gold", first, second, "--third", third, "--to", tmp_path / "gold.txt")
    assert (tmp_path / "gold.txt").read_bytes() == (tmp_path / "it/gold.txt").read_bytes()
    groups = [*csv.DictReader((tmp_path / "it/groups.csv").read_text().splitlines())]
    assert {"participant", "topic", "document", "group"} <= {*groups[0]}
    assert [*replicate(open_files(tmp_path / "it", "it"))]
    run("replicate", tmp_path / "it")
    third.write_text(third.read_text().replace("red\n", "blue\n", 1))
    with pytest.raises(BundleError, match="judgements/"):
        [*replicate(open_files(tmp_path / "it", "it"))]
    assert [*replicate(open_files(io.BytesIO(content), "it.zip"))]


def test_preferences_are_analysed_in_sentences_and_tables_or_as_json(app, session, run, tmp_path):
    preferred(app, session)
    printed = run("analyse", "preferred")
    assert "Pairs: all 6 pairs of 2 runs for 6 topics" in " ".join(printed.split())
    assert "How far people agree" in printed
    assert json.loads(run("analyse", "preferred", "--json"))["n"]["answers"] == 5
    run("analyse", "preferred", "--to", tmp_path / "tables")
    names = {path.name for path in (tmp_path / "tables").rglob("*.*")}
    assert {"verdicts.txt", "measures.csv", "differences.csv", "people.csv", "runs.csv"} <= names
    assert {"report.html", "analysis.json", "run-preferences.pdf"} <= names


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--without-question", 2), "--without-question;"),
        (("--exclude-flagged", "--ties", "split"), "--exclude-flagged and --ties;"),
    ],
)
def test_an_option_that_the_analysis_of_a_kind_lacks_is_refused(
    app, session, run, tmp_path, options, names
):
    a_preference_study(session)
    fault = f"The analysis of a study of kind 'preference' does not have {names}"
    printed = run("analyse", "preferred", *options, status=1)
    assert fault in " ".join(printed.split())
    assert "Its log now says" not in printed
    unzipped(session, lifecycle.find_study(session, "preferred"), tmp_path / "it")
    assert fault in " ".join(run("analyse", tmp_path / "it", *options, status=1).split())


EXCLUDED = "Only excluded participants have answered."


@pytest.mark.parametrize("make", [labelled, grouped, preferred])
def test_that_no_answer_counts_is_said_with_how_many_are_left_out(
    app, session, run, tmp_path, make
):
    study = make(app, session)
    people = [*session.scalars(select(Participant).where(Participant.study_id == study.id))]
    for person in people:
        person.is_test = True
    people[0].is_test, people[0].excluded, people[0].exclude_reason = False, True, "a child"
    session.commit()
    if study.status == "open":
        lifecycle.close_study(session, study)
    slug, count = study.slug, len(people) - 1
    printed = " ".join(run("analyse", slug).split())
    sentence = f"Left out: 1 excluded, {count} test participants. There is nothing to analyse. "
    why = EXCLUDED
    if count:
        why = "Only test participants have answered. --include-test counts them."
    assert printed.endswith(sentence + why)
    unzipped(session, lifecycle.find_study(session, slug), tmp_path / "it")
    printed = " ".join(run("analyse", tmp_path / "it").split())
    assert printed.endswith("0 test participants. There is nothing to analyse. " + EXCLUDED)
    desk = Desk(app, session)
    study = lifecycle.find_study(session, slug)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    desk.open(f"/research/studies/{slug}/results")
    assert f"Left out: 1 excluded, {count} test participants." in desk.text
    assert ("Count the test data" in desk.text) == (count > 0)
