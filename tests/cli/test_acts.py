"""Every act of researchers' pages is a command that does the same."""

import json
import re

import pytest
from sqlalchemy import DateTime, or_
from werkzeug.routing import AnyConverter

from survey.app import _send_due_mail, db
from survey.db.models import Guest, Participant, SignIn, Study
from survey.db.models.base import Base
from survey.services import accounts
from survey.services.collections import items
from survey.services.exchange.bundle import stream_bundle
from survey.services.machines import stored
from survey.services.studies import lifecycle, publications, recruitment
from survey.services.studies.recruitment import Recruitment
from tests.builders import Visitor, a_plan, a_ready_participant
from tests.cli.acts import ACTS, COMMANDS, EXEMPT
from tests.cli.desk import LEAVES
from tests.databases import ON_SQLITE
from tests.guides.pages import blocks_of, page_named
from tests.judged import judge
from tests.labelled import labelled
from tests.mail_server import mail_server
from tests.web.desk import Desk

HOW = "add a line to COMMANDS of tests/cli/acts.py, or to EXEMPT with its reason"
OF_ACCOUNTS = {name for name in COMMANDS if name.startswith("account.")}
# Acts that no page has.
ADDED = ("survey study undo", *(f"survey study {name}" for name in ("release", "readmit", "erase")))
TWINS = ("by-page", "by-command")
ANOTHER = "-2"  # how the address ends of a study that an act makes
CHANCE = ("nonce", "public_id", "resume_hash", "receipt", "token_hash", "digest", "seed")
NAMES = ("item.name", "picture.name")  # random ones, for addresses
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ][0-9:.]+(\+00:00)?")


def acts_of(app):
    """The routes that take anything but GET, by endpoint, and by act where a route has several."""
    for rule in app.url_map.iter_rules():
        if rule.methods - {"GET", "HEAD", "OPTIONS"}:
            several = [c for c in rule._converters.values() if isinstance(c, AnyConverter)]
            names = [f"{rule.endpoint} {name}" for converter in several for name in converter.items]
            yield from names or [rule.endpoint]


@ON_SQLITE
def test_every_route_that_changes_data_has_a_command(app):
    acts = set(acts_of(app))
    lacking = sorted(acts - COMMANDS.keys() - EXEMPT.keys())
    assert not lacking, f"These routes change data and have no command: {lacking}; {HOW}"
    gone = sorted((COMMANDS.keys() | EXEMPT.keys()) - acts)
    assert not gone, f"tests/cli/acts.py names what is no route that changes data: {gone}"
    assert not COMMANDS.keys() & EXEMPT.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_is_there_with_its_options(name):
    words = COMMANDS[name].split()
    options = [word for word in words if word.startswith("--")]
    command = LEAVES[" ".join(word for word in words if word not in options)]
    assert {*options} <= {option for param in command.params for option in param.opts}


def test_every_command_is_compared_with_its_page():
    assert ACTS.keys() == COMMANDS.keys() - OF_ACCOUNTS, (
        "an act of COMMANDS needs an Act in ACTS of tests/cli/acts.py"
    )


ELSEWHERE = {
    "survey study new --judgements-of": "judge-a-collection.md",
    "survey study lists --qrels --run": "a draft of runs begins as one: score-runs.md",
    "survey study invite --send": "it needs a mail server: tests/cli/test_invite.py",
    "survey study invite --remind": "it needs a mail server: tests/cli/test_invite.py",
}


def test_the_guide_does_every_act():
    page = page_named("by-command.md")
    lines = [line.split() for block in blocks_of(page) for line in block.commands]
    for command in sorted({*COMMANDS.values(), *ADDED} - ELSEWHERE.keys()):
        words = {word for word in command.split() if word not in ("--invitation", "--reminder")}
        assert any(words <= {*line} for line in lines), f"{page.name} lacks {command}"


