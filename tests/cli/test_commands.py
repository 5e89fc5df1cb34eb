"""The command line, as its user meets it."""

import csv
import json
import re
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from socket import create_server
from tempfile import mkdtemp

import pytest

from survey import cli
from survey.core.studies.fields import Finding
from survey.core.studies.generators import GENERATORS
from survey.core.studies.rankings import Ranking, contradictions, is_balanced
from survey.db.migration import newest_revision
from survey.paper.catalogue import REPRODUCTIONS
from survey.services.collections import assessment, run_evaluation
from survey.services.collections.list_scores import THE_PAPERS
from survey.services.studies import lifecycle
from survey.services.studies.plans import PRESETS
from tests.builders import SLUG, Visitor, a_plan
from tests.cli.desk import LEAVES
from tests.commands import CONTACT
from tests.databases import ON_BOTH, ON_SQLITE
from tests.freeze import RELEASED
from tests.services.exchange.changes import summed, unzipped, with_cell, with_json

TABLE_1 = ["1,2,3,4,5", "1,3,4,5,6", "1,2,3,4,100", "1,2,3,30,31", "1,2,3,40,41"]


@ON_BOTH
def test_init_makes_the_database_and_may_be_repeated(run):
    assert "The database made" in run("init")
    assert "is there already" in run("init")
    assert f"up to date (revision {newest_revision()})" in run("upgrade")


@ON_BOTH
def test_upgrade_says_from_what_to_what(run):
    assert f"upgraded from nothing to {newest_revision()}" in run("upgrade")


@ON_BOTH
def test_commands_without_a_database_say_what_to_do(run):
    assert run("study", "list", status=1) == (
        "Error: There is no survey database here yet; run `survey init`.\n"
    )


@pytest.mark.parametrize(
    ("options", "status", "fault"),
    [
        (("--https", "a.org", "--host", "0.0.0.0"), 2, "leave --host out"),
        (("--https", "a/b"), 1, "'a/b' is not the name of a server"),
        (("--https", "a.org"), 1, "SURVEY_ADDRESS is https://b.org"),
        (("--metrics", "0"), 2, "'0' is not a port"),
        (("--metrics", "here"), 2, "'here' is not a port"),
        (("--log", "all"), 2, "'errors', 'requests'"),
    ],
)
def test_serve_says_what_it_cannot_serve(run, monkeypatch, options, status, fault):
    monkeypatch.setenv("SURVEY_ADDRESS", "https://b.org")
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert fault in run("serve", "--port", port, *options, status=status)


@ON_SQLITE
def test_serve_says_where_it_cannot_listen(run):
    run("init")
    with create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = run("serve", "--port", port, status=1)
    assert f"Cannot listen on 127.0.0.1:{port} (Address already in use); choose" in message


def test_a_studys_life_from_the_command_line(run):
    run("init")
    assert "There is no study yet" in run("study", "list")
    assert "made, with seed 42" in run("study", "new", "pilot", "--seed", 42, "--questions", 2)
    assert json.loads(run("study", "show", "pilot", "--json"))["status"] == "draft"
    opened = run("study", "open", "pilot", *CONTACT)
    shown = json.loads(run("study", "show", "pilot", "--json"))
    assert shown["digest"] in opened
    assert (shown["status"], shown["questions"], shown["seed"]) == ("open", 2, 42)
    run("study", "close", "pilot")
    assert json.loads(run("study", "list", "--json"))[0]["status"] == "closed"
    assert "pilot" in run("study", "list")
    assert "closed" in run("study", "show", "pilot")


@ON_SQLITE
def test_a_study_opens_only_once_it_says_who_asks_and_whom_to_ask(run, tmp_path):
    run("init")
    (tmp_path / "plan.yaml").write_text("preset: mnro\nquestions: 2\n")
    run("study", "new", "pilot", "--from", tmp_path / "plan.yaml")
    refused = run("study", "open", "pilot", status=2)
    assert "cannot open: participants do not read who asks" in refused
    assert "Give --asked-by and --contact." in refused
    refused = run("study", "open", "pilot", "--contact", "a@b.org", status=2)
    assert "Give --asked-by." in refused
    assert json.loads(run("study", "show", "pilot", "--json"))["status"] == "draft"
    assert "contact has 301 characters" in run(
        *("study", "open", "pilot", "--contact", "x" * 301), status=2
    )
    run("study", "open", "pilot", "--asked-by", "the IR group", "--contact", "ir@b.org")
    plan = json.loads(run("study", "plan", "pilot", "--json"))
    assert (plan["asked_by"], plan["contact"]) == ("the IR group", "ir@b.org")
    run("study", "close", "pilot")
    run("study", "open", "pilot")
    run("study", "close", "pilot")
    assert "frozen" in run("study", "open", "pilot", "--contact", "other@b.org", status=1)


