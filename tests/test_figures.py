"""Figures: drawn from their exhibits, the same bytes each time, readable without seeing them."""

import re
from dataclasses import replace
from html import unescape
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.stats
from matplotlib import rc_context, rcParams
from matplotlib.text import Text

from survey import figures
from survey.core.agreement.agreement import analyse_answers
from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.credits import Ballots, tally_credits
from survey.core.agreement.second_opinion import second_opinions
from survey.core.collections.curves import curves_of
from survey.core.collections.evaluation import evaluate
from survey.core.collections.runs import GroundTruth
from survey.core.measures import MEASURES as REGISTRY
from survey.core.statistics.significance import mean_ci95
from survey.figures import analysis, answers, curves, judging, paper
from survey.figures.analysis import (
    analysis_exhibits,
    pairwise_differences,
    participants_differences,
    shares_with_intervals,
)
from survey.figures.exhibit import COLOURS, GREY, STYLE, Exhibit
from survey.figures.paper import triangles
from survey.paper.catalogue import REPRODUCTIONS
from tests.core.agreement.cases import MEASURES, rankings, responses
from tests.core.agreement.random_votes import credits_of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("name", "drawn_by"), [("shares", "analysis._shares"), ("figure1", "paper._known_item")]
)
def test_a_drawing_from_outside_under_a_name_that_is_taken_is_refused(name, drawn_by):
    def my_drawing(axes, exhibit):
        raise AssertionError

    mine = "tests.test_figures.*my_drawing needs another name"
    fault = f"'{name}' .* survey.figures.{drawn_by}; .* {mine}"
    with pytest.raises(ValueError, match=fault):
        figures.DRAWINGS[name] = (my_drawing, lambda _: 1.5)
    with pytest.raises(ValueError, match=fault):
        figures.DRAWINGS.update({name: (my_drawing, lambda _: 1.5)})
    assert name not in figures.DRAWINGS


def test_an_exhibit_with_a_kind_is_drawn_by_it_whatever_its_name(monkeypatch):
    def draw(axes, exhibit):
        axes.set_title("drawn by its kind")

    monkeypatch.setitem(figures.DRAWINGS, "mine", (draw, lambda _: 1.5))
    exhibit = Exhibit("figure1", "Mine", ("a",), ((1,),), "A figure.", kind="mine")
    assert figures.can_draw(exhibit)
    assert "drawn by its kind" in figures.as_svg(exhibit)


@pytest.fixture(scope="module")
def shown():
    """The exhibits of the small case, with times."""
    timed = [
        Response(
            response.participant,
            response.question,
            response.label_order,
            response.clicked,
            response.own,
            response.column_order,
            position=response.question,
            seconds=10.0 + response.question,
        )
        for response in responses()
    ]
    answers = Answers.of(timed)
    credits = tally_credits(Ballots.of(answers, rankings(), MEASURES))
    opinion = second_opinions(credits, answers.people.tolist())[0]
    agreement = analyse_answers(answers, rankings(), MEASURES, asked=4)
    drawn = (*analysis_exhibits(agreement), participants_differences(opinion, 1))
    return {exhibit.kind or exhibit.name: exhibit for exhibit in drawn}


@pytest.fixture(scope="module")
def graphs():
    """The graphs of eight runs of three queries."""
    rng = np.random.default_rng(2)
    names = [f"d{number}" for number in range(40)]
    relevant = {"q1": names[:3], "q2": names[:9], "q3": names[5:7]}
    runs = {
        f"run{number}": {
            topic: dict(zip(rng.permutation(names)[:30], -np.arange(30.0), strict=True))
            for topic in relevant
        }
        for number in range(8)
    }
    truth = GroundTruth(
        {topic: dict.fromkeys(documents, 1) for topic, documents in relevant.items()},
        clusters={"q1": {name: frozenset(name) for name in relevant["q1"]}},
    )
    drawn = curves.graph_exhibits(curves_of(truth, runs, tuple(relevant), 40))
    return {exhibit.name: exhibit for exhibit in drawn}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in curves.FIGURES if name != "run-means"])