class Twins:
    """Two studies alike, of a researcher at a desk; what is done on one is compared."""

    def __init__(self, app, session, folder):
        self.app, self.session, self.folder = app, session, folder
        self.desk = Desk(app, session)
        self.ada = accounts.find_researcher(session, "Ada")
        accounts.add_researcher(session, "Bob")
        self.bob = accounts.find_researcher(session, "Bob").id

    def make(self, name):
        """Make the study, or what is needed to make it, for each twin."""
        if name == "labelled":
            study = labelled(self.app, self.session)
            accounts.share(self.session, study, self.ada, "owner")
            self.session.commit()
        elif name == "bundle":
            done = self.finished("done")
            content = b"".join(stream_bundle(self.session, done))
            (self.folder / "done.zip").write_bytes(content)
        elif name != "none":
            for slug in TWINS:
                getattr(self, name)(slug)
        self.session.rollback()

    def draft(self, slug, **changes):
        return lifecycle.create_owned_study(
            self.session, self.ada, slug, a_plan(**changes), Recruitment()
        )

    def items(self, slug):
        draft = self.draft(slug)
        path = self.folder / "before.csv"
        path.write_text("document,title,text\nd1,One,words\n")
        needed = items.needed_items(self.session, draft)
        with items.open_source(path, None, None, needed) as opened:
            items.take_in(self.session, draft, opened.files, opened.items, "Ada")

    def open(self, slug, **changes):
        study = self.draft(slug, **changes)
        lifecycle.open_study(self.session, study, "Ada", anyway="a trial")
        return study

    def shared(self, slug):
        accounts.share(self.session, self.draft(slug), self.bob_row, "viewer")
        self.session.commit()

    @property
    def bob_row(self):
        return accounts.find_researcher(self.session, "Bob")

    def guests(self, slug):
        study = self.open(slug)
        recruitment.add_guests(self.session, study, {"Ann": "ann@example.org"})
        return study

    def invited(self, slug):
        self.guests(slug)
        for guest in self.session.query(Guest):
            guest.invited_at = guest.created_at
        self.session.commit()

    def begun(self, slug):
        study = self.open(slug)
        a_ready_participant(self.session, study, f"browser of {slug}")
        return study

    def excluded(self, slug):
        study = self.begun(slug)
        lifecycle.exclude(self.session, study, self.people(study)[0], "Ada", "a trial")

    def closed(self, slug):
        lifecycle.close_study(self.session, self.begun(slug), "Ada")

    def archived(self, slug):
        self.closed(slug)
        lifecycle.archive(self.session, lifecycle.find_study(self.session, slug), "Ada")

    def finished(self, slug):
        study = self.open(slug, questions=1)
        for number in range(3):
            Visitor(self.app.test_client(), slug).go("/done", query=f"?PROLIFIC_PID=p{number}")
        self.session.rollback()
        lifecycle.close_study(self.session, study, "Ada")
        return study

    def public(self, slug):
        study = self.finished(slug)
        details = publications.Details("A title", "Ada", "CC0-1.0")
        publications.publish(self.session, study, "Ada", details)

    def judged(self, slug):
        judge(self.session, self.finished(slug), simulated="AP:0", model="simulated machine")

    def people(self, study):
        """The participants of a study, none without it."""
        wanted = Participant.study_id == (study.id if study else 0)
        return self.session.query(Participant).filter(wanted).order_by(Participant.id).all()

    def names(self, slug):
        """What braces in an act stand for."""
        study = self.session.query(Study).filter_by(slug=slug).one_or_none()
        people = self.people(study)
        guests = self.session.query(Guest).filter_by(study_id=study.id).all() if study else []
        machines = stored.machines_of(self.session, study.id) if study else []
        names = {
            **{"slug": slug, "folder": self.folder, "bob": self.bob},
            "person": people[0].public_id if people else "",
            "guest": guests[0].id if guests else "",
            "machine": machines[0].name if machines else "",
        }
        self.session.rollback()
        return names

    def by_page(self, act):
        """Fill in the form and send it, as a browser does."""
        act.write(self.folder)
        names = self.names("by-page")
        study = "/research/studies/by-page"
        page, posts = act.page.format(**names), act.posts.format(**names)
        address = posts if posts.startswith("/research") else f"{study}{posts}"
        self.desk.open(page if page.startswith("/research") else f"{study}{page}")
        form = {name: text and text.format(**names) for name, text in act.form.items()}
        self.desk.send(address, files=act.uploads(self.folder), **form)
        self.desk.response.get_data()  # a file is streamed, and the database read meanwhile
        if self.desk.page.select_one("[name=sure]"):  # the page asks back
            self.desk.send(address)
        assert self.desk.status == 200, self.desk.text
        assert not self.desk.page.select(".problems"), self.desk.text

    def by_command(self, act, run):
        """Type the command."""
        names = self.names("by-command")
        run(*(word.format(**names) for word in act.command.split()))

    def rows(self, slug, unlike=()):
        """All rows of the study and of its participants, without what differs between twins."""
        self.session.rollback()
        study = self.session.query(Study).filter_by(slug=slug).one_or_none()
        study_id = study.id if study else 0
        people = [person.id for person in self.people(study)]
        rows = {}
        for table in Base.metadata.sorted_tables:
            columns = table.c
            if table.name == "event":
                own = columns.slug.startswith(slug.removesuffix(ANOTHER))
            elif table.name == "study":
                own = columns.id == study_id
            elif {"study_id", "participant_id"} & {*columns.keys()}:
                by_study = columns.study_id == study_id if "study_id" in columns else None
                by_person = (
                    columns.participant_id.in_(people) if "participant_id" in columns else None
                )
                own = or_(
                    *(condition for condition in (by_study, by_person) if condition is not None)
                )
            else:
                continue
            selected = self.session.execute(table.select().where(own)).mappings()
            rows[table.name] = sorted(
                str(
                    {
                        c.name: self.plain(row[c.name], c, slug)
                        for c in columns
                        if c.name not in unlike
                    }
                )
                for row in selected
            )
        self.session.rollback()
        return {name: selected for name, selected in rows.items() if selected}

    def plain(self, value, column, slug):
        """What of a value is the same in both twins."""
        if (
            column.primary_key
            or column.foreign_keys
            or column.name in CHANCE
            or str(column) in NAMES
        ):
            return None
        if isinstance(column.type, DateTime):
            return value is not None
        if column.name == "plan":
            value = {name: entry for name, entry in value.items() if name != "seed"}
        text = json.dumps(value, default=str, sort_keys=True)
        text = MOMENT.sub("WHEN", text).replace(slug.removesuffix(ANOTHER), "SLUG")
        text = re.sub(r"\bP-[0-9A-Z]{8}\b", "PERSON", text)
        return re.sub(r"\b(Ada|command line)\b", "WHO", text)


