"""Collections with secret judgements: what is published, how runs are taken, what is told."""

import gzip
import json
import re
from datetime import date, timedelta
from hashlib import sha256

import pytest
from sqlalchemy import inspect
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from survey.core.collections.secret import split_topics
from survey.core.text_input import FaultyFilesError
from survey.db.models import CollectionGroup, StoredCollection, Submission
from survey.errors import NotAllowedError, NotFoundError, SurveyError
from survey.services.collections import receipts, secret, submissions
from survey.services.collections.run_evaluation import Request, evaluate_runs
from tests.at_once import AtOnce
from tests.databases import ON_SQLITE
from tests.secret_album import DAY, NAME, SECRET, TOPICS, a_run, album_files, publish_album

GROUP = "University of Example"


@pytest.fixture
def clock(monkeypatch):
    """The day; a test may move it by ``clock.days``."""

    class Clock:
        days = 0

    def now():
        return DAY + timedelta(days=Clock.days)

    monkeypatch.setattr(secret, "now", now)
    monkeypatch.setattr(submissions, "now", now)
    return Clock


@pytest.fixture
def album(session, tmp_path, clock):
    return publish_album(session, tmp_path)


@pytest.fixture
def token(session, album):
    return secret.add_group(session, album, GROUP)


@pytest.fixture
def send(session, token, tmp_path):
    """Send a run as the group does."""

    def send(run, token=token, name=NAME):
        return submissions.submit(session, tmp_path, name, token, run.encode())

    return send


def values(receipt):
    return [(shown["value"], shown["is_new"]) for shown in receipt["shown"]]


def test_half_of_the_secret_topics_is_open_and_the_digest_is_of_a_file_revealed_later(
    session, album, clock
):
    assert (album.open_topics, album.final_topics) == split_topics(SECRET, 3)
    with pytest.raises(NotFoundError):
        secret.committed_text(album)
    with pytest.raises(NotAllowedError, match="still takes runs"):
        secret.reveal(session, album)
    secret.close(session, album)
    secret.reveal(session, album)
    text = secret.committed_text(album)
    assert sha256(text.encode()).hexdigest() == album.digest
    assert {line.split()[0] for line in text.splitlines() if line[0] != "#"} == {*SECRET}
    assert f"# salt: {album.salt}" in text.splitlines()


def test_two_collections_of_the_same_judgements_have_other_digests(session, album, tmp_path):
    other = publish_album(session, tmp_path, name="other")
    assert other.digest != album.digest
    assert publish_album(session, tmp_path, name="third", seed=None).seed != "3"


def test_what_is_public_has_no_secret_topic(album):
    public = secret.public_judgements(album)
    assert {line.split()[0] for line in public.splitlines()} == {*TOPICS} - {*SECRET}
    rows = secret.topic_rows(album)
    assert [row[0] for row in rows] == TOPICS
    assert {topic for topic, _, part in rows if part == "secret"} == {*SECRET}
    assert rows[0][1] == "words of t1"


def test_feedback_is_that_of_survey_evaluate_on_the_open_topics(send, album, tmp_path):
    run = tmp_path / "mine.txt"
    run.write_text(a_run(1.0))
    receipt = send(run.read_text())
    request = Request(tmp_path / "album-qrels.txt", (run,), ("AP", "nDCG@10"))
    evaluation = evaluate_runs(request).evaluation
    places = [evaluation.queries.index(topic) for topic in album.open_topics]
    for shown in receipt["shown"]:
        expected = evaluation.values["mine"][shown["measure"]][places].mean()
        assert shown["value"] == round(float(expected), 2)
        assert shown["stars"] == "***"
        assert shown["baseline"] == "base"
    assert 0 < receipt["judged_at_10"] <= 1


def test_a_receipt_says_what_was_shown_and_is_signed(send, album, tmp_path):
    run = a_run(1.0)
    receipt = send(run)
    assert receipt["run_sha256"] == sha256(run.encode()).hexdigest()
    assert (receipt["digest"], receipt["day"]) == (album.digest, "2026-11-29")
    key = receipts.public_key(tmp_path)
    assert receipts.fault_of(receipt, key) == ""
    assert (tmp_path / receipts.KEY_FILE).stat().st_mode & 0o777 == 0o600
    stored = json.loads(receipts.receipt_text(receipt))
    assert receipts.fault_of(stored, key) == ""
    assert "another key" not in receipts.fault_of(stored)
    assert "not by the key" in receipts.fault_of(stored, "00" * 32)


