"""analysis.R in a bundle decides as the survey does, and says so in sentences, never a traceback.

The estimates are compared where REML and Henderson's method have the same solution: every
participant answers every question and every estimated variance is above 0. They then differ by
when lmer's optimizer stops, some 1e-4 of a variance, and by the five digits that are printed.
"""

import json
import os
import re
import shutil
import subprocess

import pytest

from survey.core.studies.rankings import CONTRADICTING, contrast
from survey.kinds.ordering.answer import OrderingAnswer
from survey.kinds.preference.answer import PreferenceAnswer
from survey.services.exchange.long_table import LONG
from survey.services.participation import answers, participants
from survey.services.studies import lifecycle
from tests.builders import KEY, a_ready_participant, an_open_study, save_answer
from tests.preferred import a_preference_study
from tests.services.exchange.changes import rows_of
from tests.services.exchange.conftest import handed_out
from tests.voted import INITIALS

pytestmark = pytest.mark.slow

INSTALL = "on Debian: apt install r-base-core r-cran-lme4 r-cran-ordinal"
OF_COMPONENTS = 1e-3  # relative; see above
OF_MEANS = 1e-4  # relative: five digits

# A row for each person, a letter for each question: the measure whose column the person ticks.
# People and questions differ, so that every variance of every pair is above 0.
VOTES = (
    *("AAAMMANA", "MMNMMMMA", "NMNMMMMA", "MMNMMNMN", "NMNMMMMA", "MMNMMNMN"),
    *("NMNMNNMN", "AMNMMMMA", "NMNMMNNN", "MMNMMMMM", "MMMMMMMM", "MMNMMMMM"),
)
# The same for preferences: how much the person prefers the list that RR favours, in the four
# questions in which AP favours the other.
PREFERENCES = (
    *((3, 2, 1, 2), (3, 3, 1, 3), (3, 3, 3, 3), (3, 3, 3, 3), (3, 3, 3, 3), (3, 3, 2, 1)),
    *((3, 3, 2, 3), (-1, 2, -1, 2), (3, 3, 1, 3), (1, 1, 2, 2), (-1, -3, -1, -1), (3, 3, 2, 3)),
    *((3, 3, 1, 3), (2, 3, 1, 3)),
)


@pytest.fixture(scope="module", autouse=True)
def rscript():
    """The program, with the packages; without them the tests are skipped, and fail in CI."""
    program = shutil.which("Rscript")
    lacking = "R" if program is None else ""
    if program is not None:
        check = [program, "-e", "library(lme4); library(ordinal)"]
        done = subprocess.run(check, capture_output=True, text=True, check=False)
        lacking = "R's package lme4 or ordinal" if done.returncode else ""
    if lacking and os.environ.get("REQUIRE_R") == "1":
        pytest.fail(f"{lacking} is not installed, and REQUIRE_R=1 ({INSTALL})")
    if lacking:
        pytest.skip(f"{lacking} is not installed; {INSTALL}")
    return program


def unpacked(bundle, folder):
    for name, content in bundle.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def run(folder, **environment):
    """Run the script from elsewhere, as a reviewer may; return its status and all that it says."""
    done = subprocess.run(
        ["Rscript", str(folder / "analysis.R")],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={**os.environ, **environment},
    )
    assert "Error in" not in done.stderr, done.stderr
    assert "Execution halted" not in done.stderr
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def decisions(text):
    """The measure that is preferred in each pair and where, None where it is open."""
    table = text.partition("Decision at 5 %")[2].partition("lead: 100 times")[0]
    rows = re.findall(
        r"([\w@]+-[\w@]+) [+-][\d.]+ (?:< )?\S+ (?:< )?\S+ "
        r"(?:(\w+) preferred, in (these questions only|questions of this kind too)|open)",
        table,
    )
    return {pair: (ahead or None, scope) for pair, ahead, scope in rows}


def part_of(text, pair):
    return text.partition(f"{pair} {'-' * len(pair)} ")[2].partition("Direction alone")[0]


