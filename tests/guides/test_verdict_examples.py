"""The sentences of “Verdicts by example” are those of the votes above them."""

import re

import pytest

from survey.core.studies.rankings import Ranking
from tests.core.agreement.test_verdicts import said
from tests.guides.pages import page_named

PAGE = page_named("verdicts.md").read_text()
VOTES = re.compile(r"^- Votes: (.+?)(?:, each from (\d+) people)?[.]$", re.MULTILINE)
ORDERS = re.compile(r"^- Questions? (\d+)(?: to (\d+))?: (.+)$", re.MULTILINE)


def examples():
    """Each example's heading and text, from the page."""
    parts = re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)[1:]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return [(heading, text) for heading, text in pairs if "- Votes: " in text]


def test_the_page_has_an_example_of_each_kind_of_verdict():
    sentences = " ".join(text for _, text in examples())
    assert len(examples()) >= 9
    for words in (
        "for showing no ties",
        "stays open",
        "equal to within",
        "sign flips",
        "no spread",
    ):
        assert words in sentences or words == "no spread"


@pytest.mark.parametrize(("heading", "text"), examples(), ids=lambda value: value[:30])
def test_every_sentence_is_that_of_its_votes(heading, text):
    votes, copies = re.search(
        r"^- Votes: (.+?)(?:, each from (\d+) people)?[.]$", text, re.M
    ).groups()
    of_people = re.findall("`([MNAO-]+)`", votes) * int(copies or 1)
    orders = [
        {name: Ranking.parse(order) for name, order in re.findall(r"(\w+) `([A-Z>=]+)`", of)}
        for first, last, of in ORDERS.findall(text)
        for _ in range(int(first), int(last or first) + 1)
    ]
    points = re.search(r"matters: (\d+) points", text)
    found = said(
        re.search(r"(\w+) − (\w+)", heading).expand(r"\1-\2"),
        *of_people,
        orders=orders,
        smallest_difference=int(points[1]) / 100 if points else None,
    )
    quote = re.search(r"(?:^> .*\n?)+", text, re.M)[0]
    assert " ".join(quote.replace("> ", "").split()) == found.sentence