@pytest.mark.parametrize("field", ["group", "run_sha256", "shown", "judged_at_10", "signature"])
def test_a_receipt_that_was_changed_is_not_valid(send, field):
    receipt = send(a_run(1.0))
    other = {"shown": [{"measure": "AP", "value": 0.99, "is_new": True}], "judged_at_10": 0.01}
    assert receipts.fault_of(receipt | {field: other.get(field, "00" * 32)})
    missing = {name: value for name, value in receipt.items() if name != field}
    assert receipts.fault_of(missing)


@pytest.mark.parametrize(
    ("changes", "of_measure"),
    [
        ({"number": None}, {}),
        ({"group": "ACME\nis the best"}, {}),
        ({"judged_at_10": "all"}, {}),
        ({"judged_at_10": [1]}, {}),
        ({}, {"stars": None}),
        ({}, {"baseline": 5}),
        ({}, {"measure": "AP\n"}),
    ],
)
def test_a_receipt_that_others_signed_is_printed_only_if_it_is_one(
    send, tmp_path, changes, of_measure
):
    receipt = send(a_run(1.0))
    [shown, *more] = receipt["shown"]
    forged = receipts.sign(tmp_path, receipt | {"shown": [shown | of_measure, *more]} | changes)
    assert "not as written" in receipts.fault_of(forged)


def test_only_a_run_that_is_clearly_better_gets_a_new_value(send, clock):
    first = send(a_run(0.5))
    clock.days = 1
    worse = send(a_run(0.1, 2))
    assert [is_new for _, is_new in values(worse)] == [False, False]
    assert [value for value, _ in values(worse)] == [value for value, _ in values(first)]
    assert {shown["stars"] for shown in worse["shown"]} == {""}
    assert {shown["baseline"] for shown in worse["shown"]} == {None}
    assert worse["judged_at_10"] is None  # where only relevant documents are judged, it is P@10
    assert receipts.shown_sentences(worse) == [
        f"AP: not shown to be better; best: {first['shown'][0]['value']:.2f}.".replace("0.", "."),
        f"nDCG@10: not shown to be better; best: {first['shown'][1]['value']:.2f}.".replace(
            "0.", "."
        ),
    ]
    clock.days = 2
    better = send(a_run(3.0))
    assert [is_new for _, is_new in values(better)] == [True, True]
    assert values(better) > values(first)


def test_the_same_run_gets_its_receipt_again_and_counts_once(send, album, clock):
    run = a_run(1.0)
    receipt = send(run)
    assert send(run) == receipt
    clock.days = 400
    assert send(run) == receipt
    assert [group.submissions[-1].number for group in album.groups] == [1]


def test_a_gzipped_run_is_the_same_run(session, token, tmp_path, send):
    run = a_run(1.0)
    packed = gzip.compress(run.encode())
    with pytest.raises(SurveyError, match="begins like a gzip file"):
        submissions.submit(session, tmp_path, NAME, token, packed[:-9])
    assert submissions.submit(session, tmp_path, NAME, token, packed) == send(run)


def test_a_group_has_ten_submissions_one_a_day(send, clock, session):
    for day in range(10):
        clock.days = day
        assert send(a_run(0.5, day))["number"] == day + 1
        with pytest.raises(NotAllowedError, match=r"tomorrow|used its 10 submissions"):
            send(a_run(0.5, 100 + day))
    clock.days = 10
    with pytest.raises(NotAllowedError, match="used its 10 submissions"):
        send(a_run(0.5, 200))


