"""What researchers come by: signing in, making a study, running it, handing it out.

Their pages are English; the studies are in a language that the participants' texts have.
"""

import io
from collections.abc import Iterator
from datetime import timedelta

from survey.core.stimuli.rankings import Ranking
from survey.db.models import Participant, SignIn
from survey.services import (
    access,
    answers,
    guests,
    life,
    participants,
    presentations,
    researchers,
    studies,
)
from survey.services.presentations import Answer
from survey.services.recruitment import Recruitment
from tests.accessibility.sights import House, Sight
from tests.builders import KEY, a_ready_participant
from tests.web.desk import HOME, PASSWORD, Desk, a_file

ABOUT = [
    {"name": "age", "label": "Ηλικία", "kind": "number", "lowest": 16, "highest": 120},
    {"name": "education", "label": "Εκπαίδευση", "kind": "choice", "options": ["School", "Other"]},
]
SIGN_IN = "/research/sign-in"


def at(slug: str, section: str = "") -> str:
    """The address of a study's page."""
    return f"/research/studies/{slug}{section}"


def signing_in(house: House, _: str) -> Iterator[Sight]:
    """The door: the link that sets a password, the sign-in, one's account."""
    _, token = researchers.add_researcher(house.session, "Grace Hopper")
    house.session.rollback()
    grace = Desk.__new__(Desk)
    grace.client = house.app.test_client()
    welcome = f"/research/welcome/{token}"
    grace.open(welcome)
    yield house.seen("Password link", "empty", grace)
    grace.send(welcome, password="short", again="other")
    yield house.seen("Password link", "error: short, not the same", grace)
    grace.send(welcome, password=PASSWORD, again=PASSWORD)
    yield house.seen("Studies", "none, just signed in", grace)
    grace.open(welcome)
    yield house.seen("Password link", "used", grace)
    grace.open("/research/account")
    yield house.seen("Account", "as it is", grace)
    grace.send("/research/account/password", password="short", again="short")
    yield house.seen("Account", "error: a short password", grace)
    grace.open("/research/account/confirm")
    yield house.seen("Password once more", "empty", grace)
    grace.send("/research/account/confirm", password="wrong")
    yield house.seen("Password once more", "error: wrong", grace)
    yield from _signed_out(house, grace)


def _signed_out(house: House, grace: Desk) -> Iterator[Sight]:
    grace.open("/research/new")
    grace.client.delete_cookie("researcher", path="/research")
    grace.send("/research/new", slug="lost")
    yield house.seen("Signed out meanwhile", "what was typed is kept", grace)
    grace.open(SIGN_IN)
    yield house.seen("Sign in", "empty", grace)
    grace.send(SIGN_IN)
    yield house.seen("Sign in", "error: nothing typed", grace)
    grace.send(SIGN_IN, name="Grace Hopper", password="wrong")
    yield house.seen("Sign in", "error: wrong password", grace)
    for _ in range(9):
        grace.send(SIGN_IN, name="Grace Hopper", password="wrong")
    assert grace.status == 429
    yield house.seen("Sign in", "error: 429, too many attempts", grace)


def making(house: House, language: str) -> Iterator[Sight]:
    """A new study up to its opening."""
    desk = house.desk
    desk.open("/research/new")
    yield house.seen("New study", "empty", desk)
    desk.send("/research/new", slug="No Address")
    yield house.seen("New study", "error: address", desk)
    desk.send("/research/new", start="file", slug="bad-file", files={"plan": a_file("x: [", "x")})
    yield house.seen("New study", "error: file", desk)
    desk.open("/research/new")
    slug = f"made-{language}"
    desk.send("/research/new", slug=slug, language=language)
    yield house.seen("Plan", f"draft, texts in {language}", desk)
    desk.send(at(slug, "/plan"), questions="99", seed="x", title="")
    yield house.seen("Plan", "error: three fields", desk)
    desk.open(at(slug, "/plan"))
    desk.send(at(slug, "/plan"), add="1")
    yield house.seen("Plan", "a field added", desk)
    yield from _looked_through(house, desk, slug, language)


