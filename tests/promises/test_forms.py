"""Promise 5: a form survives whatever is sent."""

import re
from itertools import cycle

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.vendor.pretty import pretty

from tests.databases import ON_SQLITE
from tests.promises.callers import DRAFT, OPEN, STUDY
from tests.promises.hall import Hall
from tests.promises.material import Material
from tests.promises.naughty import HURTING, LONGEST, materials

# Where a form with files breaks off, Werkzeug leaves them to be closed with their objects.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Unclosed file <tempfile.Spooled:ResourceWarning"),
]
ON_POSTGRESQL = pytest.mark.parametrize("database_uri", ["postgresql"], indirect=True)
AT_ONCE = 15  # different materials on one round
# What is answered so was refused before anything was stored (a wrong password, 403, is counted).
CHANGE_NOTHING = {400, 404, 405, 409, 411, 413}
# A study needs an owner, and an open one cannot be deleted.
RIGHTLY_REFUSED = {
    "/research/account/second-factor",  # without the code that the phone shows
    *(f"{STUDY}/{slug}/people/1/remove" for slug in (OPEN, DRAFT)),
    *(f"{STUDY}/{slug}/invite/code" for slug in (OPEN, DRAFT)),  # for an id that no participant has
    f"{STUDY}/{OPEN}/delete",
    *(f"{STUDY}/{DRAFT}/items", "/research/new", "/research/pool"),  # without files
    f"{STUDY}/{DRAFT}/plan",  # with every box ticked: an obvious question beside grades
}


@pytest.fixture
def hall(app, session, engine):
    made = Hall(app, session, engine)
    yield made
    made.leave()


class Knocking:
    """Requests sent, and how they were answered."""

    def __init__(self, hall):
        self.hall, self.answers, self.taken = hall, {}, 0

    def send(self, door, sent, fields, unforgotten=0):
        """Send a request; what more than so many forms changed is forgotten."""
        status = self.hall.knock(door, sent, fields).status_code
        self.answers[status] = self.answers.get(status, 0) + 1
        assert status < 500, (door, sent)
        self.taken += door.method == "POST" and status not in CHANGE_NOTHING
        if self.taken > unforgotten:
            self.hall.forget()
            self.taken = 0

    def go_round(self, places, rounds, **kept):
        """Send generated requests to each (door, fields), some materials at a time."""

        # Not shrunk: a round takes seconds, and the door that failed is named with what it got.
        # All different, or the first round would be the simplest request to everybody.
        @settings(
            max_examples=rounds, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
        )
        @given(st.lists(materials, min_size=AT_ONCE, max_size=AT_ONCE, unique_by=repr))
        def one_round(drawn):
            for (door, fields), sent in zip(places, cycle(drawn), strict=False):
                self.send(door, sent, fields, **kept)

        one_round()
        self.hall.forget()

    def go_round_doors(self, rounds):
        self.go_round([(door, {}) for door in self.hall.doors], rounds, unforgotten=25)

    def go_round_forms(self, rounds):
        self.go_round([(form.door, form.fields) for form in self.hall.forms], rounds)

    def hurt_each(self, field_of):
        """Put each value that hurts into each field, one at a time.

        ``field_of``: a form and a name in it → what counts as the same field; None is left out.
        """
        known = {None}
        for form in self.hall.forms:
            for number, name in enumerate(form.fields):
                field = field_of(form, name)
                if field in known:
                    continue
                known.add(field)
                for value in HURTING:
                    self.send(form.door, Material(changes=[(number, [value])]), form.fields)

    def told(self):
        doors, forms = len(self.hall.doors), len(self.hall.forms)
        counts = ", ".join(
            f"{count:,} × {status}" for status, count in sorted(self.answers.items())
        )
        return (
            f"{sum(self.answers.values()):,} generated requests to {doors} doors and {forms} "
            f"filled-in forms were answered {counts}"
        )


def hidden_field(form, name):
    """What people do not type is read alike wherever it stands."""
    return name if name in form.hidden else None


def any_field(form, name):
    """Tokens are the same everywhere, and one row of a table is like the next."""
    return name if name == "csrf_token" else (form.door.rule, re.sub(r"\d+", "", name))


@ON_SQLITE
def test_every_form_is_taken_as_it_is_filled_in(hall):
    refused = set()
    for form in hall.forms:
        if hall.knock(form.door, Material(), form.fields).status_code >= 400:
            refused.add(form.door.address())
        hall.forget()
    assert refused == RIGHTLY_REFUSED


def test_fifteen_of_the_longest_requests_are_told_in_few_words():
    value = b"\xff" * LONGEST
    longest = Material(
        changes=[(60, [value] * 3)] * 3,
        extra={"csrf_token": value, "choice": value},
        body=value,
        path=value,
        query=value,
        headers={"Accept-Language": "x" * LONGEST},
    )
    assert len(pretty([longest] * AT_ONCE)) < 30_000  # beyond, hypothesis warns


@ON_SQLITE
def test_whatever_is_sent_to_any_address_is_answered_without_a_fault(hall, measured):
    knocking = Knocking(hall)
    knocking.go_round_doors(rounds=1)
    knocking.go_round_forms(rounds=1)
    knocking.hurt_each(hidden_field)
    measured(knocking.told())


@pytest.mark.trial
@ON_SQLITE
def test_twenty_thousand_generated_requests_are_answered_without_a_fault(hall, measured):
    knocking = Knocking(hall)
    knocking.go_round_doors(rounds=8)
    knocking.hurt_each(any_field)
    left = 20_000 - sum(knocking.answers.values())
    knocking.go_round_forms(rounds=left // len(hall.forms) + 1)
    assert sum(knocking.answers.values()) >= 20_000
    measured(knocking.told())


@pytest.mark.trial
@ON_POSTGRESQL
def test_postgresql_answers_generated_requests_without_a_fault(hall, measured):
    knocking = Knocking(hall)
    knocking.go_round_forms(rounds=12)
    knocking.hurt_each(hidden_field)
    measured(f"PostgreSQL: {knocking.told()}")