@pytest.fixture
def twins(app, session, tmp_path):
    """Twins to be made."""
    return Twins(app, session, tmp_path)


@pytest.fixture
def mails(app, monkeypatch):
    """A mail server, known to the application and to commands."""
    with mail_server() as server:
        app.config.update(SMTP=server.settings, ADDRESS="https://survey.example.org")
        for name, value in {
            "HOST": "127.0.0.1",
            "PORT": str(server.server_address[1]),
            "FROM": "survey@example.org",
            "SECURITY": "none",
        }.items():
            monkeypatch.setenv(f"SURVEY_SMTP_{name}", value)
        yield server


@pytest.mark.slow
@ON_SQLITE
@pytest.mark.parametrize("name", ACTS)
def test_page_and_command_leave_the_same_rows_and_log(name, app, session, twins, run, mails):
    act = ACTS[name]
    twins.make(act.study)
    page, command = (act.new_slug.format(slug=slug) for slug in TWINS)
    before = twins.rows(page, act.unlike)
    assert before == twins.rows(command, act.unlike), "the twins are not alike"
    twins.by_page(act)
    if "send_mails" in name:  # the server sends them by and by
        with app.app_context():
            _send_due_mail(app)
            db.session.remove()
    twins.by_command(act, run)
    after = twins.rows(page, act.unlike)
    assert after != before
    assert after == twins.rows(command, act.unlike)


@ON_SQLITE
def test_accounts_are_changed_alike(app, session, twins, run):
    Desk(app, session, "Cleo")
    assert session.query(SignIn).count() == 2
    session.rollback()
    twins.desk.open("/research/account")
    twins.desk.send("/research/account/sign-out-everywhere")
    assert session.query(SignIn).count() == 1
    run("researcher", "sign-out", "cleo")
    session.rollback()
    assert session.query(SignIn).count() == 0


@ON_SQLITE
def test_the_page_and_the_command_write_the_same_links(app, twins, run, mails, tmp_path):
    twins.guests("by-page")
    twins.session.rollback()
    twins.desk.open("/research/studies/by-page/guests.csv")
    at = ("--at", "https://survey.example.org")
    run("study", "invite", "by-page", "--to", tmp_path / "links.csv", *at)
    assert (tmp_path / "links.csv").read_bytes() == twins.desk.response.get_data()
