"""Participants' ways through studies of every kind: to every end, with every kind of mistake.

Each way calls ``look`` wherever it has come to a new state; what looks opens every page there.
"""

from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from survey import tokens
from survey.core.studies.rankings import Ranking
from survey.db.models import Study
from survey.services.studies import lifecycle, recruitment
from survey.services.studies.languages import languages
from survey.services.studies.plans import preset_values
from survey.services.studies.recruitment import Recruitment
from tests.builders import CONTACTS, KEY, Visitor, a_plan
from tests.grouped import a_grouping_study
from tests.promises.worlds import Place

Look = Callable[[Visitor], None]

QUESTIONS = 3
OWN = {f"rank_{letter}": place for letter, place in zip("ABCDE", "21345", strict=True)}
CODES = {"code_complete": "DONE-1", "code_declined": "NO-2", "code_screened_out": "OUT-3"}
PLATFORM = {**CODES, "return_url": "https://platform.example/?cc={code}&who={participant_id}"}
POOL = {"design": "pool", "questions": 5, "per_participant": QUESTIONS}
DESIGNS: dict[str, dict[str, Any]] = {
    "plain": {},
    "rank-first": {
        **{"columns": "after", "shuffle_lists": True, "reason_question": "Why?"},
        "closing_questions": [{"name": "ease", "label": "Was it easy?", "kind": "scale"}],
    },
    "pool": {**POOL, "practice": False, "shuffle_questions": True, "personal_fields": []},
}
MISTAKES: tuple[dict[str, Any], ...] = (
    {},
    {"choice": ["1", "own"]},
    {"choice": "9"},
    {"choice": "own"},
    {"choice": "own", "rank_A": "17"},
    {"rank_B": "2"},
    {"choice": "1", "active_seconds": "long"},  # stored: a wrong number of seconds is no mistake
    {"choice": "2", "csrf_token": "old"},
    {"choice": "3", "submission_key": "0-none"},
)


def new_study(place: Place, slug: str, **changes: Any) -> Study:
    """Make and open a study of this world's measures, in the language that its address ends in."""
    language = slug.rpartition("-")[2]
    language = language if language in languages() else "en"
    texts = {name: text for name, text in preset_values("mnro", language).items() if text}
    design = {**DESIGN, "measures": place.world.names}
    contact = CONTACTS[language]
    plan = a_plan(**{**texts, **contact, **design, **changes})
    study = lifecycle.create_study(place.session, slug, plan)
    lifecycle.open_study(place.session, study)
    return study


DESIGN = {"questions": QUESTIONS, "seed": 5, "participants": 50}


def take_part(visitor: Visitor, study: Study, look: Look, query: str = "") -> None:
    """The whole way, from the entry to the receipt and away from it."""
    arrive(visitor, look, query)
    agree(visitor, look)
    describe(visitor, look, bool(study.plan.personal_fields))
    visitor.submit("/scenario", csrf_token="old")
    visitor.submit("/scenario")
    look(visitor)
    if study.plan.practice:
        practise(visitor, look)
    for number in range(1, QUESTIONS + 1):
        answer(visitor, f"/q/{number}", study.plan.columns == "after")
        look(visitor)
    revise(visitor)
    if study.plan.closing_questions:
        visitor.open("/closing")
        look(visitor)
        visitor.submit("/closing", csrf_token="old")
        visitor.submit("/closing", ease="4")
        look(visitor)
    visitor.open("/review")
    visitor.submit("/review", csrf_token="old")
    visitor.submit("/review")
    look(visitor)
    visitor.submit("/leave")
    assert visitor.path == ""


def arrive(visitor: Visitor, look: Look, query: str = "") -> None:
    """Come, and begin."""
    visitor.open(query)
    look(visitor)
    visitor.open(query)
    visitor.submit("/begin", csrf_token="old")
    visitor.submit("/begin")
    look(visitor)


def agree(visitor: Visitor, look: Look) -> None:
    """Give consent, after having meant not to."""
    visitor.open("/consent")
    visitor.submit("/consent")
    visitor.submit("/decline")
    look(visitor)
    visitor.open("/consent")
    visitor.submit("/consent", agree="y", consent_version="another text")
    visitor.submit("/consent", agree="y")
    look(visitor)


def describe(visitor: Visitor, look: Look, asked: bool = True) -> None:
    """Say who one is, at the second attempt."""
    visitor.open("/about-you")
    if not asked:
        visitor.submit("/about-you")
        return
    visitor.submit("/about-you", age="seven", education="None of them")
    visitor.submit("/about-you", age="7")
    visitor.submit("/about-you", age="23", education=an_education(visitor))
    look(visitor)