def test_a_graph_of_runs_has_a_line_for_each_run_and_words(graphs, name):
    assert list(graphs) == list(curves.FIGURES)[1:]
    exhibit = graphs[name]
    (axes,) = figures.draw(exhibit).axes
    labels = [line.get_label() for line in axes.get_lines() if line.get_label()[0] != "_"]
    assert labels == [f"run{number}" for number in range(8)]
    looks = {
        (line.get_color(), line.get_linestyle(), line.get_marker())
        for line in axes.get_lines()
        if line.get_label() in labels
    }
    assert name == "precision-by-generality" or len(looks) == 8
    assert "run7" in exhibit.alternative
    root = ElementTree.fromstring(figures.as_svg(exhibit))
    assert root.find(f"{SVG}desc").text == exhibit.alternative
    assert figures.render(exhibit, "svg") == figures.render(exhibit, "svg")


@pytest.mark.slow
def test_a_run_of_any_name_has_its_line_in_the_legend():
    names = ["_run", "$x", "a$b$c^d_e", "<b>&", "a: b", "long" * 10]
    truth = GroundTruth({"q": {"a": 1}}, clusters={"q": {"a": frozenset("x")}})
    runs = {name: {"q": {"a": 1.0}} for name in names}
    for exhibit in curves.graph_exhibits(curves_of(truth, runs, ("q",), 10)):
        root = ElementTree.fromstring(figures.as_svg(exhibit))
        texts = ["".join(each.itertext()).strip() for each in root.iter(f"{SVG}text")]
        assert {*names[:-1], f"{names[-1][:23]}…"} <= {*texts}


def test_a_graph_that_needs_the_size_of_the_collection_is_empty_without():
    truth = GroundTruth({"q": {"a": 1}})
    drawn = curves.graph_exhibits(curves_of(truth, {"one": {"q": {"a": 1.0}}}, ("q",)))
    assert [(each.name, each.why is None) for each in drawn] == [
        ("precision-recall-11", True),
        ("precision-recall", True),
        ("roc", False),
        ("precision-by-generality", False),
    ]


JUDGED = {
    exhibit.name: exhibit
    for exhibit in (
        judging.agreement_by_topic(
            "Agreement",
            ("Jaccard", "alpha"),
            [
                *((f"$t_{n}$" * 9, n / 50, None if n % 2 else n / 60) for n in range(50)),
                ("x", None, 1),
            ],
            "Of each query.",
        ),
        judging.gain_by_round(("both", "marked"), [(0, 0.1, 0.1), (1, 0.3, 0.2)]),
    )
}


def test_agreement_with_preferences_shows_intervals_and_where_chance_is():
    rows = [
        ("AP", 0.7, (0.6, 0.8), (0.65, 0.75)),
        ("RR", 0.4, None, (0.3, 0.5)),
        ("ties", *[None] * 3),
    ]
    exhibit = judging.preferences_agreeing(rows)
    assert exhibit.rows[1] == ("RR", 40, None, None, 30, 50)
    words = "Agreement with people's preferences: AP 70.0 %; RR 40.0 %. A random choice gives 50 %."
    assert exhibit.alternative == words
    (axes,) = figures.draw(exhibit).axes
    chance, *lines = axes.get_lines()
    assert [*chance.get_xdata()] == [50, 50]
    assert [[*map(float, line.get_xdata())] for line in lines[:2]] == [[60, 80], [65, 75]]
    assert ElementTree.fromstring(figures.as_svg(exhibit)).find(f"{SVG}desc").text == words
    assert judging.preferences_agreeing(rows[2:]).why


RUNS = ("bm25", "a-run-with-a-name-that-is-too-long-for-any-figure", "dense $x$")


def of_runs():
    """The figures of runs: strengths, places, and means of two queries."""
    ends = (-0.4, 0.9)
    yield judging.strengths_of_runs([(RUNS[0], 0.5, ends), (RUNS[1], -0.1, None)])
    by_measure = {"AP": 1.5, "RR": None}
    yield judging.places_of_runs([(run, 1.5, (1, 2), None, by_measure) for run in RUNS])
    yield judging.run_preferences([(f"{RUNS[0]} over {RUNS[1]}", 0.6, None, (0.5, 0.7))], "topics")
    truth = GroundTruth({"q": {"a": 1}, "r": {"a": 1}})
    runs = {run: {"q": {"a": 1.0}, "r": {"b": 2.0, "a": 1.0}} for run in RUNS}
    yield from curves.run_means(
        evaluate(truth, runs, [REGISTRY[name] for name in ("AP", "nDCG@10", "NMRR")])
    )


OF_RUNS = {exhibit.name: exhibit for exhibit in of_runs()}


