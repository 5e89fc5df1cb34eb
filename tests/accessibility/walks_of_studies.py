"""What researchers come by when a study runs, and after it."""

import base64
import hashlib
import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from unittest.mock import patch

from survey.config import Smtp
from survey.core.studies.rankings import Ranking
from survey.db.models import Participant, SignIn
from survey.kinds.ordering.answer import OrderingAnswer
from survey.services import accounts
from survey.services.exchange.registry import STORED
from survey.services.participation import answers, participants
from survey.services.planning.preregistration import registration_of
from survey.services.studies import lifecycle, recruitment
from survey.services.studies.recruitment import Recruitment
from survey.services.studies.registration import Typed, canonical
from tests.accessibility.sights import House, Sight
from tests.accessibility.walks_of_drafts import at
from tests.builders import a_ready_participant, save_answer
from tests.judged import judge
from tests.preferred import a_preference_study
from tests.services.exchange.test_registry import RUN
from tests.web.desk import HOME, Desk, Reader

ABOUT = [
    {"name": "age", "label": "Ηλικία", "kind": "number", "lowest": 16, "highest": 120},
    {"name": "education", "label": "Εκπαίδευση", "kind": "choice", "options": ["School", "Other"]},
]


def running(house: House, language: str) -> Iterator[Sight]:
    """An open study: invitations, progress, who was excluded, results that are hidden."""
    desk, slug = house.desk, f"running-{language}"
    settings = Recruitment(code_complete="DONE-1")
    study = house.study(slug, settings, language=language, personal_fields=ABOUT)
    desk.open(at(slug, "/invite"))
    yield house.seen("Invite", "nobody yet", desk)
    desk.send(at(slug, "/invite/settings"), platform="prolific")
    yield house.seen("Invite", "filled in for a platform", desk)
    desk.send(at(slug, "/invite/settings"), slot_minutes="x", return_url="nowhere")
    yield house.seen("Invite", "error: settings", desk)
    recruitment.add_guests(house.session, study, {"Ann": "ann@x.example", "Bob": ""})
    desk.open(at(slug, "/invite"))
    yield house.seen("Invite", "personal links", desk)
    desk.open(at(slug, "/invite/mails"))
    yield house.seen("Mails", "no mail server", desk)
    server = Smtp("mail.example.org", "survey@example.org")
    with patch.dict(house.app.config, SMTP=server, ADDRESS="https://survey.example.org"):
        desk.open(at(slug, "/invite/mails"))
        yield house.seen("Mails", "mails can be sent", desk)
    desk.send(at(slug, "/invite/mails"), invitation="Hello {name}")
    yield house.seen("Mails", "error: no link", desk)
    desk.open(at(slug, "/progress"))
    yield house.seen("Progress", "nobody yet", desk)
    vote(house, slug, 30)
    _exclude_one(house, slug)
    desk.open(at(slug, "/progress"))
    yield house.seen("Progress", "running, one excluded", desk)
    _stop_one(house, slug)
    desk.open(at(slug, "/progress"))
    yield house.seen("Progress", "someone is stuck", desk)
    desk.open(at(slug, "/progress?id=P-NOBODY"))
    yield house.seen("Progress", "nobody is found", desk)
    desk.open(at(slug, "/results"))
    yield house.seen("Results", "hidden", desk)
    desk.send(at(slug, "/unblind"), reason=" ")
    yield house.seen("Results", "error: no reason", desk)
    yield from _with_people(house, desk, slug)


def _exclude_one(house: House, slug: str) -> None:
    house.session.rollback()
    study = lifecycle.find_study(house.session, slug)
    one = house.session.query(Participant).filter_by(study_id=study.id).first()
    assert one is not None
    lifecycle.exclude(house.session, study, one, "Ada Lovelace", "clicked through")


def _stop_one(house: House, slug: str) -> None:
    house.session.rollback()
    study = lifecycle.find_study(house.session, slug)
    under_way = {"study_id": study.id, "status": "started", "excluded": False}
    participant = house.session.query(Participant).filter_by(**under_way).first()
    assert participant is not None
    for _ in range(3):
        answers.note_refusal(house.session, participant, 2, answers.INCOMPLETE)
    house.session.rollback()


def _with_people(house: House, desk: Desk, slug: str) -> Iterator[Sight]:
    desk.open(at(slug, "/people"))
    yield house.seen("People", "an owner alone", desk)
    desk.send(at(slug, "/people"), name="Nobody Known")
    yield house.seen("People", "error: no such name", desk)
    viewer = _viewer(house, slug)
    viewer.open(at(slug, "/people"))
    yield house.seen("People", "for a viewer", viewer)
    yield from _with_two_owners(house, desk, slug, viewer)
    viewer.open(at(slug, "/plan"))
    yield house.seen("Plan", "for a viewer", viewer)
    viewer.open(at(slug, "/open"))
    yield house.seen("Error", "403 for a viewer", viewer)
    viewer.open(HOME)
    yield house.seen("Studies", "one that is shared", viewer)
    desk.open(at(slug))
    yield house.seen("Overview", "open", desk)
    desk.open(at(slug, "/close"))
    yield house.seen("Close", "of an open study", desk)
    desk.send(at(slug, "/let-finish"))
    yield house.seen("Overview", "no one new is admitted", desk)
    desk.send(at(slug, "/open"))