@pytest.mark.parametrize(
    ("run", "fault"),
    [
        (a_run(1.0).replace(" 1 ", " 1 x", 1), "line 1"),
        (a_run(1.0, topics=TOPICS[:-1]), "topic 't30': no document is returned"),
        ("", "no line found"),
        (a_run(1.0) + f"t9 Q0 {'t9-d1'} 1 1 tag\n" * 2, "found again"),
        (
            a_run(1.0) + "".join(f"t9 Q0 more{number} 1 1 tag\n" for number in range(1000)),
            "1,000 at most are allowed",
        ),
    ],
)
def test_a_run_with_a_fault_is_named_and_uses_up_nothing(send, album, run, fault):
    with pytest.raises(SurveyError, match=fault) as raised:
        send(run)
    assert str(raised.value).endswith("No submission is used up.")
    assert send(a_run(1.0))["number"] == 1


def test_faults_depend_neither_on_judgements_nor_on_which_topics_are_open(session, send, tmp_path):
    """Else a group could ask with faulty runs, which are not counted."""
    faulty = a_run(1.0, topics=[topic for topic in TOPICS if topic not in SECRET])
    with pytest.raises(SurveyError) as first:
        send(faulty)
    files = album_files(tmp_path)
    turned = re.sub(r"([01])\n", lambda match: f"{1 - int(match[1])}\n", files["qrels"].read_text())
    files["qrels"].write_text(turned)
    other = secret.publish(session, secret.NewCollection("other", seed=4, **files))
    token = secret.add_group(session, other, GROUP)
    with pytest.raises(SurveyError) as second:
        send(faulty, token, "other")
    assert str(first.value) == str(second.value)


def test_faulty_runs_are_limited_a_day(send, clock, monkeypatch):
    monkeypatch.setattr(submissions, "MOST_FAULTY", 2)
    for _ in range(2):
        with pytest.raises(SurveyError, match="No submission is used up"):
            send("nothing")
    with pytest.raises(NotAllowedError, match="send it tomorrow"):
        send(a_run(1.0))
    clock.days = 1
    assert send(a_run(1.0))["number"] == 1


def test_a_token_is_of_one_group_of_one_collection(session, send, album, tmp_path):
    other = publish_album(session, tmp_path, name="other")
    of_other = secret.add_group(session, other, GROUP)
    for wrong in (of_other, "", "no-token", "Ω"):
        with pytest.raises(NotAllowedError, match="The token is not that of a group"):
            send(a_run(1.0), wrong)
    renewed = secret.add_group(session, album, GROUP, new_token=True)
    with pytest.raises(NotAllowedError, match="The token is not that of a group"):
        send(a_run(1.0))
    assert send(a_run(1.0), f" {renewed}\n")["number"] == 1
    with pytest.raises(SurveyError, match="already"):
        secret.add_group(session, album, GROUP)
    with pytest.raises(NotFoundError):
        secret.add_group(session, album, "No group", new_token=True)


def test_tokens_are_stored_as_their_sha256(session, token):
    [group] = session.query(CollectionGroup).all()
    columns = {column.key for column in inspect(CollectionGroup).columns}
    assert group.token_hash == sha256(token.encode()).hexdigest()
    assert token not in str([getattr(group, name) for name in columns])


def test_of_two_runs_that_are_sent_at_once_one_is_taken(engine, session, token, tmp_path):
    def sends(seed):
        def send():
            with Session(engine) as other:
                return submissions.submit(other, tmp_path, NAME, token, a_run(1.0, seed).encode())[
                    "number"
                ]

        return send

    session.rollback()
    at_once = AtOnce(engine)
    at, reached = 1, True
    while reached:
        results = at_once.run(sends(2 * at), sends(2 * at + 1), at, 5.0)
        reached, at = at_once.reached, at + 1
        assert {*map(type, results)} == {NotAllowedError, int}, results
        session.query(Submission).delete()
        session.commit()
    assert at > 5


@pytest.mark.parametrize(
    "changes", [{"number": 1}, {"number": 11}, {"number": 0}, {"day": date(2026, 11, 29)}]
)
def test_the_database_itself_refuses_a_second_submission_of_a_day(session, send, changes):
    send(a_run(1.0))
    [sent] = session.query(Submission).all()
    row = {"number": 2, "day": date(2026, 11, 30), "run_sha256": "x", **changes}
    session.add(Submission(group_id=sent.group_id, scores={}, receipt={}, **row))
    with pytest.raises(IntegrityError):
        session.commit()
    session.rollback()