def test_the_mean_of_a_run_has_the_interval_of_its_queries():
    values = np.array([0.2, 0.4, 0.5, 0.7, 0.3])
    expected = scipy.stats.ttest_1samp(values, 0).confidence_interval()
    assert mean_ci95(values) == pytest.approx((expected.low, expected.high))
    assert mean_ci95(values[:1]) == mean_ci95(np.ones(3)) == (None, None)
    # Of two queries it would reach from −2.4 to 3.9; AP cannot.
    assert OF_RUNS["mean-AP"].rows[0][1:] == (0.75, 0, 1)
    assert [*OF_RUNS][-3:] == ["mean-AP", "mean-nDCG-10", "mean-NMRR"]
    assert "left: better" in figures.draw(OF_RUNS["mean-NMRR"]).axes[0].get_xlabel()


LOOKS = [(3.33, "sans"), (3.33, "serif"), (7.0, "sans"), (7.0, "serif")]


@pytest.mark.parametrize(
    ("width", "font"),
    [pytest.param(*look, marks=[pytest.mark.slow] * (look != LOOKS[0])) for look in LOOKS],
)
def test_a_figure_holds_alone_in_a_column_and_across_a_page(shown, graphs, width, font):
    """Nothing is cut off, all can be read in print, and more than three lines are named."""
    everything = {**shown, **graphs, **JUDGED, **OF_RUNS}
    for name, exhibit in everything.items():
        with rc_context({**STYLE, **figures.FONTS[font]}):
            figure = figures.draw(exhibit, figures.Look(width, font))
            figure.draw_without_rendering()
            assert figure.get_figwidth() == width
            texts = [text for text in figure.findobj(Text) if text.get_text().strip()]
            shown_texts = [text for text in texts if text.get_visible()]
            assert min(text.get_fontsize() for text in shown_texts) >= 7, name
            for axes in figure.axes:
                for text in [axes.xaxis.label, axes.yaxis.label, *axes.texts, *figure.texts]:
                    box = text.get_window_extent()
                    inside = (*(box.min + 2), *(figure.bbox.max + 2 - box.max))
                    assert min(inside) >= 0, f"{name}: {text.get_text()!r} is cut off"
            assert all(axes.get_xlabel() for axes in figure.axes), name
            assert sum(len(legend.get_texts()) for legend in figure.legends) <= 3, name
            for legend in figure.legends:
                assert legend.get_window_extent().width <= figure.bbox.width + 1, name


def test_an_axis_of_agreement_ends_at_1(shown):
    for exhibit in (shown["agreement-rate"], shown["tau-b"], JUDGED["agreement-by-topic"]):
        assert 1 <= figures.draw(exhibit).axes[0].get_xlim()[1] <= 1.02


def test_a_reference_line_has_its_name(shown):
    names = {"differences": "no lead", "agreement-rate": "median person", "bias": "without bias"}
    for name, line in names.items():
        assert line in [text.get_text() for text in figures.draw(shown[name]).axes[0].texts]


@pytest.mark.parametrize("name", JUDGED)
def test_a_figure_of_judgements_has_a_mark_for_each_column_and_words(name):
    exhibit = JUDGED[name]
    (axes,) = figures.draw(exhibit).axes
    assert [line.get_label() for line in axes.get_lines()] == [*exhibit.columns[1:]]
    root = ElementTree.fromstring(figures.as_svg(exhibit))
    assert root.find(f"{SVG}desc").text == exhibit.alternative
    assert figures.render(exhibit, "svg") == figures.render(exhibit, "svg")


def test_agreement_shows_the_topics_with_the_least_and_says_how_many_there_are():
    exhibit = JUDGED["agreement-by-topic"]
    assert [row[1] for row in exhibit.rows] == [n / 50 for n in range(40)]
    assert exhibit.note.endswith("The 40 of 50 topics with the least agreement.")
    assert exhibit.alternative == "Over 50 topics: Jaccard 0.00 to 0.98; alpha 0.00 to 0.80."
    alone = judging.agreement_by_topic("", ("Rand",), [("one", -0.25)], "")
    assert alone.alternative == "Over 1 topic: Rand −0.25 to −0.25."
    assert judging.agreement_by_topic("", ("Jaccard",), [("one", None)], "").why
    assert judging.gain_by_round((), []).why


def test_there_are_eight_kinds_of_figures_in_the_order_of_a_report(shown):
    assert list(shown) == [
        *("votes-per-question", "shares", "differences", "agreement-rate", "tau-b"),
        *("bias", "time", "participants"),
    ]
    assert all(exhibit.why is None for exhibit in shown.values())


