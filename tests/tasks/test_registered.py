"""Of every kind of question: its registration, the analysis beside it, a paper's methods."""

import json
import re

import pytest

from survey.core.agreement.differences import Pair
from survey.core.agreement.topic_alpha import PERMUTATIONS, SAMPLES
from survey.core.kinds import KINDS
from survey.services.analysis import methods
from survey.services.analysis import results as results_module
from survey.services.analysis.methods import CAPTIONS, methods_files
from survey.services.analysis.report import report_files
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange import bundle
from survey.services.exchange.bundle_reader import analyse_files, replicate
from survey.services.exchange.input_files import BundleError
from survey.services.planning.preregistration import registration_of
from survey.services.studies.registration import REGISTRATION_FILE, Typed, canonical
from survey.services.studies.registration_texts import registration_files
from tests.services.exchange.changes import described, summed
from tests.tasks.test_contract import exported, of_each_kind, study

__all__ = ["study"]

PLANNED = AnalysisOptions()
# What methods say of the program, and not of the study; the JSON has no place for it.
CONSTANTS = (
    *("1 − ΣD_o", "95 %", "SHA-256"),
    *(f"{SAMPLES:,} bootstrap", f"{PERMUTATIONS:,} permutations"),
)
NUMBER = re.compile(r"(?<![\w.])(\d[\d,]*\.?\d*|\.\d+)(?![\w])")


@pytest.fixture
def registered(session, study):
    """The study, which keeps its registration."""
    study.registration = canonical(registration_of(study, Typed("One is ahead.", "", "None.")))
    session.commit()
    return study


@of_each_kind
def test_an_analysis_as_planned_is_the_registered_one_but_for_its_size(session, registered, kind):
    results = bundle.results_of(session, registered, PLANNED)
    statuses = {item.item: item.status for item in results.registered.items}
    changed = {item for item, status in statuses.items() if status == "changed"}
    assert changed <= {"sample_size", "stop", "exclusion_people"}
    assert {*statuses.values()} <= {"same", "changed"}
    content = json.loads(json.dumps(results.all_json()))["registration"]
    assert content["is_registered"] == (not changed)
    assert [item["item"] for item in content["items"]] == [*statuses]
    assert "registration" in [section.name for section in results.all_sections]
    session.rollback()


@of_each_kind
def test_the_bundle_holds_the_registration_and_replicates(session, registered, kind):
    without = {"registration": None}
    files = exported(session, registered)
    assert files[REGISTRATION_FILE] == registered.registration.encode()
    assert REGISTRATION_FILE in files["SHA256SUMS"].decode()
    sentences = [*replicate(files)]
    [sentence] = [sentence for sentence in sentences if sentence.startswith(REGISTRATION_FILE)]
    assert sentence.startswith("registration.json: its digest is that of the study.")
    results = analyse_files(files, PLANNED)
    assert results.registered == bundle.results_of(session, registered, PLANNED).registered
    other = canonical({**json.loads(registered.registration), "items": {}})
    changed = described({**files, REGISTRATION_FILE: other.encode()})
    assert "its digest is not that" in " ".join(replicate(changed))
    broken = summed({**files, REGISTRATION_FILE: b"{}"})
    with pytest.raises(BundleError, match=r"registration\.json, format: None found"):
        [*replicate(broken)]
    registered.registration = without["registration"]
    session.commit()
    assert REGISTRATION_FILE not in exported(session, registered)


@of_each_kind
def test_what_was_not_planned_is_named(session, registered, kind):
    options = AnalysisOptions(include_test=True)
    compared = bundle.results_of(session, registered, options).registered
    assert "Options" in compared.changed
    session.rollback()


@of_each_kind
def test_texts_of_a_registration_leave_nothing_open(session, study, kind):
    written = dict(registration_files(registration_of(study, Typed("a", "b", "c"))))
    power = json.loads(written[REGISTRATION_FILE])["power"]
    assert ("seed" in power) == KINDS[study.plan.kind].has_power or "cannot" in power["sentence"]
    for name, text in written.items():
        assert "None" not in text.replace("None.", ""), name
        assert "{" not in text or name == REGISTRATION_FILE, name
        assert "(not stated)" not in text, name
    session.rollback()


@of_each_kind
def test_each_number_of_the_methods_is_in_the_analysis(session, registered, kind):
    results = bundle.results_of(session, registered, PLANNED, in_full=True)
    files = {name: content for name, content in report_files(results) if "/" not in name}
    figures = json.loads(files["analysis.json"])
    known = [*numbers_in(figures)]
    text = files["methods.md"].decode().partition(f"# {CAPTIONS}")[0]
    assert text.count("## ") == 8
    for constant in CONSTANTS:
        text = text.replace(constant, "")
    text = re.sub(r"[0-9a-f]{64}|ranking-survey [\d.]+", "", text)
    for test in results.tested:
        text = text.replace(test.pair.title, "")
    printed = [*NUMBER.findall(text)]
    assert len(printed) > 5
    assert [number for number in printed if not is_known(number, known)] == []
    session.rollback()


def numbers_in(value):
    """Yield each number of a JSON value; of lists their lengths too, which texts count."""
    if isinstance(value, dict):
        for item in value.values():
            yield from numbers_in(item)
    elif isinstance(value, list):
        yield len(value)
        for item in value:
            yield from numbers_in(item)
    elif type(value) in (int, float):
        yield value


def is_known(printed, known):
    number, decimals = float(printed.replace(",", "")), len(printed.partition(".")[2])
    if printed == ".001":  # p < .001
        return any(0 < value < 0.001 for value in known)
    return any(round(abs(value), decimals) == number for value in known)


def test_a_number_that_is_not_in_the_analysis_is_found():
    assert is_known("0.167", [-0.16666])
    assert not is_known("0.168", [-0.16666])
    assert is_known("1,381", [1381])
    assert not is_known(".001", [0.002])
    assert NUMBER.findall("t(3.0) = −1.40, p = .517, R2D2") == ["3.0", "1.40", ".517"]


def test_methods_name_both_systems_of_a_pair_whatever_they_are_called():
    pair = Pair("binary-patterns", "tiny-grey")
    numbers = (0.25, 2.0, 9.0, 0.04, (0.1, 0.4))
    figures = results_module.Tested(pair, *numbers, True, "the only comparison")
    sentence = methods.tested_sentence(figures)
    assert sentence.startswith("binary-patterns − tiny-grey: mean difference 0.250, 95 % interval")


@of_each_kind
def test_methods_need_no_registration_and_an_import_keeps_it(session, study, kind):
    results = bundle.results_of(session, study, PLANNED, in_full=True)
    texts = dict(methods_files(results))
    assert "There is no registration" in texts["methods.md"]
    assert r"\subsection{Deviations from the registration}" in texts["methods.tex"]
    assert "methods" not in bundle.results_of(session, study, PLANNED).all_json()
    session.rollback()
