"""What is said of annotators' agreement: headline, chip, rows and gists, word for word."""

from dataclasses import replace

import pytest

from survey.core.agreement.judgement_order import order_changes
from survey.core.agreement.topic_alpha import AlphaOverTopics, AnnotatorKappa, TopicAlpha
from survey.services.analysis.label_agreement import (
    ALL_MERGED,
    agreement_chip,
    agreement_headline,
    agreement_method,
    agreement_note,
    agreement_rows,
    alpha_figure,
    kappas_gist,
    orders_gist,
    topics_gist,
)
from tests.tasks.test_labelling import Annotator, LabelResults, merged

TOPICS = (
    TopicAlpha("stripes", 60, 0.53, (0.29, 0.7)),
    TopicAlpha("checks", 60, 0.51, (0.29, 0.66)),
    TopicAlpha("dots", 57, 0.35, (0.15, 0.52)),
    TopicAlpha("clouds", 60, 0.0, (-0.09, 0.10)),
)
PEOPLE = tuple(
    AnnotatorKappa(name, kappa, 0.3, 0.85)
    for name, kappa in (("P-XBE9", 0.49), ("P-8RK7", 0.47), ("P-9E3G", 0.45), ("P-CTW7", 0.44))
)
AGREED = AlphaOverTopics(0.35, (0.24, 0.43), "documents", 237, 4, TOPICS, PEOPLE, None)


def with_interval(alpha, low, high, sampled="topics"):
    return replace(AGREED, alpha=alpha, ci95=(low, high), sampled=sampled)


@pytest.mark.parametrize(
    ("agreed", "headline", "reach"),
    [
        (
            with_interval(0.86, 0.82, 0.89),
            "The 4 annotators agree well: alpha .86 (.82 to .89).",
            "You may generalise to new queries",
        ),
        (
            with_interval(0.74, 0.67, 0.81),
            "The 4 annotators agree well enough for tentative conclusions: alpha .74 (.67 to .81).",
            "You may generalise to new queries",
        ),
        (
            AGREED,
            "The 4 annotators do not agree well enough: alpha .35 (.24 to .43).",
            "Only for these queries",
        ),
        (
            with_interval(0.02, -0.05, 0.1),
            "The 4 annotators agree no better than chance: alpha .02 (−.05 to .10).",
            "You may generalise to new queries",
        ),
        (
            with_interval(0.7, 0.5, 0.85),
            "Whether the 4 annotators agree well enough is not decided: alpha .70 (.50 to .85).",
            "Not decided",
        ),
    ],
)
def test_the_headline_and_how_far_it_holds(agreed, headline, reach):
    assert agreement_headline(agreed, 4) == headline
    chip = agreement_chip(agreed)
    assert chip.text == reach
    assert (chip.tone == "low") == ("not agree" in headline or "chance" in headline)


def test_the_rows_are_weakest_topic_others_merged_and_annotators():
    assert [*map(str, agreement_rows(AGREED))] == [
        "clouds: no better than chance, .00 (−.09 to .10).",
        "stripes, checks, dots: .53, .51 and .35. None reaches .667.",
        "All four merged: alpha .68. For .80 you need 8 annotators.",
        "No annotator differs (kappa .44 to .49, p = .850).",
    ]
    one_differs = AnnotatorKappa("P-9E3G", 0.12, 0.001, 0.004)
    people = (PEOPLE[0], PEOPLE[1], one_differs, PEOPLE[3])
    assert str(agreement_rows(replace(AGREED, by_annotator=people))[-1]) == (
        "P-9E3G differs: kappa .12 (others .44 to .49, p = .004)."
    )
    two_differ = replace(one_differs, annotator="P-CTW7", kappa=0.2)
    people = (PEOPLE[0], PEOPLE[1], one_differs, two_differ)
    assert str(agreement_rows(replace(AGREED, by_annotator=people))[-1]) == (
        "P-9E3G and P-CTW7 differ: kappa .12 to .20 (others .47 to .49, p = .004 at most)."
    )


def test_what_alpha_and_kappa_are_is_said_where_they_are():
    assert agreement_note(AGREED) == (
        "Alpha, of all annotators, and kappa, of one with the majority of the others: 1 is full "
        "agreement, 0 chance."
    )
    without_kappas = replace(AGREED, by_annotator=())
    assert agreement_note(without_kappas) == "Alpha: 1 is full agreement, 0 chance."
    assert agreement_note(replace(AGREED, alpha=None)) == ""


def test_of_many_topics_the_others_are_told_together():
    good = [TopicAlpha(str(n), 20, 0.6 + n / 100, (0.5, 0.9)) for n in range(12)]
    chance = [TopicAlpha(f"c{n}", 20, n / 100, (-0.2, 0.3)) for n in range(5)]
    rows = agreement_rows(replace(AGREED, by_topic=(*good, *chance)))
    assert [*map(str, rows[:2])] == [
        "c0, c1, c2 and 2 more: no better than chance, .00 to .04.",
        "12 others: .60 to .71. 5 reach .667.",
    ]
    rows = agreement_rows(replace(AGREED, by_topic=tuple(good)))
    assert str(rows[0]) == "0: the lowest, .60 (.50 to .90)."


def test_folded_parts_have_their_numbers_and_the_figure_its_caption():
    assert topics_gist(AGREED) == "0 of 4 queries reach .80, 0 reach .667"
    assert kappas_gist(AGREED) == "0 of 4 annotators differ"
    figure = alpha_figure(AGREED, 4)
    assert [row[0] for row in figure.rows] == [
        "all queries",
        *("stripes", "checks", "dots", "clouds"),
    ]
    assert figure.note.startswith("Agreement of 4 annotators on 237 documents of 4 queries: ")
    assert "2,000 bootstrap samples of documents within topics" in agreement_method(AGREED)


def test_where_runs_are_known_it_is_told_whether_they_keep_their_order():
    labels = [{"red": {f"red-{n}": int(n < 3 + who) for n in range(8)}} for who in range(2)]
    annotators = [Annotator(f"P{who}", each, 0.0) for who, each in enumerate(labels)]
    values = {
        ALL_MERGED: {"one": 0.5, "two": 0.4},
        "P0": {"one": 0.5, "two": 0.4},
        "P1": {"one": 0.3, "two": 0.4},
    }
    results = LabelResults(annotators, merged(labels, ["P0", "P1"]), {}, run_values=values)
    [section] = [each for each in results.sections if each.name == "orders"]
    assert section.gist == "judgements of 1 of 2 annotators change their order"
    assert results.as_json()["run_orders"] == [
        {"annotator": "P0", "tau_b": 1, "swaps": []},
        {"annotator": "P1", "tau_b": -1, "swaps": [["one", "two"]]},
    ]
    [sheet] = [each for each in results.sheets if each.name == "orders"]
    assert sheet.rows[1] == ("P1", -1, 1, "two above one")
    assert orders_gist(order_changes(values[ALL_MERGED], {})) == (
        "judgements of 0 of 0 annotators change their order"
    )
