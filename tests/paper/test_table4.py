"""What Table 4 supports: the verdicts on the paper's sentences, and the numbers they give."""

from dataclasses import replace

import pytest

from survey.paper.set_level import set_level
from survey.paper.table4 import (
    claims_of_table4,
    published_counts,
    recount,
    table4,
)

AT_SPREADS = "By this product's test p = .015 at 15 points, .026 at 20, .047 at 25, .053 at 26."
AT_MOST = "if people's own leads differ by a standard deviation of at most 25 points"
BY_SETS = "By sets MNRO is first or tied in 9 of 10 (alone in 5); by answers in 45 of 100."
GOLDEN = [
    (
        "MNRO is preferred to AP",
        "holds",
        ("+45", "+9.3", "8 sets won, 0 lost", "p = .023", AT_SPREADS),
    ),
    (
        "MNRO is preferred to NMRR",
        "not supported",
        ("+26 votes, where random clicks would give +18", "−6.1 to 23.5", "p = .234"),
    ),
    ("NMRR is preferred to AP", "not supported", ("+19", "7 sets won, 2 lost, 1 even", "p = .477")),
    (
        "closer to the user preferences",
        "holds in part",
        (
            "supported over AP and not supported over NMRR, as the comparisons above show.",
            f"Over AP it holds {AT_MOST}",
        ),
    ),
    ("In total AP has 90 votes", "holds", ("354, counts credits", "300 responses")),
    (
        "by the majority of users in almost all",
        "holds in part",
        (BY_SETS, "in 2 of 10 sets (sets 3 and 4)"),
    ),
    ("Some rows exceed 30", "holds", ("add up to 50, 50 and 44", "every row is 30")),
    (
        "25.42% of the times",
        "holds in part",
        ("354 credits", "300 responses", "MNRO in 45.0 %", "36.0 %", "38.6 %"),
    ),
    ("“may confirm” a high correlation", "not supported", ("p = .477", "p = .234")),
    ("NMRR exceeds AP in votes", "holds", ("more votes in 7 sets, AP in 2, and 1 is even",)),
    ("AP is in first place in only 2 sets", "holds", ("sets 3 and 9", "In set 9 NMRR has as many")),
    (
        "in 90% of the sets",
        "holds in part",
        ("first or tied in 9 of 10 sets, but alone in 5", "4.7 sets", "p = .011", "p = .136"),
    ),
    ("mainly due to the common way", "not supported", ("Counts do not show why",)),
    ("is the second choice", "holds in part", ("135, 109, 90", "p = .477")),
    (
        "the precedence of the MNRO over the NMRR",
        "not supported",
        ("+12 without set 3 and +35 without set 10",),
    ),
    ("further research", "holds", ("−6.1 to 23.5 points",)),
    ("in the vast majority of the cases", "holds in part", (BY_SETS, "36.0 % to 45.0 %")),
]


@pytest.mark.parametrize(("index", "golden"), list(enumerate(GOLDEN)))
def test_the_verdict_on_each_sentence_and_its_numbers(index, golden):
    claim = table4().claims[index]
    statement, verdict, numbers = golden
    assert statement in claim.statement
    assert claim.verdict == verdict
    for number in numbers:
        assert number in claim.why


def test_there_is_no_claim_without_a_golden_verdict():
    assert len(table4().claims) == len(GOLDEN)


def test_verdicts_come_from_the_counts_and_not_by_heart():
    counts = published_counts()
    rows = [(ap, mnro, nmrr, other) for ap, nmrr, mnro, other in counts.votes]
    exchanged = replace(
        counts,
        votes=tuple(rows),
        identical={3: ("AP", "NMRR"), 4: ("NMRR", "MNRO"), 9: ("AP", "NMRR")},
    )
    claims = claims_of_table4(*recount(counts), set_level(exchanged))[:3]
    assert [claim.verdict for claim in claims] == ["not supported", "not supported", "holds"]
    assert [claim.condition for claim in claims] == ["", "", AT_MOST]
    assert [claim.condition for claim in table4().claims[:3]] == [AT_MOST, "", ""]


def test_the_markdown_has_a_row_for_each_claim_and_pair():
    text = table4().documents["table4-claims.md"]
    rows = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(rows) == (1 + len(GOLDEN)) + (1 + 11) + (1 + 4) + (1 + 3) + (1 + 9) + (1 + 3)
    for block in text.split("\n\n"):
        assert len({line.count("|") for line in block.splitlines()}) == 1


def test_every_statistic_in_the_json_names_its_estimand_and_how_much_it_rests_on():
    def statistics(content):
        if isinstance(content, dict):
            if {"p", "p_upper", "sign_p", "p_at_least"} & content.keys():
                yield content
            for inner in content.values():
                yield from statistics(inner)
        elif isinstance(content, list):
            for inner in content:
                yield from statistics(inner)

    statistics_in_json = list(statistics(table4().as_json()["set_level"]))
    assert len(statistics_in_json) == 3 * (1 + 3 * 2) + 3 + 3
    assert all(
        {"estimand", "n", "left_out"} <= statistic.keys() for statistic in statistics_in_json
    )
