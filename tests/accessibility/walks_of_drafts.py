"""What researchers come by before a study is open: signing in, planning, a draft, its preview.

Their pages are English; the studies are in a language that participants' texts have.
"""

import base64
import time
from collections.abc import Iterator

from survey.services import accounts, second_factor
from tests.accessibility.sights import House, Sight
from tests.builders import CONTACTS, RESEARCHER_COOKIE
from tests.voted import CLEAR, UNDECIDED, a_closed_study
from tests.web.desk import PASSWORD, Desk, a_file

SIGN_IN = "/research/sign-in"


def at(slug: str, section: str = "") -> str:
    """The address of a study's page."""
    return f"/research/studies/{slug}{section}"


def signing_in(house: House, _: str) -> Iterator[Sight]:
    """The door: the link that sets a password, the sign-in, one's account."""
    _, token = accounts.add_researcher(house.session, "Grace Hopper")
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
    yield from _second_factor(house, grace)
    grace.open("/research/account/confirm")
    yield house.seen("Password once more", "empty", grace)
    grace.send("/research/account/confirm", password="wrong")
    yield house.seen("Password once more", "error: wrong", grace)
    yield from _signed_out(house, grace)


def _second_factor(house: House, grace: Desk) -> Iterator[Sight]:
    address = "/research/account/second-factor"
    grace.open(address)
    yield house.seen("Second factor", "to be set up", grace)
    grace.send(address, code="wrong")
    yield house.seen("Second factor", "error: wrong code", grace)
    secret = base64.b32decode(grace.page.select_one("code").text.replace(" ", ""))
    grace.send(address, code=second_factor.code_at(secret, int(time.time()) // 30))
    yield house.seen("Recovery codes", "ten", grace)
    grace.open("/research/account")
    yield house.seen("Account", "with a second factor", grace)
    grace.send(f"{address}/remove")


def _signed_out(house: House, grace: Desk) -> Iterator[Sight]:
    grace.open("/research/new")
    grace.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
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
    desk.send("/research/new", slug="MNRO")
    yield house.seen("New study", "error: address", desk)
    desk.send("/research/new", start="file", slug="bad-file", files={"plan": a_file("x: [", "x")})
    yield house.seen("New study", "error: file", desk)
    desk.open("/research/new")
    desk.send("/research/new", start="preference", slug="no-files")
    yield house.seen("New study", "error: no runs to compare", desk)
    files = {"judgements": a_file("1 0 a 1\n", "qrels.txt"), "runs": [a_file("x\n", "run.txt")]}
    desk.send("/research/new", start="preference", files=files)
    yield house.seen("New study", "error: a file is kept, another wrong", desk)
    desk.open("/research/new")
    slug = f"made-{language}"
    desk.send("/research/new", slug=slug, language=language)
    yield house.seen("Plan", "draft, what to ask", desk)
    for step in ("how", "who", "texts"):
        desk.open(at(slug, f"/plan?step={step}"))
        yield house.seen("Plan", f"draft, {step}, texts in {language}", desk)
    desk.open(at(slug, "/power"))
    yield house.seen("Power", "of a draft", desk)
    yield from _preregistered(house, desk, slug)
    desk.open(at(slug, "/plan"))
    desk.send(at(slug, "/plan"), questions="99", seed="x", title="")
    yield house.seen("Plan", "error: three fields", desk)
    desk.open(at(slug, "/plan"))
    desk.send(at(slug, "/plan"), add="personal_fields")
    yield house.seen("Plan", "a field added", desk)
    desk.send(at(slug, "/plan"), add="closing_questions")
    yield house.seen("Plan", "a closing question added", desk)
    yield from _looked_through(house, desk, slug, language)


def _preregistered(house: House, desk: Desk, slug: str) -> Iterator[Sight]:
    page = at(slug, "/preregister")
    desk.open(page)
    yield house.seen("Preregister", "a draft", desk)
    desk.send(page, hypothesis="x" * 6_000)
    yield house.seen("Preregister", "error: a long text", desk)
    desk.open(page)
    desk.send(page, hypothesis="MNRO leads AP.", rationale="A class.", existing_data="None.")
    yield house.seen("Preregister", "stored", desk)


def _looked_through(house: House, desk: Desk, slug: str, language: str) -> Iterator[Sight]:
    desk.open(at(slug, "/lists"))
    yield house.seen("Own lists", "empty", desk)
    desk.send(at(slug, "/lists"), files={"lists": a_file("x,y\n1,2\n", "lists.csv")})
    yield house.seen("Own lists", "error: a file's faults", desk)
    desk.send(at(slug, "/lists/trec"), collection_size="x")
    yield house.seen("Own lists", "error: TREC", desk)
    desk.open(at(slug, "/check"))
    yield house.seen("Check", f"draft, texts in {language}", desk)
    desk.open(at(slug, "/check?question=1"))
    yield house.seen("Check", f"a question unfolded, texts in {language}", desk)
    desk.open(at(slug))
    yield house.seen("Overview", "draft", desk)
    desk.open(at(slug, "/results"))
    yield house.seen("Results", "draft", desk)
    desk.open(at(slug, "/progress"))
    yield house.seen("Progress", "draft", desk)
    desk.open(at(slug, "/open"))
    yield house.seen("Freeze and open", "no contact yet", desk)
    desk.open(at(slug, "/plan"))
    desk.send(at(slug, "/plan"), **CONTACTS[language])
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


def scoring(house: House, _: str) -> Iterator[Sight]:
    """Judgements and runs to be scored."""
    desk, page = house.desk, "/research/evaluation"
    desk.open(page)
    yield house.seen("Score runs", "empty", desk)
    desk.send(page, {"qrels": a_file("1 0 a x", "qrels.txt")}, collection_size="many")
    yield house.seen("Score runs", "error: three fields", desk)
    desk.open(page)
    files = {
        "qrels": a_file("1 0 a 2\n1 0 b 1\n2 0 a 1\n", "qrels.txt"),
        "runs": [
            a_file("1 Q0 a 1 2 t\n1 Q0 c 2 1 t\n2 Q0 a 1 1 t\n", "one.txt"),
            a_file("1 Q0 c 1 2 t\n1 Q0 b 2 1 t\n2 Q0 a 1 1 t\n", "two.txt"),
        ],
        "clusters": a_file("1 a x\n1 b y\n2 a x\n", "clusters.txt"),
    }
    desk.send(page, files, collection_size="100", baseline="one")
    yield house.seen("Score runs", "result", desk)


def pooling(house: House, _: str) -> Iterator[Sight]:
    """Several studies that are pooled."""
    desk, page = house.desk, "/research/pool"
    ada = accounts.find_researcher(house.session, desk.name)
    for slug, votes in (("rome", CLEAR), ("lyon", CLEAR[:5]), ("oslo", UNDECIDED)):
        a_closed_study(house.session, ada, slug, votes)
    house.session.rollback()
    desk.open(page)
    yield house.seen("Pool studies", "empty", desk)
    files = {"bundle": [a_file("no zip", "one.zip"), a_file("no zip", "two.zip")]}
    desk.send(page, files)
    yield house.seen("Pool studies", "error: two bundles", desk)
    desk.open(page)
    desk.send(page, study=["rome", "lyon", "oslo"])
    yield house.seen("Pool studies", "result", desk)


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
        "Published study": "/paper/study/urbano-2012",
        "Misprints": "/paper/slips",
        "Help": "/help",
    }.items():
        reader.open(address)
        yield house.seen(page, "as it is", reader)
    for guide in ("recruitment", "speed", "tour", "glossary"):
        reader.open(f"/help/{guide}")
        yield house.seen("A guide", guide, reader)