@ON_SQLITE
@pytest.mark.parametrize(
    "words",
    [
        ("the researchers who invited you", "The sender of your link."),
        ("οι ερευνητές αυτής της μελέτης", "το άτομο που σας έστειλε τον σύνδεσμο"),
    ],
)
def test_general_words_for_who_asks_and_whom_to_ask_open_no_study(run, words):
    run("init")
    made = run("study", "new", "pilot", "--language", "el")
    assert "--asked-by and --contact of `survey study open` say it" in made
    assert json.loads(run("study", "plan", "pilot", "--json"))["asked_by"] == ""
    placeholder = "the researchers of this study"
    for asked_by, contact in (words, ("", words[1]), (placeholder, words[1])):
        options = ("--asked-by", asked_by, "--contact", contact)
        refused = run("study", "open", "pilot", *options, status=2)
        assert "whom they can ask, only general words" in refused
        assert json.loads(run("study", "show", "pilot", "--json"))["status"] == "draft"
    run("study", "open", "pilot", *CONTACT)


@ON_SQLITE
def test_a_study_promises_the_minutes_that_its_questions_take(run, tmp_path):
    run("init")
    for options, minutes in (
        ((), 20),
        (("--questions", 2), 10),
        (("--questions", 50), 105),
        (("--questions", 50, "--minutes", 40), 40),
    ):
        made = run("study", "new", f"s{minutes}", *options)
        assert f"about {minutes} minutes" in made
        assert (
            json.loads(run("study", "plan", f"s{minutes}", "--json")).get("minutes", 20) == minutes
        )
    (tmp_path / "plan.yaml").write_text("preset: mnro\nquestions: 50\n")
    run("study", "new", "from-file", "--from", tmp_path / "plan.yaml")
    assert json.loads(run("study", "plan", "from-file", "--json"))["minutes"] == 105


@ON_SQLITE
def test_a_study_whose_minutes_are_the_presets_opens_with_a_reason(run):
    run("init")
    run("study", "new", "long", "--questions", 50, "--minutes", 20, *CONTACT)
    checked = json.loads(run("study", "check", "long", "--json"))["findings"]
    [finding] = [each for each in checked if each["code"] == "minutes"]
    assert (finding["stops"], finding["mend"]) == (True, "minutes")
    assert (
        finding["text"] == "50 questions take about 105 minutes, and participants read “about 20”"
    )
    refused = run("study", "open", "long", status=2)
    assert "Give --minutes. Or say why it opens in spite of that: --anyway REASON." in refused
    assert run("study", "open", "long", "--anyway", "  ", status=2) == refused
    run("study", "open", "long", "--anyway", "people may stop early")


@ON_SQLITE
def test_the_papers_study_has_nothing_to_mend(run):
    run("init")
    run("study", "new", "paper", "--preset", "mnro", "--seed", 7, *CONTACT)
    assert "; no warnings." in run("study", "check", "paper").partition("\n")[0]


@ON_SQLITE
def test_a_closing_study_admits_no_one_new_until_it_is_opened_again(run):
    run("init")
    run("study", "new", "pilot", "--questions", 2)
    run("study", "open", "pilot", *CONTACT)
    assert "--hours needs --let-finish" in run("study", "close", "pilot", "--hours", 3, status=2)
    closing = run("study", "close", "pilot", "--let-finish", "--hours", 3)
    assert "admits no one new; 0 people under way can finish" in closing
    assert "closes by itself after the last of them, or after 3 hours." in closing
    assert "admits no one new already" in run("study", "close", "pilot", "--let-finish", status=1)
    assert "closing" in run("study", "list")
    assert "closing" in run("study", "show", "pilot")
    shown = json.loads(run("study", "show", "pilot", "--json"))
    [listed] = json.loads(run("study", "list", "--json"))
    for told in (shown, listed):
        ended, closes = (
            datetime.fromisoformat(told[name]) for name in ("admission_ended_at", "closes_at")
        )
        assert (told["status"], closes - ended) == ("closing", timedelta(hours=3))
    assert "admits people again" in run("study", "open", "pilot")
    assert json.loads(run("study", "show", "pilot", "--json"))["admission_ended_at"] is None
    assert "is open already" in run("study", "open", "pilot", status=1)


@ON_SQLITE
@pytest.mark.parametrize(
    ("typed", "offered"),
    [("My Study 2026", "my-study-2026"), ("Μελέτη", "meleti"), ("mnro-étude", "etude")],
)
def test_an_address_that_cannot_be_is_answered_with_one_that_can(run, typed, offered):
    run("init")
    assert f"; for example {offered}." in run("study", "new", typed, status=1)
    run("study", "new", offered)
    assert f"; for example {offered}-2." in run("study", "new", typed, status=1)
    assert f"; for example {offered}-2." in run("study", "new", offered, status=1)


