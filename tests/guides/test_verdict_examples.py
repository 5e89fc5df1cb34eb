"""The sentences of “Verdicts by example” are those of the votes above them."""

import re

import pytest

from survey.core.agreement.anchoring import ANSWER, BEFORE, NEAREST, NEVER, anchoring_of
from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.verdicts import early_looks
from survey.core.statistics.sequential import look_levels
from survey.core.statistics.significance import LEVEL, p_text
from survey.core.studies.rankings import Ranking
from tests.core.agreement.test_verdicts import MEASURES, answers_of, said
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
    sentences = " ".join(" ".join(text for _, text in examples()).replace("\n> ", " ").split())
    assert len(examples()) >= 9
    for words in (
        "for showing no ties",
        "stays open",
        "equal to within",
        "sign flips",
        "which planned looks leave",
    ):
        assert words in sentences


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
    look = re.search(r"after (\d+) of (\d+) people", text)
    found = said(
        re.search(r"(\w+) − (\w+)", heading).expand(r"\1-\2"),
        *of_people,
        orders=orders,
        smallest_difference=int(points[1]) / 100 if points else None,
        level=look_levels([int(look[1]) / int(look[2])], LEVEL)[-1] if look else LEVEL,
    )
    quote = re.search(r"(?:^> .*\n?)+", text, re.M)[0]
    assert " ".join(quote.replace("> ", "").split()) == found.sentence


def test_the_sentence_on_a_look_is_that_of_the_report():
    unplanned = early_looks([{"participants": 7, "reason": "a pilot"}], LEVEL)
    assert unplanned in " ".join(PAGE.replace("\n> ", " ").split())


def test_the_rows_on_anchoring_are_those_of_its_answers():
    text = PAGE.partition("anchoring\n")[2]
    [(_, _, orders)] = ORDERS.findall(text)
    of_question = {name: Ranking.parse(o) for name, o in re.findall(r"(\w+) `([A-Z>=]+)`", orders)}
    rankings = dict.fromkeys(range(1, 8), of_question)
    seen, unseen = (
        re.findall(r"`([A-Z>=]+)`", line)
        for line in re.findall(r"^- Arm (.+)$", text, re.MULTILINE)
    )
    never = Answers.of(
        Response(f"P{person}", question, MEASURES, own=Ranking.parse(ordering))
        for person, ordering in enumerate(unseen)
        for question in rankings
    )
    groups = {(BEFORE, ANSWER): answers_of(*seen), (NEVER, ANSWER): never}
    compared = [
        each
        for each in anchoring_of(groups, rankings, MEASURES).differences
        if each.statistic == "tau_b" and each.measure in ("MNRO", NEAREST)
    ]
    assert len(compared) == 2
    for each in compared:
        numbers = [f"{number:.3f}".replace("-", "−") for number in (each.mean, *each.ci95)]
        p_values = (p_text(p).removeprefix("p = ") for p in (each.p, each.p_holm))
        cells = [each.measure, *numbers, *p_values]
        assert f"| before, answer − never, answer | {' | '.join(cells)} |" in text