@pytest.mark.parametrize("name", analysis.FIGURES)
def test_a_figure_in_a_page_scales_has_a_text_alternative_and_no_styles(shown, name):
    svg = figures.as_svg(shown[name])
    root = ElementTree.fromstring(svg)
    assert "viewBox" in root.attrib
    assert not {"width", "height"} & set(root.attrib)
    assert root.get("role") == "img"
    texts = [root.find(f"{SVG}{tag}") for tag in ("title", "desc")]
    assert [text.text for text in texts] == [shown[name].title, shown[name].alternative]
    assert root.get("aria-labelledby").split() == [text.get("id") for text in texts]
    assert not re.search(r"\bstyle=|<style|<script|<metadata|https?://(?!www\.w3\.org)", svg)
    assert "ns0:" not in svg
    ids = re.findall(r'\bid="([^"]+)"', svg)
    assert len(ids) == len(set(ids))
    assert all(identifier.startswith(name) for identifier in ids)
    linked = re.findall(r'(?:href="#|url\(#)([^")]+)', svg)
    assert set(linked) <= set(ids)


def test_no_two_figures_of_a_page_share_an_id(shown):
    ids = [
        set(re.findall(r'\bid="([^"]+)"', figures.as_svg(exhibit))) for exhibit in shown.values()
    ]
    assert all(not first & second for first, second in combinations(ids, 2))