@ON_SQLITE
def test_the_check_prints_questions_and_findings(run):
    run("init")
    run("study", "new", "pilot", "--seed", 7)
    checked = json.loads(run("study", "check", "pilot", "--json"))
    assert len(checked["questions"]) == 10
    assert any("the same order" in finding["text"] for finding in checked["findings"])
    for place, pair in enumerate(checked["pairs"]):
        orders = [
            [Ranking.parse(each["rankings"][name]) for name in pair["names"]]
            for each in checked["questions"]
        ]
        opposed = [two for two in orders if contradictions(*two)]
        assert pair["contradicting"] == len(opposed)
        assert pair["balanced"] == sum(is_balanced(*two) for two in opposed)
        assert pair["identical"] == sum(first == second for first, second in orders)
        assert pair["balanced"] == sum(
            [*each["balanced"].values()][place] for each in checked["questions"]
        )
        assert (pair["smallest"] is None) == (pair["balanced"] < 3) == ("why" in pair)
        assert pair["sentence"] in " ".join(run("study", "check", "pilot").split())
    assert {pair["pair"] for pair in checked["pairs"]} == {"AP-NMRR", "AP-MNRO", "NMRR-MNRO"}
    printed = run("study", "check", "pilot")
    assert printed.startswith(f"{checked['verdict']}\nWarnings\n")
    verdict = (
        r"AP, NMRR and MNRO order the lists differently in \d of 10 questions; in .+; 2 warnings"
    )
    assert re.match(verdict, printed)
    consequence = "Until then the study cannot open."
    warning = f"participants do not read whom they can ask (contact). {consequence}"
    assert f"{warning}\nSummary\nall: " in printed
    assert re.search(r"all: AP and NMRR put the lists in the same order in \d of 10", printed)
    assert printed.index("How contested") < printed.index("Question 1\n")
    assert "all: MNRO: K = 20 of 100 positions" in printed
    rows = [line.split()[:2] for line in printed.splitlines()]
    assert rows.count(["AP", "1-AP"]) == rows.count(["NMRR", "NMRR"]) == 10


@ON_SQLITE
def test_the_check_names_the_question_of_what_is_to_mend(run, monkeypatch):
    run("init")
    run("study", "new", "pilot", "--seed", 7)
    findings = [Finding(2, "it repeats question 1", mend="lists"), Finding(3, "it is hard")]
    monkeypatch.setattr(lifecycle, "check_study", lambda *_: findings)
    printed = run("study", "check", "pilot")
    consequence = "The study then opens, and its results may not decide this."
    warning = f"question 2: it repeats question 1 (lists). {consequence}"
    assert f"Warnings\n{warning}\nSummary\n" in printed
    assert "question 3: it is hard" in printed


@ON_SQLITE
def test_a_study_that_there_is_not_is_answered_with_those_there_are(run):
    run("init")
    none = "There is no study 'nope'. Make one with `survey study new`."
    assert none in run("study", "check", "nope", status=1)
    run("study", "new", "pilot")
    run("study", "new", "second")
    for command in (
        ["study", "check", "nope"],
        ["analyse", "nope"],
        ["export", "nope", "--to", "x.zip"],
    ):
        told = run(*command, status=1)
        assert "There is no study 'nope'. There are: pilot, second." in told


@ON_SQLITE
def test_a_new_study_draws_its_own_seed(run):
    run("init")
    for slug in ("one", "two"):
        run("study", "new", slug)
    one, two = (json.loads(run("study", "show", slug, "--json")) for slug in ("one", "two"))
    assert one["seed"] != two["seed"]


@ON_SQLITE
def test_a_new_study_shows_scores_only_where_it_is_the_papers(run, tmp_path):
    run("init")
    own = tmp_path / "own.csv"
    lists = (f"{letter},{ranks},50" for letter, ranks in (("A", "1 3"), ("B", "2 9"), ("C", "4 5")))
    own.write_text("question,list,ranks,collection_size\n" + "".join(f"1,{row}\n" for row in lists))
    for slug, options, is_shown in (
        ("one", ["--generator", "random", "--measures", "AP,NMRR,MNRO"], True),
        ("two", ["--preset", "mnro", "--measures", "AP,RR"], True),
        ("three", ["--measures", "AP,RR"], False),
        ("four", ["--own-lists", own], False),
        ("five", ["--generator", "discriminative", "--questions", 1], False),
        ("six", ["--grades", "3,2,2,1,1", "--measures", "AP,nDCG@5", "--kind", "ordering"], False),
    ):
        run("study", "new", slug, *options)
        assert ("show_values: true" in run("study", "plan", slug)) == is_shown, slug