def numbers_of(text, pair):
    number = r"(-?[\d.]+(?:e-?\d+)?)"
    match = re.search(
        rf"Estimate {number}, standard error {number}, t = {number}, df = {number}, "
        rf"p (?:= |< ){number} Variance of participants {number}, of \w+s {number}, "
        rf"rest {number}",
        part_of(text, pair),
    )
    names = ("mean", "se", "t", "df", "p", "participant", "question", "rest")
    return dict(zip(names, map(float, match.groups()), strict=True))


def require_equal(text, pair, components):
    """Compare what R estimates with the survey's components, all of them above 0."""
    numbers = numbers_of(text, pair)
    for name in ("participant", "question", "rest"):
        assert components[name] > 1e-3
        assert numbers[name] == pytest.approx(components[name], rel=OF_COMPONENTS)
    for name in ("mean", "se"):
        assert numbers[name] == pytest.approx(components[name], rel=OF_MEANS)
    assert numbers["t"] == pytest.approx(components["t"], abs=0.006)
    assert numbers["df"] == pytest.approx(components["df"], abs=0.06)
    assert numbers["p"] == pytest.approx(components["p"], abs=1.5e-4)


def verdicts_of(figures):
    scopes = {"kind": "questions of this kind too", "these": "these questions only", "none": ""}
    return {
        each["pair"]: (each["preferred"], scopes[each["scope"]]) for each in figures["verdicts"]
    }


def an_answered_study(session, answer, votes=VOTES, **changes):
    """A closed study of votes; ``answer``: makes one of a presentation and a measure's name."""
    study = an_open_study(
        session, generator="discriminative", questions=len(votes[0]), practice=False, **changes
    )
    orders = {each.number: each.rankings for each in lifecycle.questions_of(study)}
    for number, row in enumerate(votes):
        participant = a_ready_participant(session, study, f"browser {number}")
        for shown in answers.all_presentations(session, study.plan, participant):
            measure = INITIALS[row[shown.number - 1]]
            given = answer(shown.drawn, measure, orders[shown.number])
            save_answer(session, participant, shown.position, given, 30.0)
        participants.finish(session, participant)
    lifecycle.close_study(session, study, "Ada")
    return study


def tick(drawn, measure, _):
    return OrderingAnswer(frozenset({drawn.label_order.index(measure) + 1}), None)


def order_as(_, measure, orders):
    return OrderingAnswer(frozenset(), orders[measure])


def test_votes_give_the_survey_s_estimates_and_its_decision(session, tmp_path):
    bundle = handed_out(session, an_answered_study(session, tick))
    figures = json.loads(bundle["analysis.json"])
    status, text = run(unpacked(bundle, tmp_path / "a bundle"))
    assert status == 0
    assert "12 participants, 8 questions, 96 counted responses." in text
    for each in figures["differences"]:
        require_equal(text, each["pair"], each["components"])
    assert decisions(text) == verdicts_of(figures)
    assert decisions(text)["MNRO-AP"] == ("MNRO", "questions of this kind too")


def p_of(text):
    """p for the kind and for these of each pair, in the table of decisions."""
    table = text.partition("Decision at 5 %")[2].partition("lead: 100 times")[0]
    rows = re.findall(r"([\w@]+-[\w@]+) [+-][\d.]+ ((?:< )?\S+) ((?:< )?\S+)", table)
    return {pair: [float(p.strip("< ")) for p in both] for pair, *both in rows}


@pytest.mark.parametrize("primary", ["MNRO-AP", "NMRR-AP"])
def test_a_primary_pair_is_decided_first_as_in_the_survey(session, tmp_path, primary):
    study = an_answered_study(session, tick, primary=primary)
    bundle = handed_out(session, study)
    figures = json.loads(bundle["analysis.json"])
    _, text = run(unpacked(bundle, tmp_path / primary))
    assert f"but for the primary pair, {primary}, tested first" in text
    found = p_of(text)
    for each in figures["differences"]:
        both = found[each["pair"]]
        assert both[1] == pytest.approx(each["these"]["p"], abs=1e-3)
        if each["pair"] == primary:  # the others are corrected in another way for the kind
            assert both[0] == pytest.approx(each["kind"]["p"], abs=1e-3)
        assert all(p >= first - 1e-4 for p, first in zip(both, found[primary], strict=True))
    assert decisions(text) == verdicts_of(figures)


