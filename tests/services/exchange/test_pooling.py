"""Bundles of several studies are pooled, and what must not be pooled is refused with its reason."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from survey.core.agreement.differences import Pair
from survey.errors import SurveyError
from survey.kinds.ordering.results import OrderingResults
from survey.kinds.preference.results import Judgement, PreferenceResults
from survey.services.analysis import report
from survey.services.exchange.bundle import ANALYSIS, SUMS
from survey.services.exchange.input_files import open_files
from survey.services.exchange.pooling import PoolingError, pool_bundles
from tests.freeze import RELEASED
from tests.preferred import a_preference_plan
from tests.services.exchange.changes import with_cell, with_json, with_rows
from tests.sites import SEEDS, VOTES, site_bundles

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def sites(tmp_path_factory):
    """The bundles, made once: no test changes one in place."""
    return site_bundles(tmp_path_factory.mktemp("sites"))


def pooled(sites, *names, **wanted):
    return pool_bundles(
        [sites[name] for name in names], [f"{name}.zip" for name in names], **wanted
    )


def refused(bundles, **wanted):
    """Why bundles are refused, by their names."""
    names = [*bundles]
    with pytest.raises(PoolingError) as raised:
        pool_bundles([*bundles.values()], names, **wanted)
    return {names[place]: why for place, why in raised.value.faults.items()}


def test_five_sites_of_one_digest_are_pooled(sites):
    pooling = pooled(sites, *VOTES)
    assert pooling.is_shared
    start = f"Five studies, {sum(map(len, VOTES.values()))} people, the same 8 questions: "
    assert pooling.sentence.startswith(start)
    assert {"rome", "kyiv"} == {person.split(":")[0] for person in pooling.people} & {
        "rome",
        "kyiv",
    }
    assert all(person.split(":")[1].startswith("P-") for person in pooling.people)
    by_pair = {pair.pair: pair for pair in pooling.pairs}
    pair = by_pair[Pair("MNRO", "NMRR")]
    for (site, of_pair), name in zip(pair.sites, VOTES, strict=True):
        analysis = json.loads(sites[name][ANALYSIS])
        [own] = [
            difference
            for difference in analysis["differences"]
            if difference["pair"] == "MNRO-NMRR"
        ]
        assert site.people == analysis["n"]["participants"]
        assert of_pair.mean == pytest.approx(own["mean"])
        assert of_pair.these[0] == pytest.approx(own["participants"]["se"] or 0)
        assert of_pair.kind[0] == pytest.approx(
            max(own["components"]["se"], own["components"]["se_independent"])
        )
    assert pair.mean == pytest.approx(sum(pair.differences) / 5)
    assert pooled(sites, *reversed(VOTES)).pairs[0].mean == pytest.approx(pooling.pairs[0].mean)
    assert pooled(sites, *reversed(VOTES)).sentence == pooling.sentence


def test_all_that_is_printed_is_in_the_json_and_the_files(sites):
    pooling = pooled(sites, *VOTES)
    content = json.loads(json.dumps(pooling.all_json()))
    assert content["sentence"] == pooling.sentence == pooling.headline
    assert content["n"] == {"sites": 5, "participants": len(pooling.people)}
    for pair in content["pairs"]:
        assert pair["p_holm"] >= pair["p"]
        assert pair["verdict"]["scope"] in ("kind", "these", "none")
        assert len(pair["studies"]) == 5
    files = dict(report.report_files(pooling))
    assert {"report.html", "analysis.json", "pooled.csv", "figures/forest.pdf"} <= files.keys()
    assert {"tables/leads.tex", "tables/heterogeneity.csv", "figures.tex"} <= files.keys()
    rows = [*csv.DictReader(io.StringIO(files["pooled.csv"].decode()))]
    kinds = [row["what"] for row in rows if row["pair"] == "MNRO-NMRR"]
    several = ["mean", *["without"] * 5, "weighted", "tau2", "kind", "new site"]
    assert kinds == [*["site"] * 5, *several]
    [mean] = [row for row in rows if (row["pair"], row["what"]) == ("MNRO-NMRR", "mean")]
    [of_pair] = [pair for pair in content["pairs"] if pair["pair"] == "MNRO-NMRR"]
    assert float(mean["estimate"]) == pytest.approx(of_pair["mean"])
    assert [float(mean[end]) for end in ("low", "high")] == pytest.approx(of_pair["ci95"])
    assert dict(report.report_files(pooled(sites, *VOTES))) == files
    text = pooling.answer_text
    assert "n: 5 studies" in text
    assert "Correction" not in text
    assert "correction: Holm" in text
    assert pooling.sentence in files["report.html"].decode().replace("&lt;", "<")


def test_the_forest_plot_has_a_row_for_each_site_and_what_follows(sites):
    exhibit = pooled(sites, *VOTES).lead
    labels = [row[1] for row in exhibit.rows]
    assert labels[:5] == [f"{name} ({len(votes)})" for name, votes in VOTES.items()]
    assert labels[5:] == [
        "sites like these",
        "weighted (REML)",
        "questions of this kind",
        "a new site",
    ]


def test_questions_of_their_own_need_the_option_and_say_how_they_differ(sites):
    pooling = pooled(sites, *SEEDS, same_design=True)
    assert not pooling.is_shared
    assert "8 questions of their own each" in pooling.sentence
    assert pooling.design_differences == [
        f"{name}.zip from six.zip in seed: {seed} and 6" for name, seed in SEEDS.items() if seed > 6
    ]
    for pair in pooling.pairs:
        assert pair.kind is None
        assert pair.scope in ("kind", "none")
        assert [study["se"] for study in pair.as_json()["studies"]] == [
            of_pair.kind[0] for _, of_pair in pair.sites
        ]


def test_two_studies_have_no_verdict_together(sites):
    pooling = pooled(sites, "rome", "oslo")
    assert pooling.chip.note == "It takes three studies."
    assert "leads" not in pooling.sheet_of
    assert [
        row["what"] for row in csv.DictReader(io.StringIO(dict(pooling.files())["pooled.csv"]))
    ][:3] == ["site", "site", "difference"]
    dict(report.report_files(pooling))


def test_one_bundle_is_too_few(sites):
    with pytest.raises(SurveyError, match="1 bundle found; pooling takes two or more"):
        pooled(sites, "rome")


def test_another_digest_is_refused_and_the_option_is_named(sites):
    assert refused({"a.zip": sites["rome"], "b.zip": sites["six"]}) == {
        "b.zip": [
            "its digest differs from that of a.zip",
            "it differs from a.zip in seed: 6 and 5",
            "--same-design pools studies that differ in nothing else",
        ]
    }


def test_a_mixture_is_refused(sites):
    for names in (("rome", "six", "lyon"), ("six", "rome", "lyon")):
        bundles = {name: sites[name] for name in names}
        [(name, [why])] = refused(bundles, same_design=True).items()
        assert name == "lyon"
        assert why.startswith("it has the questions of rome, and other studies have")


def test_the_same_people_twice_are_refused(sites):
    assert refused({"a.zip": sites["rome"], "b.zip": sites["rome"]}) == {
        "b.zip": ["it is the same bundle as that in a.zip; count them once"]
    }


def test_a_bundle_that_does_not_replicate_is_refused_with_its_place(sites):
    changed = with_json(sites["lyon"], ANALYSIS, lambda figures: figures["n"].update(responses=1))
    [(name, [why, *_])] = refused({"a.zip": sites["rome"], "b.zip": changed}).items()
    assert name == "b.zip"
    assert why.startswith("analysis.json, n, responses: 1 found; recomputed")
    assert refused({"a.zip": sites["rome"], "b.zip": {"notes.txt": b"none"}})["b.zip"][
        0
    ].startswith("b.zip is not a bundle")


def test_all_bundles_with_faults_are_named_at_once(sites):
    cut = {name: content for name, content in sites["oslo"].items() if name != SUMS}
    faults = refused({"a": sites["rome"], "b": cut, "c": {}, "d": sites["six"]})
    assert [*faults] == ["b", "c"]


def one_person(files):
    """The bundle's files in which all but one person are excluded, which replicates no more."""
    return with_rows(files, "participants.csv", lambda rows: rows[:1])