def _looked_through(house: House, desk: Desk, slug: str, language: str) -> Iterator[Sight]:
    desk.open(at(slug, "/lists"))
    yield house.seen("Own lists", "empty", desk)
    desk.send(at(slug, "/lists"), files={"lists": a_file("x,y\n1,2\n", "lists.csv")})
    yield house.seen("Own lists", "error: a file's faults", desk)
    desk.send(at(slug, "/lists/trec"), collection_size="x")
    yield house.seen("Own lists", "error: TREC", desk)
    desk.open(at(slug, "/check"))
    yield house.seen("Check", f"draft, texts in {language}", desk)
    desk.open(at(slug))
    yield house.seen("Overview", "draft", desk)
    desk.open(at(slug, "/results"))
    yield house.seen("Results", "draft", desk)
    desk.open(at(slug, "/progress"))
    yield house.seen("Progress", "draft", desk)
    desk.open(at(slug, "/open"))
    yield house.seen("Freeze and open", "to be confirmed", desk)
    desk.send(at(slug, "/open"))
    yield house.seen("Overview", "just opened", desk)
    desk.open(at(slug, "/plan"))
    yield house.seen("Plan", "frozen", desk)
    desk.open(at(slug))
    desk.send(at(slug, "/copy"), slug="No Address")
    yield house.seen("Overview", "error: address of the copy", desk)
    desk.open("/research/studies/no-study")
    yield house.seen("Error", "404 for a researcher", desk)


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
    guests.invite(house.session, study, ["Ann", "Bob"])
    desk.open(at(slug, "/invite"))
    yield house.seen("Invite", "personal links", desk)
    desk.open(at(slug, "/progress"))
    yield house.seen("Progress", "nobody yet", desk)
    vote(house, slug, 30)
    _exclude_one(house, slug)
    desk.open(at(slug, "/progress"))
    yield house.seen("Progress", "running, one excluded", desk)
    desk.open(at(slug, "/progress?id=P-NOBODY"))
    yield house.seen("Progress", "nobody is found", desk)
    desk.open(at(slug, "/results"))
    yield house.seen("Results", "hidden", desk)
    desk.send(at(slug, "/unblind"), reason=" ")
    yield house.seen("Results", "error: no reason", desk)
    yield from _with_people(house, desk, slug)


def _exclude_one(house: House, slug: str) -> None:
    house.session.rollback()
    study = studies.find_study(house.session, slug)
    one = house.session.query(Participant).filter_by(study_id=study.id).first()
    assert one is not None
    life.exclude(house.session, study, one, "Ada Lovelace", "clicked through")


def _with_people(house: House, desk: Desk, slug: str) -> Iterator[Sight]:
    desk.open(at(slug, "/people"))
    yield house.seen("People", "an owner alone", desk)
    desk.send(at(slug, "/people"), name="Nobody Known")
    yield house.seen("People", "error: no such name", desk)
    viewer = _viewer(house, slug)
    viewer.open(at(slug, "/people"))
    yield house.seen("People", "for a viewer", viewer)
    viewer.open(at(slug, "/plan"))
    yield house.seen("Plan", "for a viewer", viewer)
    viewer.open(at(slug, "/open"))
    yield house.seen("Error", "403 for a viewer", viewer)
    viewer.open(HOME)
    yield house.seen("Studies", "one that is shared", viewer)
    desk.open(at(slug))
    yield house.seen("Overview", "open", desk)


def _viewer(house: House, slug: str) -> Desk:
    viewer = Desk(house.app, house.session, f"Viewer of {slug}")
    study = studies.find_study(house.session, slug)
    who = researchers.find_researcher(house.session, viewer.name)
    access.share(house.session, study, who, "viewer")
    house.session.commit()
    return viewer


def vote(house: House, slug: str, people: int, questions: int = 3) -> None:
    """Let so many take part: some tick one method, some several, some rank for themselves."""
    house.session.rollback()
    study = studies.find_study(house.session, slug)
    for number in range(people):
        token = f"browser {number} of {slug}"
        one = a_ready_participant(house.session, study, token)
        for position in range(1, questions + 1):
            shown = presentations.find_presentation(house.session, one, position)
            key = presentations.next_key(KEY, shown)
            given = _an_answer(number, position)
            answers.save_answer(house.session, KEY, one, position, given, key, 20.0)
        if number % 4:
            participants.finish(house.session, one)
    house.session.commit()


