"""Promise 4: everybody may do what their role allows, and nothing else."""

from datetime import timedelta

import pytest
from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.routing import RequestRedirect

from survey.app import db
from survey.db.models import SignIn
from tests.promises.cast import CANARY, ROLES, SIGNED_IN, as_told, csrf_of
from tests.promises.permissions import ROWS

pytestmark = pytest.mark.slow


def rule_of(world, row):
    """The rule and method of the URL map that a row is about; None where there is none."""
    path = world.address_of(row).partition("?")[0]
    try:
        rule, _ = world.app.url_map.bind("localhost").match(path, row.method, return_rule=True)
    except (NotFound, MethodNotAllowed, RequestRedirect):
        return None
    return rule.rule, row.method


def test_every_route_and_method_is_in_the_table(world):
    there = {
        (rule.rule, method)
        for rule in world.app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    assert there - {rule_of(world, row) for row in ROWS} == set()
    assert {method for _, method in there} == {"GET", "POST"}


def test_every_row_of_the_table_is_about_a_route(world):
    assert [row for row in ROWS if rule_of(world, row) is None] == []


def test_what_a_request_changes_is_seen(world):
    world.restore()
    assert world.content() == world.before
    with world.app.app_context():
        db.session.query(SignIn).first().confirmed_at -= timedelta(seconds=1)
        db.session.commit()
        db.session.remove()
    assert world.content() != world.before
    world.restore()
    assert world.content() == world.before


@pytest.mark.parametrize("role", ROLES)
def test_every_cell_is_answered_as_the_table_says(world, role):
    world.restore()
    client, wrong, before = world.client(role), [], world.before
    for row in ROWS:
        answer = world.send(client, row)
        if as_told(answer) != row.answers[role]:
            wrong.append((row.method, row.address, row.answers[role], as_told(answer)))
        _require_no_more_than_is_due(row, role, answer.get_data().decode(errors="replace"))
        if world.content() != before:
            assert row.method == "POST", f"{row} changed something"
            assert not row.refuses(role), f"{row} changed something"
            world.restore()
        if row.method == "POST":
            client = world.client(role)  # it may have been signed in or out
    assert wrong == []


def _require_no_more_than_is_due(row, role, body):
    """Nothing of a study to strangers, and to viewers no guests, whose links let someone in."""
    if row.address.startswith("/research") and role not in ("viewer", "owner"):
        assert CANARY["my"] not in body, row
    assert CANARY["their"] not in body or role == "stranger", row
    assert f"{CANARY['my']} guest" not in body or role == "owner", row


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS"])
@pytest.mark.parametrize("role", ROLES)
def test_other_methods_tell_no_more_than_get(world, role, method):
    world.restore()
    client = world.client(role)
    for row in ROWS:
        answer = world.send(client, row, method)
        assert answer.get_data() == b"" or answer.status_code >= 300, row
        assert CANARY["their"] not in answer.get_data(as_text=True) or role == "stranger"
        if method == "HEAD" and row.method == "GET":
            assert as_told(answer) == row.answers[role], row
        assert answer.status_code < 500
    assert world.content() == world.before


@pytest.mark.trial
def test_looking_changes_nothing(world, measured):
    """But for ``sign_in.last_seen_at``: that a researcher was there, for the idle end."""
    looks = [row for row in ROWS if row.method == "GET"]
    noted = set()
    for role in ROLES:
        world.restore()
        client, seen = world.client(role), last_seen(world)
        for row in looks:
            world.send(client, row)
        assert world.content() == world.before
        if last_seen(world) != seen:
            noted.add(role)
    assert noted == set(SIGNED_IN)
    routes, cells = len({rule_of(world, row) for row in ROWS}), len(ROWS) * len(ROLES)
    measured(
        f"{len(ROWS)} rows for {routes} routes and methods × {len(ROLES)} roles = {cells:,} cells "
        f"requested, each answered as the table says; after {len(looks) * len(ROLES):,} times GET, "
        "and as many HEAD and OPTIONS, no table had changed but for the time a signed-in "
        "researcher was last seen."
    )


def last_seen(world):
    with world.app.app_context():
        seen = {one.id: one.last_seen_at for one in db.session.query(SignIn)}
        db.session.remove()
    return seen


@pytest.mark.parametrize("token", ["none", "another browser's", "made up"])
@pytest.mark.parametrize("role", ROLES)
def test_a_form_without_its_token_changes_nothing(world, role, token):
    world.restore()
    client, stranger = world.client(role), world.client("anonymous")
    foreign = {"another browser's": csrf_of(stranger), "made up": "x.y.z"}.get(token, "")
    for row in ROWS:
        # Signing out needs no token: another site's form comes without the session's cookie.
        if row.method == "POST" and row.address != "/research/sign-out":
            world.send(client, row, csrf=foreign)
            assert world.content() == world.before, row