def test_labelling_says_why_it_is_not_pooled():
    from survey.core.kinds import KINDS
    from survey.services.analysis.results import Results

    assert Results.not_pooled.startswith("it compares no measures")
    assert "labelling" in [*KINDS]


def test_preferences_are_pooled_by_pairs_of_systems():
    plan = a_preference_plan()
    questions = plan.draw_questions()
    judgements = [
        Judgement(
            f"P{who}", question.number, "AB"[(who + question.number) % 3 == 0], "left", None, {}
        )
        for who in range(9)
        for question in questions
    ]
    results = PreferenceResults(plan, questions, judgements)
    [of_pair] = results.site_pairs
    [lead] = results.leads.pairs
    assert of_pair.pair == lead.pair == Pair(*plan.runs)
    assert of_pair.mean == pytest.approx(lead.tests.mean)
    assert of_pair.these[0] == pytest.approx(lead.tests.participants.se)
    assert len(of_pair.by_question) == results.leads.sampled


def test_a_cell_that_is_changed_is_named(sites):
    changed = with_cell(sites["lyon"], "responses.csv", 2, "clicked", "9")
    [(name, why)] = refused({"a.zip": sites["rome"], "b.zip": changed}).items()
    assert name == "b.zip"
    assert "responses.csv, row 2" in why[0]