@ON_SQLITE
@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["new", "mnro-survey"], 1, "holds the name of a measure (MNRO)"),
        (["new", "Big Words"], 1, "cannot be the address of a study"),
        (["new", "x", "--lists", 2], 1, "lists is 2; 3 to 10 are allowed"),
        (["new", "x", "--lists", "two"], 2, "'two' found; a whole number is needed"),
        (["new", "x", "--generator", "dice"], 2, "'dice' is not"),
        (["new", "x", "--keywords", __file__], 2, "to label documents for: --kind labelling"),
        (["show", "nowhere"], 1, "There is no study 'nowhere'."),
        (["close", "nowhere"], 1, "There is no study 'nowhere'."),
        (["dance"], 2, "No such command 'dance'"),
    ],
)
def test_wrong_study_commands_end_in_one_sentence(run, arguments, status, message):
    run("init")
    assert message in run("study", *arguments, status=status)


@ON_SQLITE
def test_measure_scores_table_1(run):
    found = json.loads(run("measure", *TABLE_1, "--json"))
    assert found["collection_size"] == 100
    assert found["lists"]["B"]["ranks"] == [1, 3, 4, 5, 6]
    assert found["lists"]["B"]["AP"] == pytest.approx(0.81)
    assert found["lists"]["D"]["MNRO"] == pytest.approx(0.3988366082)
    assert found["rankings"] == {
        "AP": "A>B=C>D>E",
        "NMRR": "A>B>C>D=E",
        "MNRO": "A>B>C>D>E",
    }
    assert "0.3727" in run("measure", *TABLE_1)


@ON_SQLITE
def test_measure_takes_the_collection_size_gmt_and_eq15(run):
    def value(name, *options):
        lists = json.loads(run("measure", "2,30", "--json", *options))["lists"]
        return lists["A"][name]

    assert value("MNRO", "--collection-size", 1000) != value("MNRO")
    assert value("NMRR", "--gmt", 2) != value("NMRR")
    big = ("--collection-size", 1000)
    assert value("MNRO", *big, "--literal-eq15") != value("MNRO", *big)


@ON_SQLITE
def test_measure_takes_columns_of_pictures(run):
    words = ("measure", "1,4", "2,3", "--measures", "RBP-RS(p=0.9,gamma=0.3)@4")
    values = [
        json.loads(run(*words, "--columns", columns, "--json"))["lists"]["A"] for columns in (1, 4)
    ]
    assert values[0] != values[1]
    assert "it needs to know in how many columns pictures are shown" in run(*words, status=2)


@ON_SQLITE
@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (["1,2", "3,x"], "list 2, position 2: 'x' found"),
        (["1,2", "3, x"], "list 2, position 2: 'x' found"),
        (["1,2", "3"], "list 2 has 1 positions, list 1 has 2"),
        (["1,101"], "list 1, position 2: 101 found; the collection has 100 items"),
        (["2,1"], "list 1, position 2: 1 found; positions must be sorted"),
        ([","], "list 1 is empty"),
        (["1"] * 27, "27 lists given; 26 (A to Z) are allowed"),
        ([], "Missing argument 'LIST...'"),
    ],
)
def test_measure_refuses_bad_lists_with_their_place(run, lists, message):
    assert message in run("measure", *lists, status=2)


@ON_SQLITE
@pytest.mark.parametrize("name", [*(f"table{n}" for n in range(1, 9)), "correlations"])
def test_the_papers_tables_agree_with_their_print(run, name, tmp_path):
    run("paper", name, "--to", tmp_path)
    assert all(path.stat().st_size for path in tmp_path.glob("*.csv"))
    assert len(list(tmp_path.glob("*.csv"))) == 1