@pytest.mark.parametrize(
    ("votes", "scope"),
    [
        # Six people show .031 at least, before it is corrected; five questions .0625.
        (("MMMMM", "MMMMM", "MMMMM", "MMMMM", "MMMMM", "MMMMA"), "none"),
        # Of the kind .031 is not corrected, so it decides where these questions do not.
        ((*["MMMMMMMMMM"] * 5, "MMMMMMMMMA"), "kind"),
    ],
)
def test_few_people_decide_as_little_as_in_the_survey(session, tmp_path, votes, scope):
    bundle = handed_out(session, an_answered_study(session, tick, votes))
    figures = json.loads(bundle["analysis.json"])
    _, text = run(unpacked(bundle, tmp_path))
    [of_pair] = [each for each in figures["verdicts"] if each["pair"] == "MNRO-NMRR"]
    assert of_pair["scope"] == scope
    assert decisions(text) == verdicts_of(figures)
    found = p_of(text)
    for each in figures["differences"]:
        if each["these"]["p"] is not None:
            assert found[each["pair"]][1] == pytest.approx(each["these"]["p"], abs=1e-4)
    [of_pair] = [each for each in figures["differences"] if each["pair"] == "MNRO-NMRR"]
    assert of_pair["these"]["p"] == pytest.approx(3 / 2**5)
    assert found["MNRO-NMRR"][0] == pytest.approx(of_pair["kind"]["p"], abs=1e-4)


def test_own_orderings_give_the_survey_s_estimates_and_its_decision(session, tmp_path):
    study = an_answered_study(session, order_as, columns="never", obvious=False)
    bundle = handed_out(session, study)
    figures = json.loads(bundle["analysis.json"])
    status, text = run(unpacked(bundle, tmp_path))
    assert status == 0
    differences = [
        each for each in figures["own_orderings"]["differences"] if each["statistic"] == "pairs"
    ]
    compared = 0
    for each in differences:
        components = each["tests"]["components"]
        if min(components["participant"], components["question"]) > 1e-3:
            require_equal(text, each["pair"], components)
            compared += 1
        else:
            assert "Singular fit" in part_of(text, each["pair"])
    assert compared
    assert decisions(text) == verdicts_of(figures)
    assert decisions(text)["MNRO-AP"][0] == "MNRO"


def a_preferring_study(session):
    """A closed study of PREFERENCES; where the measures agree, all prefer the left list a bit."""
    study = a_preference_study(session, ask_strength=True)
    questions = {each.number: each for each in lifecycle.questions_of(study)}
    contradicting = [
        number
        for number, each in questions.items()
        if contrast(each.rankings["RR"], each.rankings["AP"]) == CONTRADICTING
    ]
    for number, row in enumerate(PREFERENCES):
        one = participants.begin(session, study, f"browser {number}", KEY)
        participants.agree(session, one, participants.consent_text(session, study).digest)
        participants.store_personal_answers(session, study, one, {})
        participants.confirm_scenario(session, one)
        for shown in answers.all_presentations(session, study.plan, one):
            value, side = 1, "left"
            if shown.number in contradicting:
                value = row[contradicting.index(shown.number)]
                [favoured] = questions[shown.number].rankings["RR"].groups[0]
                is_left = (shown.drawn.left_list == favoured) == (value > 0)
                side = "left" if is_left else "right"
            save_answer(session, one, shown.position, PreferenceAnswer(side, abs(value)))
        participants.finish(session, one)
    lifecycle.close_study(session, study, "Ada")
    return study