@pytest.mark.parametrize("kind", ["ordering", "preference"])
def test_the_public_and_the_private_bundle_of_a_study_hold_the_same_people(kind):
    names = [f"{kind}.zip", f"{kind}-public.zip"]  # whose times differ
    bundles = {name: open_files(RELEASED.parent / "format_1" / name, name) for name in names}
    [(name, [why])] = refused(bundles, include_test=True).items()
    assert name == names[1]
    assert re.fullmatch(rf"(P-\w+(, )?)+( and \d more)? are also in {kind}.zip; .*", why)


def with_pairs(monkeypatch, change):
    """Change what each study says of its pairs, by the study's place among those analysed."""
    whole, seen = OrderingResults.site_pairs.fget, []

    def changed(results):
        slug = results.study["slug"]
        if slug not in seen:
            seen.append(slug)
        return change(seen.index(slug), whole(results))

    monkeypatch.setattr(OrderingResults, "site_pairs", property(changed))


def test_pairs_that_not_every_study_has_are_named_and_none_in_common_is_refused(sites, monkeypatch):
    with_pairs(monkeypatch, lambda place, pairs: pairs[place > 0 :])
    pooling = pooled(sites, "rome", "lyon", "oslo")
    assert len(pooling.pairs) == 2
    assert pooling.remarks[-1] == (
        "Not pooled: MNRO − NMRR. It takes answers of two people in every study."
    )
    monkeypatch.undo()
    with_pairs(monkeypatch, lambda place, pairs: pairs[place : place + 1])
    faults = refused({name: sites[name] for name in ("rome", "lyon", "oslo")})
    assert {*faults} == {"rome", "lyon", "oslo"}
    assert faults["oslo"] == [
        "no pair has answers of two people in every study, so nothing can be pooled"
    ]


def test_questions_of_their_own_take_answers_enough_to_tell_how_they_differ(sites, monkeypatch):
    with_pairs(
        monkeypatch,
        lambda place, pairs: [
            replace(of_pair, kind=None) if place else of_pair for of_pair in pairs
        ],
    )
    bundles = {name: sites[name] for name in ("six", "seven")}
    [(name, [why])] = refused(bundles, same_design=True).items()
    assert name == "seven"
    assert "takes two questions, each answered by two people" in why
    monkeypatch.undo()
    with_pairs(monkeypatch, lambda *_: [])
    why = refused(bundles, same_design=True)["seven"]
    assert why == ["no pair has answers of two people, which are needed"]


def test_the_method_says_what_was_computed_and_no_more(sites):
    two = pooled(sites, "rome", "oslo").method
    assert two == "Difference between the studies: Welch's t. A study's interval is over people."
    three = pooled(sites, "rome", "oslo", "lyon").method
    assert "draws" not in three
    assert "Questions of this kind" not in three
    assert "It takes four studies to predict a new site." in three
    assert "5,000 draws, seed" in pooled(sites, "rome", "oslo", "lyon", "bern").method