@ON_SQLITE
def test_every_value_of_tables_1_and_4_that_can_be_recomputed_agrees(run, tmp_path):
    for name, many in (("table1", 30), ("table4", 20)):
        found = json.loads(run("paper", name, "--json"))["comparisons"]
        assert [row["agrees"] for row in found] == [True] * many
    run("paper", "table4", "--to", tmp_path)
    with (tmp_path / "table4.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["computed"] == "MNRO"


@ON_SQLITE
def test_the_papers_table_4_as_json_has_the_keys_of_an_analysis(run):
    found = json.loads(run("paper", "table4", "--json"))
    assert found["table4"]["totals"] == {"AP": 90, "NMRR": 109, "MNRO": 135, "OTHER": 20}
    assert found["first"]["or_tied"]["MNRO"] == 9
    assert found["shares"]["split"]["MNRO"] == pytest.approx(0.36)


@pytest.fixture
def simulated(run):
    run("init")
    run("study", "new", SLUG, "--seed", 3, "--questions", 3)
    run("study", "open", SLUG, *CONTACT)
    run("simulate", SLUG, "--participants", 3, "--prefer", "MNRO=.6,AP=.2,OTHER=.2", "--seed", 9)
    return run


@pytest.fixture
def foreign(tmp_path):
    """Two files from elsewhere: two participants, two questions of three lists, two measures."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    (folder / "questions.csv").write_text(
        "question,list,ranks,collection_size\n"
        "1,A,1 2 9,100\n1,B,2 3 4,100\n1,C,5 30 31,100\n"
        "2,A,1 30 31,100\n2,B,2 3 90,100\n2,C,40 50 60,100\n"
    )
    (folder / "responses.csv").write_text(
        "participant,question,position,label_order,column_order,list_order,clicked,custom_ranking\n"
        "P1,1,,NMRR AP,,,1,\nP1,2,,AP NMRR,,,1 2,\nP2,1,,AP NMRR,,,,B>A=C\n"
    )
    return folder


@ON_SQLITE
def test_votes_made_elsewhere_are_analysed_without_a_database(run, foreign):
    found = json.loads(run("analyse", foreign, "--json"))
    assert found["n"]["participants"] == 2
    assert found["n"]["missing"] == 1
    assert found["study"]["digest"] is None
    assert [row["OTHER"] for row in found["table4"]["rows"]] == [1, 0]
    assert [one["pair"] for one in found["differences"]] == ["NMRR-AP"]
    assert found["bias"]["column_clicks"] is None
    assert "no response says" in found["bias"]["why"]


def undefined_without_why(content, place="analysis"):
    """The places where something is None and nothing beside it says why; even numbers have none."""
    if isinstance(content, list):
        for number, one in enumerate(content):
            yield from undefined_without_why(one, f"{place}[{number}]")
    elif isinstance(content, dict):
        for name, value in content.items():
            if value is None and not content.get("why") and name != "uneven":
                yield f"{place}.{name}"
            yield from undefined_without_why(value, f"{place}.{name}")


@ON_SQLITE
def test_whatever_is_undefined_says_why(run, foreign):
    found = json.loads(run("analyse", foreign, "--json"))
    del found["choices"], found["verdicts"]  # None means "no question", "no preference" there
    assert list(undefined_without_why(found)) == []


@pytest.mark.slow
@ON_SQLITE
def test_a_report_stands_alone_and_is_the_same_each_time(run, foreign, tmp_path):
    for name in ("one", "other"):
        run("analyse", foreign, "--to", tmp_path / name)
    one, other = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}
        for folder in (tmp_path / "one", tmp_path / "other")
    )
    assert one == other
    html = one[Path("report.html")].decode()
    assert not re.search(r"(src|href)=\"(?!#)", html)
    assert "<svg" in html
    assert "@media print" in html
    assert "What the answers support" in html
    # The sentence to quote and a row for each pair come first, in print as in the report.
    shown = run("analyse", foreign)
    headline = html.partition('<h2 id="answer">')[2].partition("</h2>")[0]
    assert headline == "The answers do not show which measure people agree with."
    assert " ".join(shown.split()).startswith(f"{headline} Not decided. - ")
    assert html.index(headline) < html.index("What the answers support")
    first, _, rest = shown.partition("The study itself is unknown")
    assert "- " in first
    assert "What the answers support" in rest
    kinds = {path.suffix for path in one}
    assert kinds == {".html", ".json", ".txt", ".csv", ".md", ".tex", ".svg", ".pdf", ".png"}
    assert b"\\toprule" in one[Path("tables/table4.tex")]
    assert json.loads(one[Path("analysis.json")]) == json.loads(run("analyse", foreign, "--json"))


@ON_SQLITE
def test_the_look_of_figures_is_of_files_and_within_bounds(run, foreign):
    alone = run("analyse", foreign, "--font", "serif", status=2)
    assert "--font is of the files that --to FOLDER writes; give it too." in " ".join(alone.split())
    options = ("--to", "x", "--figure-width", "99")
    assert "99.0 is not in the range 2.5<=x<=10" in run("analyse", foreign, *options, status=2)


@ON_SQLITE
def test_answers_of_excluded_participants_alone_are_not_called_missing(run, foreign):
    responses = foreign / "responses.csv"
    first, *others = responses.read_text().splitlines()
    responses.write_text("\n".join([f"{first},excluded", *(f"{row},1" for row in others), ""]))
    shown = run("analyse", foreign)
    assert "Left out: 2 excluded" in shown
    assert "Only excluded participants have answered." in shown


@ON_SQLITE
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--without-question", "9"], "There is no question 9 that could be left out."),
        (["--ties", "ignored"], "'ignored' is not one of 'kept', 'split', 'dropped'"),
    ],
)
def test_choices_that_cannot_be_made_are_told(run, foreign, options, message):
    status = 2 if "--ties" in options else 1
    assert message in run("analyse", foreign, *options, status=status)


@ON_SQLITE
def test_a_target_that_is_none_is_told(run, tmp_path):
    assert "nothing.zip" in run("analyse", tmp_path / "nothing.zip", status=1)
    (tmp_path / "empty").mkdir()
    assert "study.json is missing" in run("analyse", tmp_path / "empty", status=1)


def analysed(run, *options, slug=SLUG):
    return json.loads(run("analyse", slug, "--json", *options))


@pytest.mark.slow
@ON_SQLITE
def test_an_analysis_without_shown_methods_says_that_there_are_no_votes(run):
    run("init")
    run("study", "new", SLUG, "--seed", 3, "--questions", 2, "--columns", "never")
    run("study", "open", SLUG, *CONTACT)
    run("simulate", SLUG, "--participants", 2)
    shown = " ".join(run("analyse", SLUG, "--include-test").split())
    assert "nothing could be ticked: what follows on votes, shares" in shown


@pytest.mark.slow
def test_simulated_participants_fill_table_4_and_are_test_data(simulated):
    found = analysed(simulated, "--include-test")
    assert found["n"] == {
        "participants": 3,
        "questions": 3,
        "responses": 9,
        "missing": 0,
        "excluded": 0,
        "flagged_left_out": 0,
        "test_left_out": 0,
        "test_counted": 3,
    }
    assert [row["merged"] for row in found["table4"]["rows"]] == [3] * 3
    assert found["table3"]["completed"] == 3
    assert found["study"]["digest"]
    assert analysed(simulated)["n"]["participants"] == 0
    assert "Only test participants have answered" in simulated("analyse", SLUG)
    printed = simulated("analyse", SLUG, "--include-test")
    assert "Votes per question" in printed
    assert "Participants saw the methods' scores. By its scores" in " ".join(printed.split())


@pytest.mark.slow
@ON_SQLITE
def test_a_report_in_a_folder_of_the_studys_name_does_not_hide_the_study(
    simulated, foreign, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        simulated("analyse", SLUG, "--to", SLUG)
    assert (tmp_path / SLUG / "report.html").exists()
    assert json.loads(simulated("analyse", foreign.name, "--json"))["study"]["slug"] is None


@pytest.mark.slow
@ON_SQLITE
def test_the_only_study_needs_no_name_and_several_are_asked_for(simulated):
    assert json.loads(simulated("analyse", "--json"))["study"]["slug"] == SLUG
    simulated("study", "new", "second")
    assert "Which study? There are: five-systems, second." in simulated("analyse", status=1)


@ON_SQLITE
def test_what_is_undefined_says_why(run):
    run("init")
    run("study", "new", SLUG)
    found = analysed(run)
    assert found["shares"]["of_credits"] is None
    assert found["shares"]["why"] == "there are no responses"
    assert found["table3"]["minutes"]["why"].startswith("a mean needs one value")


@pytest.mark.slow
@ON_SQLITE
def test_the_same_seed_gives_the_same_table_4_in_another_study(simulated):
    simulated("study", "new", "again", "--seed", 3, "--questions", 3)
    simulated("study", "open", "again", *CONTACT)
    prefer = ("--prefer", "MNRO=.6,AP=.2,OTHER=.2")
    simulated("simulate", "again", "--participants", 3, *prefer, "--seed", 9)
    first, second = (analysed(simulated, "--include-test", slug=slug) for slug in (SLUG, "again"))
    assert first["table4"] == second["table4"]
    assert first["table3"]["numbers"] == second["table3"]["numbers"]
    simulated("simulate", "again", "--participants", 1, *prefer, "--seed", 10)
    assert analysed(simulated, "--include-test", slug="again")["n"]["participants"] == 4


@ON_SQLITE
@pytest.mark.parametrize(
    ("prefer", "message"),
    [
        ("MNRO=.5", "sums to 0.5"),
        ("MNRO=.5,XY=.5", "'XY=.5' found in the preference; AP, NMRR, MNRO, OTHER"),
        ("MNRO=half", "write a share like MNRO=.5"),
        ("MNRO=1.5,AP=-.5", "shares from 0 to 1"),
        ("MNRO=nan", "sums to nan"),
    ],
)
def test_a_preference_that_cannot_be_is_explained(run, prefer, message):
    run("init")
    run("study", "new", SLUG, "--questions", 1)
    run("study", "open", SLUG, *CONTACT)
    told = run("simulate", SLUG, "--participants", 1, "--prefer", prefer, status=1)
    assert message in told


@ON_SQLITE
def test_only_an_open_study_can_be_simulated(run):
    run("init")
    run("study", "new", "draft", "--questions", 1)
    assert "survey study open draft" in run("simulate", "draft", "--participants", 1, status=1)


@pytest.mark.slow
def test_real_answers_are_counted_and_their_minutes_measured(run, app):
    run("study", "new", SLUG, "--seed", 5, "--questions", 3)
    run("study", "open", SLUG, *CONTACT)
    Visitor(app.test_client()).take_part()
    half = Visitor(app.test_client())
    half.start()
    half.submit("/q/1", choice=["1", "2"], settle="several")
    found = analysed(run)
    assert (found["n"]["participants"], found["n"]["missing"]) == (2, 2)
    assert found["table3"]["minutes"]["n"] == 1
    assert 0 <= found["table3"]["minutes"]["mean"] < 5  # whole seconds; a test takes one or none
    assert found["table3"]["numbers"]["age"] == {"n": 2, "mean": 23.0, "sd": 0.0}


def test_help_does_not_wait_for_numpy_or_flask():
    probe = (
        "import contextlib, sys; from survey.__main__ import main\n"
        "sys.argv = ['survey', '--help']\n"
        "with contextlib.suppress(SystemExit): main()\n"
        "print([m for m in ('numpy', 'flask', 'sqlalchemy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert "simulate" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_no_module_of_the_command_imports_a_heavy_library():
    """Otherwise --help and Tab wait seconds for it: import it in the function that runs."""
    probe = (
        "import importlib, pkgutil, sys, survey.cli\n"
        "modules = [m.name for m in pkgutil.walk_packages(survey.cli.__path__, 'survey.cli.')]\n"
        "for name in modules: importlib.import_module(name)\n"
        "heavy = ('babel', 'flask', 'matplotlib', 'numpy', 'rich', 'sqlalchemy', 'yaml')\n"
        "print(len(modules), [name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    number, heavy = done.stdout.split(maxsplit=1)
    assert int(number) >= 10
    assert heavy.strip() == "[]"


@pytest.mark.parametrize(
    ("line", "needed"),
    [
        ("--version", ()),
        ("completion bash", ()),
        ("measure 1,4,9 --json", ("numpy",)),
        ("measure 1,4,9", ("numpy", "rich")),
    ],
)
def test_a_command_imports_no_more_than_it_needs(line, needed):
    """So that it starts in less than .3 s."""
    slow = ("numpy", "numpy.random", "scipy", "hashlib", "sqlalchemy", "flask", "rich", "yaml")
    probe = (
        "import contextlib, sys; from survey.__main__ import main\n"
        f"sys.argv = ['survey', *{line.split()}]\n"
        "with contextlib.suppress(SystemExit): main()\n"
        f"print([m for m in {slow} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str([*needed])


@pytest.mark.parametrize(
    "line",
    [
        "assess compare clusters clusters",
        "assess merge labels --to merged",
        "evaluate --qrels qrels --run a --run b",
        "feedback --qrels qrels --run a --run b",
        "paper figure1",
        "paper table1",
        "power --participants many",
    ],
)
def test_a_command_without_a_database_starts_without_what_takes_long(line, tmp_path):
    """scipy's parts are imported where they are used, a second in all; SQLAlchemy never."""
    (tmp_path / "a").write_text("t1 Q0 d1 1 2.0 a\nt1 Q0 d2 2 1.0 a\n")
    (tmp_path / "b").write_text("t1 Q0 d2 1 2.0 b\nt1 Q0 d1 2 1.0 b\n")
    (tmp_path / "qrels").write_text("t1 0 d1 1\n")
    (tmp_path / "clusters").write_text("t1 d1 boat\nt1 d2 car\n")
    (tmp_path / "labels").write_text("annotator,topic,document,relevant\n1,t1,d1,1\n")
    slow = ("flask", "matplotlib", "scipy.optimize", "scipy.special", "scipy.stats", "sqlalchemy")
    probe = (
        "import contextlib, sys; from survey.__main__ import main\n"
        f"sys.argv = ['survey', *{line.split()}]\n"
        "with contextlib.suppress(SystemExit): main()\n"
        f"print('numpy' in sys.modules, [m for m in {slow} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.splitlines()[-1] == "True []"


def test_choices_and_defaults_are_those_of_the_services():
    """The options repeat them, because importing them would make --help slow."""
    choices = {
        ("survey study new", "preset"): PRESETS,
        ("survey study new", "generator"): tuple(GENERATORS),
        ("survey paper", "name"): (*REPRODUCTIONS, "all", "study", "studies"),
    }
    for (path, name), values in choices.items():
        assert tuple(parameter(path, name).type.choices) == tuple(values), path
    defaults = {
        ("survey measure", "names"): ",".join(THE_PAPERS),
        ("survey evaluate", "resamples"): run_evaluation.REPLICATES,
        ("survey evaluate", "seed"): run_evaluation.SEED,
        ("survey feedback", "resamples"): run_evaluation.REPLICATES,
        ("survey feedback", "seed"): run_evaluation.SEED,
        ("survey assess compare", "threshold"): assessment.SUFFICIENT,
        ("survey assess gold", "threshold"): assessment.SUFFICIENT,
        ("survey assess gold", "floor"): assessment.FLOOR,
    }
    for (path, name), default in defaults.items():
        assert parameter(path, name).default == default, path


def parameter(path, name):
    return {param.name: param for param in LEAVES[path].params}[name]


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_told_nothing():
    """`survey paper slips | head -1`, with a real pipe that closes early."""
    command = [sys.executable, "-m", "survey", "paper", "slips"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
        ran.stdout.readline()
        ran.stdout.close()
        assert ran.stderr.read() == b""


def test_a_study_without_an_owner_says_so_and_what_to_do(run):
    run("init")
    run("researcher", "add", "Ada Lovelace")
    assert "has no owner" not in run("study", "new", "hers")
    run("researcher", "add", "Grace Hopper")
    told = run("study", "new", "nobodys")
    assert "`survey study share nobodys NAME` adds an owner." in told
    assert "has no owner" not in run("study", "new", "graces", "--owner", "Grace Hopper")


@ON_SQLITE
def test_no_title_or_id_steers_the_terminal(run, session):
    steering = "\x1b[2J\x9b31m\u202e\u2066\x07 end"
    lifecycle.create_study(session, "loud", a_plan(title=f"A study{steering}"))
    session.commit()
    listed = run("study", "list")
    assert "<U+001B>[2J<U+009B>31m<U+202E><U+2066><U+0007> end" in " ".join(listed.split())
    as_json = run("study", "list", "--json")
    assert json.loads(as_json)[0]["title"] == f"A study{steering}"
    printed = [listed, as_json, run("study", "show", "loud"), run("study", "check", "loud")]
    printed.append(run("study", "show", f"a{steering}", status=1))
    for text in printed:
        assert not {*text} & {"\x1b", "\x9b", "\u202e", "\u2066", "\x07"}


@ON_SQLITE
def test_no_bundle_steers_the_terminal(run, tmp_path):
    steering = "\x1b[2J\x9b31m\u202e\u2066\x07"
    frozen = unzipped((RELEASED / "0.2.0" / "ordering.zip").read_bytes())
    frozen = with_json(frozen, "study.json", lambda c: c["versions"].update(commit="0" * 40))
    older = with_json(frozen, "study.json", lambda c: c["versions"].update(survey=steering))
    noted = {**frozen, f"{steering}.csv": b"a"}
    for files in (
        noted,
        with_cell(older, "votes.csv", 2, "label", steering),
        with_cell(older, "participants.csv", 2, "participant", steering),
        with_json(older, "analysis.json", lambda c: c["n"].update(responses=steering)),
        with_json(older, "study.json", lambda c: c.update(status=steering)),
    ):
        folder = Path(mkdtemp(dir=tmp_path))
        for name, content in summed(files).items():
            (folder / name).write_bytes(content)
        for words in (("replicate", folder), ("replicate", folder, "--json")):
            text = run(*words, status=int(files is not noted))
            assert not {*text} & {"\x1b", "\x9b", "\u202e", "\u2066", "\x07"}


def test_commands_print_through_one_door():
    """Which makes signs harmless that steer a terminal."""
    modules = Path(cli.__file__).parent.glob("*.py")
    assert {path.name for path in modules if "click.echo(" in path.read_text()} == {
        "terminal.py",
        "completion.py",  # prints a script of click's own
    }


@ON_SQLITE
def test_a_study_shows_its_minutes_and_the_people_in_each_group(run, tmp_path):
    run("init")
    (tmp_path / "plan.yaml").write_text(
        "preset: mnro\nquestions: 10\npersonal_fields:\n- name: age\n  label: Your age\n"
        "  kind: number\n  quotas: {18-29: 10, 30+: 0}\n"
    )
    run("study", "new", "grouped", "--from", tmp_path / "plan.yaml", *CONTACT)
    shown = json.loads(run("study", "show", "grouped", "--json"))
    assert shown["quotas"] == {
        "Your age": {"18-29": {"people": 0, "most": 10}, "30+": {"people": 0, "most": 0}}
    }
    assert shown["minutes"] == {"promised": 20, "median": None, "finished": 0}
    text = run("study", "show", "grouped")
    assert re.search(r"minutes\W+promised 20", text)
    assert re.search(r"quota of “Your age”, 30\+\W+0 of 0 \(full\)", text)
    run("study", "new", "plain", *CONTACT)
    assert "quotas" not in json.loads(run("study", "show", "plain", "--json"))
    assert "quota" not in run("study", "show", "plain")