def _an_answer(number: int, position: int) -> Answer:
    if (number + position) % 5 == 0:
        return Answer(frozenset(), Ranking.parse("B>A=C>D>E"))
    ticked = {1 + number % 3} | ({2} if position == 2 else set())
    return Answer(frozenset(ticked), None)


def resulting(house: House, language: str) -> Iterator[Sight]:
    """A closed study: its results, what is handed out, and its way out of sight."""
    desk, slug = house.desk, f"closed-{language}"
    house.study(slug, language=language)
    house.close(slug)
    desk.open(at(slug, "/results"))
    yield house.seen("Results", "no answers", desk)
    desk.open(at(slug, "/progress"))
    yield house.seen("Progress", "closed, nobody", desk)
    slug = f"voted-{language}"
    house.study(slug, language=language, personal_fields=ABOUT)
    vote(house, slug, 12)
    _identify_one(house, slug)
    house.close(slug)
    desk.open(at(slug, "/results"))
    yield house.seen("Results", "full", desk)
    desk.open(at(slug, "/results?ties=split&without=2"))
    yield house.seen("Results", "looked at otherwise", desk)
    desk.open(at(slug, "/results/report.html"))
    yield house.seen("Report", "as a file", desk)
    desk.open(at(slug, "/progress"))
    yield house.seen("Progress", "closed", desk)
    desk.open(at(slug))
    yield house.seen("Overview", "closed", desk)
    yield from _handed_out(house, desk, slug)


def _identify_one(house: House, slug: str) -> None:
    visitor = house.visitor(slug)
    visitor.open("?PROLIFIC_PID=p1")
    visitor.submit("/begin")


def _handed_out(house: House, desk: Desk, slug: str) -> Iterator[Sight]:
    desk.open(at(slug, "/hand-out"))
    yield house.seen("Hand out", "with identities", desk)
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
    _forget_password(house)
    desk.open(at(slug, "/hand-out"))
    desk.send(at(slug, "/bundle-with-identities.zip"))
    yield house.seen("Password once more", "a form waits", desk)


def _forget_password(house: House) -> None:
    """As if it had been typed long ago."""
    house.session.rollback()
    for one in house.session.query(SignIn):
        one.confirmed_at -= timedelta(hours=1)
    house.session.commit()


def planning(house: House, _: str) -> Iterator[Sight]:
    """How large a study has to be."""
    desk = house.desk
    desk.open("/research/planning")
    yield house.seen("Plan a study's size", "empty", desk)
    desk.open("/research/planning?participants=x&questions=10&replicates=0")
    yield house.seen("Plan a study's size", "error: two fields", desk)
    query = "participants=20,30&questions=10&pool=none&difference=.1&replicates=100&seed=1"
    assumed = "&decided=.68&between_questions=.15&between_participants=.05"
    desk.open(f"/research/planning?{query}{assumed}")
    yield house.seen("Plan a study's size", "result", desk)


def previewing(house: House, language: str) -> Iterator[Sight]:
    """A study's participants' pages, as its researchers see them before it opens."""
    desk, slug = house.desk, f"previewed-{language}"
    house.draft(slug, language=language)
    home = at(slug, "/preview/213/")
    for page in ("entry", "consent", "about_you", "scenario", "practice", "question/1"):
        desk.open(home + page)
        yield house.seen("Preview", page.replace("_", " "), desk, language)
    desk.open(f"{home}about_you")
    desk.send(f"{home}about_you", age="seven")
    yield house.seen("Preview", "error: about you", desk, language)
    desk.open(f"{home}question/1")
    desk.send(f"{home}question/1")
    yield house.seen("Preview", "error: question", desk, language)
    for page in ("review", "done", "declined", "screened_out"):
        desk.open(home + page)
        yield house.seen("Preview", page.replace("_", " "), desk, language)


def unsigned(house: House, _: str) -> Iterator[Sight]:
    """Pages for everybody."""
    reader = Desk.__new__(Desk)
    reader.client = house.app.test_client()
    for page, address in {
        "Home": "/",
        "What is stored": "/what-is-stored",
        "Table 4": "/paper/table4",
    }.items():
        reader.open(address)
        yield house.seen(page, "as it is", reader)


WALKS = (signing_in, making, running, resulting, planning, previewing, unsigned)