def _with_two_owners(house: House, desk: Desk, slug: str, viewer: Desk) -> Iterator[Sight]:
    desk.open(at(slug, "/people"))
    desk.send(at(slug, "/people"), name=viewer.name, role="owner")
    desk.send(at(slug, "/people"), name=desk.name, role="viewer")
    yield house.seen("Your role", "to become a viewer", desk)
    desk.open(at(slug, "/people"))
    desk.send(at(slug, "/people"), name=viewer.name, role="viewer")


def _viewer(house: House, slug: str) -> Desk:
    viewer = Desk(house.app, house.session, f"Viewer of {slug}")
    study = lifecycle.find_study(house.session, slug)
    who = accounts.find_researcher(house.session, viewer.name)
    accounts.share(house.session, study, who, "viewer")
    house.session.commit()
    return viewer


def vote(house: House, slug: str, people: int, questions: int = 3) -> None:
    """Let so many take part: some tick one method, some several, some rank for themselves."""
    house.session.rollback()
    study = lifecycle.find_study(house.session, slug)
    for number in range(people):
        token = f"browser {number} of {slug}"
        one = a_ready_participant(house.session, study, token)
        for position in range(1, questions + 1):
            save_answer(house.session, one, position, _an_answer(number, position), 20.0)
        if number % 4:
            participants.finish(house.session, one)
    house.session.commit()


def _an_answer(number: int, position: int) -> OrderingAnswer:
    if (number + position) % 5 == 0:
        return OrderingAnswer(frozenset(), Ranking.parse("B>A=C>D>E"))
    ticked = {1 + number % 3} | ({2} if position == 2 else set())
    return OrderingAnswer(frozenset(ticked), None)


PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SHA256 = hashlib.sha256(PICTURE).hexdigest()


def _unfolded(sight: Sight) -> Sight:
    parts = b'<details class="panel part', b'<details open class="panel part'
    return replace(sight, body=sight.body.replace(*parts))


def resulting(house: House, language: str) -> Iterator[Sight]:
    """A closed study: its results, what is handed out, and its way out of sight."""
    desk, slug = house.desk, f"closed-{language}"
    house.study(slug, language=language)
    house.close(slug)
    desk.open(at(slug, "/results"))
    yield house.seen("Results", "no answers", desk)
    desk.open(at(slug, "/machines"))
    yield house.seen("Machines", "none", desk)
    desk.open(at(slug, "/progress"))
    yield house.seen("Progress", "closed, nobody", desk)
    slug = f"voted-{language}"
    study = house.study(slug, language=language, personal_fields=ABOUT)
    study.registration = canonical(registration_of(study, Typed("MNRO leads AP.")))
    house.session.commit()
    vote(house, slug, 12)
    _identify_one(house, slug)
    record = judge(house.session, lifecycle.find_study(house.session, slug), simulated="AP=1")
    desk.open(at(slug, "/machines"))
    yield house.seen("Machines", "hidden", desk)
    house.close(slug)
    ada = accounts.find_researcher(house.session, desk.name)
    a_preference_study(house.session, f"compared-{language}", ada)
    house.close(f"compared-{language}")
    desk.open(at(slug, "/results"))
    yield _unfolded(house.seen("Results", "full", desk))
    desk.open(at(slug, "/machines"))
    yield _unfolded(house.seen("Machines", "one beside people", desk))
    desk.send(at(slug, f"/machines/{record.name}/remove"))
    yield house.seen("Machines", "asks before a record is removed", desk)
    desk.open(at(slug, "/results?ties=split&without=2"))
    yield house.seen("Results", "analysis options", desk)
    desk.open(at(slug, "/results/report.html"))
    yield house.seen("Report", "as a file", desk)
    desk.open(at(slug, "/progress"))
    yield house.seen("Progress", "closed", desk)
    desk.open(at(slug))
    yield house.seen("Overview", "closed", desk)
    yield from _pictured(house, desk, f"pictured-{language}", language)
    yield from _handed_out(house, desk, slug)


