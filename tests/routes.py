"""Values for the arguments of routes, for tests that open all of them; a new one needs a line."""

from typing import Any

from werkzeug.routing import Rule

from tests.builders import SLUG

ROUTE_VALUES: dict[str, Any] = {
    "action": "close",
    "ending": "csv",
    "file": "topics.csv",
    "filename": "survey.css",
    "guest_id": 1,
    "kind": "invitation",
    "labels": "123",
    "name": "study.json",
    "page": "entry",
    "position": 1,
    "public_id": "P-NOBODY",
    "researcher_id": 1,
    "sha256": "no-sum",
    "size": "small",
    "slug": SLUG,
    "token": "no-token",
}


def address_of(rule: Rule, **values: Any) -> str:
    """Return an address of a route; ``values``: in place of those of the table."""
    known = ROUTE_VALUES | values
    missing = ", ".join(sorted(rule.arguments - known.keys()))
    route = f"the route {rule.endpoint}, {rule}"
    assert not missing, f"{route}, has no value of {missing}; tests/routes.py needs one"
    built = rule.build({name: known[name] for name in rule.arguments})
    assert built is not None, f"{route}, refuses a value of tests/routes.py"
    return built[1]
