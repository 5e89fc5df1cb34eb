"""Forms filled in as they should be: what is refused at once tests nothing of what lies behind."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.web.desk import PASSWORD, filled_in


@dataclass(frozen=True)
class AFile:
    """A file to be uploaded."""

    name: str
    content: bytes


Value = str | AFile
Fields = Mapping[str, list[Value]]

RUNS = [
    AFile(order, "".join(f"q1 Q0 d{one} 1 {-n} {order}\n" for n, one in enumerate(order)).encode())
    for order in ("129", "192", "912")
]
LISTS = b"question,list,ranks,collection_size\n1,A,1 4 9,100\n1,B,2 3 100,100\n1,C,5 6 7,100\n"
# What is written where a page leaves room, by the field's name; other fields stay empty.
TEXTS: Mapping[str, list[Value]] = {
    "active_seconds": ["12.5"],
    "again": [PASSWORD],
    "arms": ["before", "after"],
    "age": ["40"],
    "clusters": [AFile("clusters.txt", b"q1 d1 sea lion\nq1 d2 tern\n")],
    "collection_size": ["100"],
    "guests": [AFile("guests.csv", b"name\nEve\n")],
    "lists": [AFile("lists.csv", LISTS)],
    "lost": ["p<1"],
    "name": ["Bob"],
    "names": ["Carl\r\nDora"],
    "password": [PASSWORD],
    "qrels": [AFile("qrels.txt", b"q1 0 d1 1\nq1 0 d2 2\n")],
    "reason": ["a reason"],
    "runs": [*RUNS],
    "school": ["Yes"],
    "slug": ["one-more-study"],
    "topics": ["q1"],
}
PLACES: Fields = {f"rank-{letter}": [place] for letter, place in zip("ABCDE", "21345", strict=True)}
POOL: Fields = {"design": ["pool"], "per_participant": ["1"], "grades": ["1 2 3 1 1"]}
# Other ways to fill in the form that is sent to such an address.
ALSO: tuple[tuple[str, Fields], ...] = (
    (r"/(q|question)/1$", {"choice": ["own"], **PLACES}),
    (r"/q/1$", {"go": ["back"]}),
    (r"/plan$", POOL),
    (r"/plan$", {"add": ["personal_fields"]}),
    (r"/new$", {"start": ["file"]}),
    (r"/invite/guests$", {"guests": []}),
    (r"/invite/settings$", {"platform": ["prolific"]}),
)


def filled_forms(page: Any, known: Fields) -> Iterator[tuple[str, Fields, frozenset[str]]]:
    """Give the forms of a page: where each is sent, its fields filled in, and the hidden ones.

    ``known``: what is written into fields that only this survey can know, like codes.
    """
    for form in page.select("form[method=post]"):
        action = form["action"].partition("#")[0].partition("?")[0]
        texts = {**TEXTS, **known}
        if action.endswith("/delete"):
            texts["slug"] = [action.split("/")[-2]]
        if not form.select("[name=choice]"):  # places are asked for before the methods are shown
            texts |= PLACES
        fields = _filled(form, texts)
        hidden = frozenset(one["name"] for one in form.select("input[type=hidden]"))
        hidden -= {"csrf_token"}
        yield action, fields, hidden
        for pattern, changes in ALSO:
            if re.search(pattern, action):
                yield action, {**fields, **changes}, hidden


def _filled(form: Any, texts: Fields) -> dict[str, list[Value]]:
    """Fill in what stands empty: texts by their names, and the first box of each name."""
    stands = {name: value for name, value in filled_in(form).items() if value}
    filled: dict[str, list[Value]] = {
        name: value if isinstance(value, list) else [value] for name, value in stands.items()
    }
    for field in form.select("input[name], textarea[name], select[name]"):
        name, kind = field["name"], field.get("type")
        usual = texts.get(name, [""])
        if kind in ("checkbox", "radio"):
            usual = texts.get(name, [field.get("value", "y")])
        elif (kind == "file") != isinstance(usual[0], AFile):
            usual = [""]  # clusters are a file on one page and a text on another
        filled.setdefault(name, list(usual))
    return filled