def practise(visitor: Visitor, look: Look) -> None:
    """Go through the screens of practice, after a wrong answer to their question."""
    visitor.submit("/practice/check", better="0")
    look(visitor)
    visitor.submit("/practice/check", better="1")
    look(visitor)
    for step in (2, 3, 4):
        visitor.open(f"/practice?step={step}")
        visitor.submit("/practice", csrf_token="old")
        visitor.open(f"/practice?step={step}")
        visitor.submit("/practice", choice="1", rank_A="1")
    look(visitor)
    assert visitor.path == "/q/1"


def answer(visitor: Visitor, path: str, ranks_first: bool) -> None:
    """Answer, the first question after every mistake, the second with one's own ordering.

    Ticks of three columns, and an ordering that a column has, are asked back about first.
    """
    if ranks_first:
        visitor.open(path)
        visitor.submit(path, rank_A="1")
        visitor.insist(path, **OWN)
    for mistake in MISTAKES if path.endswith("1") else MISTAKES[:1]:
        visitor.open(path)
        visitor.submit(path, **mistake)
    visitor.open(path)
    if path.endswith("2"):
        visitor.submit(path, choice="own", **order_of_a_method(visitor))
        return
    visitor.submit(path, choice=["1", "2", "3"])
    for settle in ("own", "several"):
        if visitor.page.select_one("[name=settle]"):
            visitor.submit(path, choice=["1", "2", "3"], settle=settle)
            visitor.open(path)
            visitor.submit(path, choice=["1", "2", "3"])


def order_of_a_method(visitor: Visitor) -> dict[str, str]:
    """The places of the first method's ordering on the page."""
    shown = visitor.page.select_one(".order")
    places = Ranking.parse(shown.text).places if shown else {}
    return {f"rank_{letter}": str(places.get(letter, "1")) for letter in "ABCDE"}


def revise(visitor: Visitor) -> None:
    """Change an answer, send the form again, send one from before, go back."""
    visitor.open("/q/1")
    sent = {tag["name"]: tag.get("value", "") for tag in visitor.page.select("#vote [type=hidden]")}
    for choice in ("2", "2", "3"):  # saved, sent twice, and from before the change
        visitor.post("/q/1", **{**sent, "choice": choice})
    assert visitor.status == 409
    visitor.open("/q/2")
    visitor.submit("/q/2", choice="1", go="back")
    visitor.post("/q/3", go="back", csrf_token=sent["csrf_token"])


def resume(visitor: Visitor, other: Visitor, look: Look) -> None:
    """Go on with the code, on a device that belonged to nobody."""
    visitor.open("/consent")
    code = visitor.page.select_one(".foot .code").text
    other.open()
    other.submit("/resume", code="")
    other.submit("/resume", code="WRONG-WRONG-WRON")
    other.submit("/resume", code=code)
    assert other.path == visitor.path
    look(other)


def screened_study(place: Place, slug: str) -> Study:
    """A study that a platform sends people to, and that is not for everybody."""
    fields = preset_values("mnro", "en")["personal_fields"]
    known = {"name": "known", "label": "Have you built a search engine?", "kind": "choice"}
    fields.append({**known, "options": ["No", "Yes"], "screen_out": ["Yes"], "required": False})
    study = new_study(place, slug, personal_fields=fields)
    recruit(place.session, study, **PLATFORM)
    return study


def recruit(session: Session, study: Study, **settings: Any) -> None:
    """Change how people come and go."""
    study.recruitment = Recruitment(**settings).as_json()
    session.commit()


def be_screened_out(visitor: Visitor, look: Look, query: str = "") -> None:
    """Belong to those whom the study does not look for."""
    visitor.go("/about-you", query=query)
    visitor.submit("/about-you", age="23", education=an_education(visitor), known="Yes")
    assert visitor.path == "/screened-out"
    look(visitor)


def decline(visitor: Visitor, look: Look, query: str = "") -> None:
    """Not want to."""
    visitor.go("/consent", query=query)
    visitor.submit("/decline")
    assert visitor.path == "/declined"
    look(visitor)


def withdraw(place: Place, look: Look, language: str) -> None:
    """Look at one's data from another device, stop, and delete everything."""
    study = new_study(place, f"left-{language}")
    visitor, other = _visitor(place, study), _visitor(place, study)
    visitor.prepare()
    visitor.open("/my-data.json")
    visitor.open("/my-data")
    code = visitor.page.select_one("strong.code").text
    other.open("/my-data")
    for typed in ("", "WRONG-WRONG-WRON", code):
        other.submit("/my-data", code=typed)
    visitor.submit("/stop")
    assert visitor.path == "/stopped"
    look(visitor)
    other.open("/my-data")
    other.submit("/erase")
    other.submit("/erase", sure="y")
    assert other.path == "/erased"
    look(other)