def publishing(house: House, language: str) -> Iterator[Sight]:
    """A closed study's way to a public page, what visitors see of it, and back."""
    desk, reader, slug = house.desk, Reader(house.app), f"public-{language}"
    reader.open("/studies")
    yield house.seen("Published studies", "none", reader)
    house.study(slug, language=language, personal_fields=ABOUT)
    vote(house, slug, 12)
    house.close(slug)
    yield from _published(house, desk, slug)
    address = f"/studies/{slug}"
    reader.open("/")
    yield house.seen("Home", "with published studies", reader)
    reader.open("/studies")
    yield house.seen("Published studies", "one", reader)
    reader.open(address)
    folded = house.seen("Published study", "results", reader)
    yield folded
    opened = folded.body.replace(b'<details class="panel part', b'<details open class="panel part')
    yield replace(folded, state="results unfolded", body=opened)
    _run_elsewhere(house, slug)
    reader.open(address)
    yield house.seen("Published study", "run elsewhere", reader)
    reader.open(f"{address}/try")
    yield house.seen("Published study", "a question to try", reader, language)
    reader.send(f"{address}/try")
    yield house.seen("Published study", "error: a question to try", reader, language)
    reader.send(f"{address}/try", choice="1")
    yield house.seen("Published study", "tried", reader)
    desk.open(at(slug, "/publish"))
    desk.send(at(slug, "/publish/take-back"))
    yield house.seen("Publish", "taken back", desk)
    reader.open(address)
    yield house.seen("Error", "410 taken back", reader)
    desk.send(at(slug, "/publish"), go="publish", read="y")


def _run_elsewhere(house: House, slug: str) -> None:
    """Store two other runs, as `survey registry update` does."""
    digest = lifecycle.find_study(house.session, slug).digest
    run = replace(RUN, digest=digest, authors=("Hopper, Grace",), results={"MNRO-AP": 9.5})
    other = replace(run, address="https://x.org/b.zip", sha256="a" * 64, doi="10.5281/z.1")
    path = house.app.config["INSTANCE"] / STORED
    path.write_text(run.line + other.line)


def _published(house: House, desk: Desk, slug: str) -> Iterator[Sight]:
    action, typed = at(slug, "/publish"), {"authors": "Lovelace, Ada\nThe retrieval group"}
    desk.open(action)
    yield house.seen("Publish", "what becomes visible", desk)
    desk.send(action, go="publish")
    yield house.seen("Publish", "error: no authors, not read", desk)
    desk.send(action, go="preview", **typed)
    yield house.seen("Published study", "preview", desk)
    desk.open(action)
    desk.send(action, go="publish", read="y", **typed)
    yield house.seen("Publish", "public", desk)


def _pictured(house: House, desk: Desk, slug: str, language: str) -> Iterator[Sight]:
    """A draft with pictures: none yet, some with a file that is refused."""
    house.draft(slug, language=language)
    desk.open(at(slug, "/items"))
    yield house.seen("Pictures and topics", "empty", desk)
    desk.send(at(slug, "/items"))
    yield house.seen("Pictures and topics", "error: no file", desk)
    files = [(io.BytesIO(PICTURE), "d1.png"), (io.BytesIO(PICTURE), "d2.png")]
    desk.send(at(slug, "/items"), files={"files": [*files, (io.BytesIO(b"words"), "d3.png")]})
    yield house.seen("Pictures and topics", "two taken, one refused", desk)


def _identify_one(house: House, slug: str) -> None:
    visitor = house.visitor(slug)
    visitor.open("?PROLIFIC_PID=p1")
    visitor.submit("/begin")


def _handed_out(house: House, desk: Desk, slug: str) -> Iterator[Sight]:
    desk.open(at(slug, "/hand-out"))
    yield house.seen("Export", "with identities", desk)
    bundle = desk.client.get(at(slug, "/bundle.zip")).get_data()
    desk.open("/research/import")
    yield house.seen("Import", "empty", desk)
    desk.send("/research/import", files={"bundle": (io.BytesIO(b"no zip"), "x.zip")}, slug="Bad")
    yield house.seen("Import", "error: no bundle", desk)
    desk.send(
        "/research/import", files={"bundle": (io.BytesIO(bundle), "b.zip")}, slug=f"taken-{slug}"
    )
    yield house.seen("Results", "just imported", desk)
    desk.open(at(f"taken-{slug}"))
    yield house.seen("Overview", "imported", desk)
    desk.open(at(slug, "/delete"))
    yield house.seen("Delete", "to be confirmed", desk)
    desk.send(at(slug, "/delete"), slug="other")
    yield house.seen("Delete", "error: another name", desk)
    desk.open(at(slug))
    desk.send(at(slug, "/archive"))
    yield house.seen("Overview", "archived", desk)
    desk.open(HOME)
    yield house.seen("Studies", "several, one archived", desk)
    _confirm_passwords(house, -1)
    desk.open(at(slug, "/hand-out"))
    desk.send(at(slug, "/bundle-with-identities.zip"))
    waiting = house.seen("Password once more", "a form waits", desk)
    _confirm_passwords(house, 1)  # other walks are asked for none
    yield waiting


def _confirm_passwords(house: House, hours: int) -> None:
    """As if they had been typed so many hours later."""
    house.session.rollback()
    for one in house.session.query(SignIn):
        one.confirmed_at += timedelta(hours=hours)
    house.session.commit()