@pytest.mark.slow
@pytest.mark.parametrize("ending", figures.FIGURE_FORMATS)
def test_the_same_numbers_give_the_same_bytes(shown, ending):
    once, again = (figures.render(shown["differences"], ending) for _ in range(2))
    assert once == again
    assert once.startswith({"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[ending])


def test_a_machines_own_settings_of_matplotlib_change_nothing(shown):
    usual = figures.render(shown["differences"], "svg")
    with rc_context({"axes.grid": True, "xtick.labelsize": 20}):
        assert figures.render(shown["differences"], "svg") == usual
        assert rcParams["axes.grid"]


def test_what_a_figure_tells_names_nobody(shown):
    for exhibit in shown.values():
        assert not re.search(r"\bP[1-6]\b", f"{exhibit.rows} {exhibit.alternative} {exhibit.note}")


def test_participants_are_sorted_and_of_many_some_are_drawn(shown):
    assert shown["participants"].columns[2] == "own difference"
    assert [row[2] for row in shown["participants"].rows] == pytest.approx(
        [-100, -100, 100 / 3, 100 / 3, 100, 100]
    )
    credits = credits_of(
        [
            Response(f"P{person}", question, MEASURES, frozenset({1 + (person + question) % 3}))
            for person in range(75)
            for question in (1, 2, 4)
        ],
        rankings(),
    )
    exhibit = participants_differences(second_opinions(credits, [*map(str, range(75))])[0], 1)
    places = [row[0] for row in exhibit.rows]
    assert (places[0], places[-1], len(places)) == (1, 75, 60)
    assert places == sorted(set(places))
    assert exhibit.alternative.endswith("Drawn are 60 of them.")
    assert figures.as_svg(exhibit)


def test_the_numbers_beside_the_votes_are_table_4(shown):
    *rows, totals = shown["votes-per-question"].rows
    assert [row[0] for row in rows] == [1, 2, 3, 4]
    assert totals == ("total", 5, 7, 8, 4, None)


def test_an_interval_that_covers_zero_is_told_to(shown):
    alternative = shown["differences"].alternative
    assert alternative.count("which covers zero") == 3
    assert "prefer" not in alternative


def test_an_interval_that_leaves_zero_out_by_little_is_not_told_to_end_there():
    agreement = analyse_answers(Answers.of(responses()), rankings(), MEASURES, asked=4)
    pair = agreement.differences[0]
    low = replace(pair.components, ci95=(-0.2, -0.0004), why=None)
    agreement = replace(agreement, differences=(replace(pair, components=low),))
    alternative = pairwise_differences(agreement).alternative
    assert "−20.0 to −0.04, which leaves zero out" in alternative


def test_the_measure_that_leads_is_first_with_numbers_and_intervals_of_its_side():
    agreement = analyse_answers(Answers.of(responses()), rankings(), MEASURES, asked=4)
    pair = agreement.differences[0]
    ends = replace(pair.components, ci95=(-0.2, 0.05), why=None)
    behind = replace(pair, components=ends, mean=-0.1)
    row = pairwise_differences(replace(agreement, differences=(behind,))).rows[0]
    assert row[:4] == (f"{pair.pair.second} − {pair.pair.first}", 10.0, -5.0, 20.0)
    contrast = pair.by_contrast
    parts = (contrast.contradicting.contribution, contrast.ties_only.contribution)
    assert row[6:8] == tuple(None if each is None else -100 * each for each in parts)


@pytest.mark.parametrize("values", [(0.19, 0.2), (0.85, 0.93), (-0.2, 0.7)])
@pytest.mark.parametrize("width", [3.33, 7])
def test_thresholds_of_alpha_are_named_and_cross_no_other_text(values, width):
    low, high = values
    rows = [("apple-1", low, low), ("balloon-1", high, high)]
    indices = ("Jaccard", "Krippendorff's alpha")
    exhibit = judging.agreement_by_topic("", indices, rows, "", judging.WITH_THRESHOLDS)
    figure = figures.draw(exhibit, figures.Look(width, "serif"))
    figure.draw_without_rendering()
    [axes] = figure.axes
    names = {text.get_text().strip(): text.get_window_extent() for text in axes.texts}
    assert [*names] == ["tentative .667", "reliable .80"]
    boxes = [*names.values(), *(each.get_window_extent() for each in figure.legends)]
    assert all(not one.overlaps(other) for one, other in combinations(boxes, 2))
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)
    markers = [line for line in axes.get_lines() if line.get_label() in indices]
    first, second = ({*map(tuple, line.get_xydata())} for line in markers)
    assert not first & second  # an equal one would be hidden


def test_the_line_of_no_lead_does_not_cross_the_number_of_a_small_lead():
    lead = [("rerank", "dense", (48, 46, 6), 0.02, (-0.2, 0.24))] * 2
    figure = figures.draw(answers.leads_of_runs(lead, "Points."))
    figure.draw_without_rendering()
    leads = figure.axes[1]
    assert [text.get_text() for text in leads.texts] == ["+2", "+2"]
    no_lead, _ = leads.transData.transform((0, 0))
    assert all(text.get_window_extent().x0 > no_lead for text in leads.texts)


def test_the_parts_of_a_difference_are_told(shown):
    differences = shown["differences"]
    row = dict(zip(differences.columns, differences.rows[0], strict=True))
    assert row["from contradictions"] is None
    assert row["from ties only"] == row["difference"]
    assert "4.2 of them from ties only" in differences.alternative
    labels = figures.draw(differences).axes[0].get_legend_handles_labels()[1]
    assert "lead by random clicks" in labels


def test_shares_are_said_to_add_up_to_more_only_where_they_do(shown):
    assert "They add up to" not in shown["shares"].alternative
    ticked = Answers.of([Response("P", 1, MEASURES, frozenset({1, 2}))])
    alternatives = {
        ties: shares_with_intervals(
            analyse_answers(ticked, rankings(), MEASURES, 1, ties=ties)
        ).alternative
        for ties in ("kept", "split")
    }
    assert "They add up to 200.0 %" in alternatives["kept"]
    assert "They add up to" not in alternatives["split"]


def test_without_answers_nothing_is_drawn_and_each_says_why():
    for exhibit in analysis_exhibits(
        analyse_answers(Answers.of([]), rankings(), MEASURES, asked=4)
    ):
        assert exhibit.why
        with pytest.raises(ValueError, match="cannot be drawn"):
            figures.draw(exhibit)


def test_one_answer_to_one_question_of_two_measures_can_be_drawn():
    orders = {1: {name: rankings()[1][name] for name in ("AP", "MNRO")}}
    alone = [Response("P", 1, ("MNRO", "AP"), frozenset({1}))]
    for exhibit in analysis_exhibits(
        analyse_answers(Answers.of(alone), orders, ("AP", "MNRO"), asked=1)
    ):
        if exhibit.why is None:
            assert figures.as_svg(exhibit)


def test_six_measures_and_fifty_questions_can_be_drawn():
    names = tuple("ABCDEF")
    orders = dict(zip(names, [rankings()[n][m] for n in (1, 2) for m in MEASURES], strict=True))
    many = [Response("P", n, names, frozenset({1 + n % 6})) for n in range(1, 51)]
    votes = analysis_exhibits(
        analyse_answers(Answers.of(many), dict.fromkeys(range(1, 51), orders), names, asked=50)
    )[0]
    figure = figures.draw(votes)
    assert figure.get_figheight() > 10
    assert len(figure.axes[0].get_yticklabels()) == 50


def luminance(colour):
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("paper", ["#ffffff", "#18212d"], ids=["light", "dark"])
def test_colours_stand_out_from_light_and_dark_paper(paper):
    for colour in (*COLOURS, GREY):
        darker, lighter = sorted((luminance(colour), luminance(paper)))
        assert (lighter + 0.05) / (darker + 0.05) >= 3, colour


@pytest.fixture(scope="module")
def of_the_paper():
    return {name: REPRODUCTIONS[name]().exhibit for name in paper.FIGURES}


@pytest.mark.slow
@pytest.mark.parametrize("name", paper.FIGURES)
def test_the_papers_figures_can_stand_in_a_page(of_the_paper, name):
    svg = figures.as_svg(of_the_paper[name])
    assert ElementTree.fromstring(svg).get("role") == "img"
    assert of_the_paper[name].alternative in unescape(svg)
    assert not re.search(r"\bstyle=|<style|<script|<metadata", svg)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ending"), [("figure1", "pdf"), ("figure8", "png")])
def test_the_papers_figures_have_the_same_bytes_each_time(of_the_paper, name, ending):
    once, again = (figures.render(of_the_paper[name], ending) for _ in range(2))
    assert once == again


@pytest.mark.parametrize("name", paper.FIGURES)
def test_the_papers_figures_name_their_axes(of_the_paper, name):
    axes = figures.draw(of_the_paper[name]).axes
    assert any(panel.get_ylabel() for panel in axes)
    assert all(panel.get_xlabel() for panel in axes) or name == "figure6"


def test_every_square_of_a_surface_is_drawn_and_nothing_beside_it():
    i, j = (
        np.array(column) for column in zip(*[(2, 1), (3, 1), (3, 2), (4, 1), (4, 2)], strict=True)
    )
    # (2,1)-(3,1)-(3,2) at the edge, and the square of (3,1), (4,1), (4,2), (3,2)
    assert sorted(map(sorted, triangles(i, j))) == [[0, 1, 2], [1, 2, 4], [1, 3, 4]]


LEADS = [
    ("rerank", "dense", (69, 21, 10), 0.48, (0.33, 0.64)),
    ("rerank", "a system with a long $name$", (82, 12, 6), 0.70, None),
]


def test_leads_have_a_bar_of_100_answers_and_an_interval_each():
    exhibit = answers.leads_of_runs(LEADS, "Points.")
    bars, leads = figures.draw(exhibit).axes
    assert sum(patch.get_width() for patch in bars.patches) == 200
    assert [text.get_text() for text in bars.texts[:2]] == ["rerank 69", "21 dense"]
    lines = [[*map(float, line.get_xdata())] for line in leads.get_lines()]
    assert lines == [[33, 64], [48], [70], [0, 0]]
    words = ElementTree.fromstring(figures.as_svg(exhibit)).find(f"{SVG}desc").text
    assert words.startswith(
        "rerank over dense: of 100 answers 69 prefer rerank, 21 dense, 10 no list; lead +48 points "
        "(33 to 64); "
    )
    assert figures.render(exhibit, "svg") == figures.render(exhibit, "svg")
    assert answers.leads_of_runs([], "").why


def test_alpha_by_topic_has_krippendorffs_thresholds_and_the_lowest_topics():
    topics = [(f"topic {n}", n / 60, (n / 60 - 0.1, n / 60 + 0.1)) for n in range(50)]
    exhibit = answers.alpha_by_topic(("all queries", 0.4, (0.3, 0.5)), topics, "Alpha.")
    assert [row[0] for row in exhibit.rows[:2]] == ["all queries", "topic 39"]
    assert exhibit.note == "Alpha. The 40 of 50 topics with the least agreement."
    (axes,) = figures.draw(exhibit).axes
    names = {text.get_text().strip() for text in axes.texts}
    assert names == {"chance", "tentative .667", "reliable .80"}
    assert axes.get_xlim()[1] > 1
    assert "all queries .40 (.30 to .50)" in exhibit.alternative
    assert answers.alpha_by_topic(("all queries", None, None), [], "").why


def test_rand_by_topic_has_the_line_from_which_two_agree():
    exhibit = answers.rand_by_topic([("a", 1.0), ("b", 0.795), ("c", None)], 0.8, "Rand.")
    (axes,) = figures.draw(exhibit).axes
    assert [text.get_text().strip() for text in axes.texts] == ["enough, .80"]
    assert exhibit.alternative == (
        "Adjusted Rand index of 2 topics, from .80 to 1.00; 1 of them at .80 or more."
    )
    assert answers.rand_by_topic([("c", None)], 0.8, "").why