def _send_what_cannot_be_stored(place: Place, look: Look, language: str) -> None:
    """Fill in forms while the database is in trouble, and says so with a measure's name."""
    visitor = _visitor(place, new_study(place, f"busy-{language}"))
    views = place.app.view_functions
    kept = dict(views)

    def fail(**_: Any) -> None:
        name = place.world.names[0]
        raise OperationalError(f"UPDATE {name}", {"measure": name}, Exception(name))

    visitor.go("/scenario")
    for path, view, sent in (
        ("/scenario", "scenario", {}),
        ("/practice/check", "check", {"better": "1"}),
        ("/q/1", "answer_question", {"choice": ["1", "2"], "settle": "several"}),
    ):
        if path == "/q/1":
            while visitor.path == "/practice":
                visitor.submit("/practice")
        views[f"participant.{view}"] = fail
        visitor.submit(path, **sent)
        assert visitor.status == 503
        views.update(kept)
        visitor.submit(path, **sent)
        assert visitor.status == 200
    look(visitor)


def every_way(place: Place, look: Look, language: str, kinds: Iterable[str] = DESIGNS) -> None:
    """Everything that can happen to a participant, in a language."""
    for kind in kinds:
        study = new_study(place, f"{kind}-{language}", **DESIGNS[kind])
        take_part(_visitor(place, study), study, look)
        begun = _visitor(place, study)
        begun.open()
        begun.submit("/begin")
        resume(begun, _visitor(place, study), look)
        decline(_visitor(place, study), look)
    withdraw(place, look, language)
    _send_what_cannot_be_stored(place, look, language)
    _come_from_a_platform(place, look, language)
    _come_by_invitation(place, look, language)
    _come_too_late(place, look, language)
    _wait_for_others(place, look, language)


def _visitor(place: Place, study: Study) -> Visitor:
    return Visitor(place.app.test_client(), study.slug)


def _come_from_a_platform(place: Place, look: Look, language: str) -> None:
    study = screened_study(place, f"platform-{language}")
    sent = "?PROLIFIC_PID={}&STUDY_ID=s1&SESSION_ID=x1"
    take_part(_visitor(place, study), study, look, sent.format("p1"))
    decline(_visitor(place, study), look, sent.format("p2"))
    be_screened_out(_visitor(place, study), look, sent.format("p3"))
    recruit(place.session, study, id_required=True)
    arrived = _visitor(place, study)
    arrived.open()
    look(arrived)


def _wait_for_others(place: Place, look: Look, language: str) -> None:
    """Sort into groups as a third person, before two others have begun."""
    study = a_grouping_study(place.session, f"sorted-{language}", language=language)
    for path in ("/q/1", "/q/1", "/waiting"):
        visitor = _visitor(place, study)
        visitor.go(path)
        look(visitor)


def _come_by_invitation(place: Place, look: Look, language: str) -> None:
    study = new_study(place, f"invited-{language}")
    recruit(place.session, study, access="personal")
    recruitment.add_guests(place.session, study, ["Ann"])
    ann = recruitment.guests_of(place.session, study)[0]
    visitor = _visitor(place, study)
    for query in ("", "?guest=NOTALINK", f"?test={tokens.test_run_token(KEY, study.slug)}"):
        visitor.open(query)
    look(visitor)
    take_part(visitor, study, look, f"?guest={recruitment.link_token(KEY, ann)}")


def _come_too_late(place: Place, look: Look, language: str) -> None:
    """Lose one's place, find none, find the study closed, find a draft."""
    study = new_study(place, f"late-{language}", participants=1)
    first, second = _visitor(place, study), _visitor(place, study)
    first.prepare()
    second.open()
    look(second)  # full
    place.clock.move(days=1)
    second.prepare()
    place.clock.move(minutes=1)
    look(first)  # away for long, and the place went to someone else
    first.open("/q/1")
    assert first.status == 403
    study = lifecycle.find_study(place.session, study.slug)
    lifecycle.close_study(place.session, study)
    for visitor in (first, second, _visitor(place, study)):
        look(visitor)
    draft = a_plan(measures=place.world.names)
    look(_visitor(place, lifecycle.create_study(place.session, f"draft-{language}", draft)))


def an_education(visitor: Visitor) -> str:
    """The first answer that "About you" offers, in whatever language; none if it does not ask."""
    options = visitor.page.select("#education option")
    return str(options[1]["value"]) if options else ""