def test_preferences_give_the_survey_s_estimates_and_decision_and_an_ordinal_model(
    session, tmp_path
):
    bundle = handed_out(session, a_preferring_study(session))
    figures = json.loads(bundle["analysis.json"])
    status, text = run(unpacked(bundle, tmp_path))
    assert status == 0
    [difference] = figures["differences"]
    assert difference["pair"] == "RR-AP"
    require_equal(text, "RR-AP", difference["components"])
    scope = difference["verdict"]["scope"]
    assert scope != "none"
    assert decisions(text)["RR-AP"][0] == "RR"
    assert ("this kind" in decisions(text)["RR-AP"][1]) == (scope == "kind")
    counted = re.search(r"from against to for RR: (.*?)\. Middle of the categories", text)
    values = sorted(value for row in PREFERENCES for value in row)
    assert counted[1] == ", ".join(
        f"{value}: {values.count(value)}" for value in dict.fromkeys(values)
    )
    middle, error, p = re.search(
        r"logit scale (\S+), standard error (\S+), z = \S+, p (?:= |< )(\S+)", text
    ).groups()
    assert float(middle) > 0 < float(error)
    assert float(p) < 0.05


def test_a_package_that_is_missing_is_named_with_how_to_install_it(bundle, tmp_path):
    folder = unpacked(bundle, tmp_path / "bundle")
    nowhere = str(tmp_path / "nowhere")
    status, text = run(folder, R_LIBS=nowhere, R_LIBS_SITE=nowhere, R_LIBS_USER=nowhere)
    if status == 0:
        pytest.skip("R's packages are all in its own library here, which cannot be hidden")
    assert status == 1
    assert text == (
        "R does not have the package lme4. On Debian or Ubuntu: sudo apt install r-cran-lme4. "
        'Elsewhere, in R: install.packages(c("lme4"))'
    )


def with_lines(bundle, folder, choose):
    """Unpack a bundle whose long.csv has some of its lines only."""
    unpacked(bundle, folder)
    heading, *lines = bundle[LONG].decode().splitlines(keepends=True)
    (folder / LONG).write_text(heading + "".join(line for line in lines if choose(line)))
    return folder


@pytest.mark.parametrize(
    ("kept", "sentences"),
    [
        ("P-A", ("No model: it needs two participants", "No test: it needs two participants")),
        (",1,", ("No model: it needs two participants, two questions",)),
        ("P-", ("Decision at 5 %",)),
    ],
)
def test_too_little_data_gives_sentences(bundle, tmp_path, kept, sentences):
    folder = with_lines(
        bundle, tmp_path / "bundle", lambda line: kept in f"{','.join(line.split(',')[1:3])},"
    )
    status, text = run(folder)
    assert status == 0
    for sentence in sentences:
        assert sentence in text
    assert {ahead for ahead, _ in decisions(text).values()} == {None}


def test_no_response_and_no_table_are_said(bundle, tmp_path):
    folder = with_lines(bundle, tmp_path / "bundle", lambda _: False)
    assert run(folder) == (1, "long.csv has no row: no response is counted yet.")
    (folder / LONG).unlink()
    status, text = run(folder)
    assert status == 1
    assert text.startswith("There is no long.csv in ")


def test_people_who_all_agree_decide_by_their_number(bundle, tmp_path):
    folder = unpacked(bundle, tmp_path / "bundle")
    heading = bundle[LONG].decode().partition("\n")[0]
    rows = [
        f"five,P-{person},{question},,{question},1,MNRO-AP,1,balanced,0,0,0,\n"
        for person in range(8)
        for question in range(1, 8)
    ]
    (folder / LONG).write_text(f"{heading}\n{''.join(rows)}")
    status, text = run(folder)
    assert status == 0
    assert "MNRO-AP +100.0 .0156 .0078 MNRO preferred, in questions of this kind too" in text
    assert "No model: d is 1 in every response." in text
    assert len(rows_of({LONG: (folder / LONG).read_bytes()}, LONG)) == 56