def test_final_scores_are_those_of_the_best_run_on_the_open_topics(session, send, album, clock):
    send(a_run(3.0))
    clock.days = 1
    send(a_run(0.0, 2))
    second = secret.add_group(session, album, "ACME")
    clock.days = 2
    send(a_run(0.6, 5), second)
    with pytest.raises(NotAllowedError, match="still takes runs"):
        submissions.results_sheet(album)
    secret.close(session, album)
    sheet = submissions.results_sheet(album)
    assert [row[0] for row in sheet.rows] == [GROUP, "ACME", "baseline base"]
    best = album.groups[0].submissions[0].scores["AP"][len(album.open_topics) :]
    assert sheet.rows[0][1] == pytest.approx(sum(best) / len(album.final_topics))
    assert sheet.rows[0][1].stars == "***"
    assert sheet.rows[2][1].stars == ""
    with pytest.raises(NotAllowedError, match="is closed"):
        send(a_run(1.0, 9))


def test_a_collection_closes_after_its_day(session, tmp_path, clock):
    album = publish_album(session, tmp_path, closes=DAY.date() + timedelta(days=2))
    token = secret.add_group(session, album, GROUP)
    clock.days = 2
    assert submissions.submit(session, tmp_path, NAME, token, a_run(1.0).encode())["number"] == 1
    clock.days = 3
    assert secret.is_closed(album)
    with pytest.raises(NotAllowedError, match="is closed"):
        submissions.submit(session, tmp_path, NAME, token, a_run(2.0).encode())
    assert len(submissions.results_sheet(album).rows) == 2


def test_measures_where_less_is_better_count_the_other_way(session, tmp_path, clock):
    album = publish_album(session, tmp_path, measures=("NMRR",))
    token = secret.add_group(session, album, GROUP)
    for day, (quality, is_new) in enumerate([(0.5, True), (3.0, True), (0.1, False)]):
        clock.days = day
        run = a_run(quality, day).encode()
        [shown] = submissions.submit(session, tmp_path, NAME, token, run)["shown"]
        assert shown["is_new"] is is_new
    secret.close(session, album)
    assert [row[0] for row in submissions.results_sheet(album).rows] == [GROUP, "baseline base"]


@ON_SQLITE
@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"name": "Our Album"}, "small letters"),
        ({"measures": ("AP", "P@5", "P@10", "RR")}, "one to 3 are allowed"),
        ({"measures": ("MNRO",)}, "MNRO needs collection size"),
        ({"measures": ("nothing",)}, "nothing"),
        ({"closes": date(2026, 11, 28)}, "in the past"),
        ({"title": "x" * 201}, "200 characters"),
    ],
)
def test_options_that_cannot_be_are_refused(session, tmp_path, clock, changes, fault):
    with pytest.raises(SurveyError, match=fault):
        publish_album(session, tmp_path, **changes)


@ON_SQLITE
@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["t7", "t99"], "line 2: topic 't99' has no judgements"),
        (["t7", "t7"], "line 2: topic 't7' is in line 1 already"),
        (SECRET[:9], "names 9 topics; at least 10 are needed"),
    ],
)
def test_secret_topics_that_cannot_be_are_named(session, tmp_path, clock, lines, fault):
    files = album_files(tmp_path)
    files["secret"].write_text("\n".join(lines))
    with pytest.raises((SurveyError, FaultyFilesError), match=fault):
        secret.publish(session, secret.NewCollection(NAME, **files))
    assert secret.all_collections(session) == []


@ON_SQLITE
def test_a_secret_topic_without_relevant_documents_is_named(session, tmp_path, clock):
    files = album_files(tmp_path)
    qrels = files["qrels"].read_text()
    files["qrels"].write_text(re.sub(r"(?m)^(t9 .*) 1$", r"\1 0", qrels))
    with pytest.raises(FaultyFilesError, match="topic 't9' has no relevant document"):
        secret.publish(session, secret.NewCollection(NAME, **files))


@ON_SQLITE
def test_removing_a_collection_removes_all_of_it(session, album, send):
    send(a_run(1.0))
    secret.remove(session, album)
    for model in (StoredCollection, CollectionGroup, Submission):
        assert session.query(model).count() == 0
    with pytest.raises(NotFoundError, match="no collection 'our-album'"):
        secret.find_collection(session, NAME)
