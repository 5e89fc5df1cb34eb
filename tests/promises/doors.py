"""The survey's doors: every method of every address, and every form that somebody sees."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote_from_bytes

from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from werkzeug.routing import Map

from tests.promises.seemly import Fields, filled_forms

VARIABLE = r"<(?:[^<>]*:)?(\w+)>"
SAMPLES = {
    **{"action": "open", "labels": "123", "name": "votes.csv", "public_id": "P-NOBODY00"},
    **{"guest_id": "1", "researcher_id": "2"},
    **{"size": "small", "ending": "csv"},
}


@dataclass(frozen=True)
class Caller:
    """Somebody with a browser and a cookie, the part of the survey they are in, their studies."""

    who: str
    cookie: str
    client: FlaskClient
    part: str
    slugs: tuple[str, ...]


@dataclass(frozen=True)
class Door:
    """One method of one address, for one who comes there with a cookie."""

    who: str
    cookie: str = field(repr=False)
    method: str
    rule: str
    values: Mapping[str, str]

    def address(self, path: bytes = b"") -> str:
        """Return the address, with something else in place of its last variable part."""
        parts = re.findall(VARIABLE, self.rule)
        known = dict(self.values)
        if path and parts:
            known[parts[-1]] = quote_from_bytes(path, safe="")
        return re.sub(VARIABLE, lambda one: known.get(one[1], "1"), self.rule)


@dataclass(frozen=True)
class SeenForm:
    """A form that somebody sees, filled in as it should be."""

    door: Door
    fields: Fields
    hidden: frozenset[str]


def every_door(addresses: Map, callers: Iterable[Caller]) -> Iterator[Door]:
    """Give all doors at which these can knock; whoever has no cookie tries every method."""
    for caller in callers:
        for rule in addresses.iter_rules():
            if rule.rule.startswith(caller.part):
                # HEAD and OPTIONS look the same to everybody.
                wanted = {"GET", "POST"} if caller.cookie else rule.methods
                slugs = caller.slugs if "<slug>" in rule.rule else caller.slugs[:1]
                for method in sorted(wanted & rule.methods):
                    for slug in slugs:
                        values = {"slug": slug, **SAMPLES}
                        yield Door(caller.who, caller.cookie, method, rule.rule, values)


def every_form(
    addresses: Map, caller: Caller, pages: Iterable[str], known: Fields
) -> Iterator[SeenForm]:
    """Give the forms on these pages, once for each address that they are sent to.

    ``known``: what is written into fields that only this survey can know, like codes.
    """
    seen: set[str] = set()
    for page in pages:
        response = caller.client.get(page)
        if response.mimetype == "text/html":
            found = list(filled_forms(BeautifulSoup(response.text, "html.parser"), known))
            for action, fields, hidden in found:
                if action not in seen:
                    rule, given = addresses.bind("localhost").match(action, "POST", True)
                    values = {name: str(value) for name, value in given.items()}
                    door = Door(caller.who, caller.cookie, "POST", rule.rule, values)
                    yield SeenForm(door, fields, hidden)
            seen |= {action for action, _, _ in found}
