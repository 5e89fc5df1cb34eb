"""Opening every address that a participant can reach, in every way, wherever they are."""

from collections.abc import Iterator
from typing import Any

from flask import Flask
from werkzeug.routing import Rule

from tests.builders import Visitor
from tests.routes import address_of

NONSENSE = {
    "choice": ["1", "x"],
    "settle": "x",
    "better": "x",
    "rank-A": "99",
    "submission_key": "x",
    "agree": "y",
    "personal_age": "x",
    "age": "x",
    "code": "nonsense",
}
POSITIONS = (0, 1, 3, 99)  # none, the first, the last, more than there are
TOO_LONG = "x" * 80_000


def rules_of(app: Flask, blueprint: str) -> Iterator[Rule]:
    """The routes of a blueprint."""
    for rule in app.url_map.iter_rules():
        if rule.endpoint.partition(".")[0] == blueprint:
            yield rule


def addresses(rule: Rule, **values: Any) -> list[str]:
    """The addresses of a route, with every number of a question there may be."""
    if "position" not in rule.arguments:
        return [address_of(rule, **values)]
    return [address_of(rule, **{**values, "position": position}) for position in POSITIONS]


def sweep(visitor: Visitor) -> None:
    """Open every page of the study from where this visitor is.

    Nothing is changed by it: what is sent carries no token.
    """
    slug, client = visitor.home.removeprefix("/s/"), visitor.client
    for rule in rules_of(client.application, "participant"):
        for address in addresses(rule, slug=slug):
            if "GET" in (rule.methods or ()):
                client.get(address)
                client.head(address)
            if "POST" in (rule.methods or ()):
                client.post(address, data=NONSENSE)
    client.put(visitor.home)
    client.options(visitor.home)
    client.get(f"{visitor.home}/no-such-page")
    client.post(f"{visitor.home}/q/1", data={"choice": TOO_LONG})
