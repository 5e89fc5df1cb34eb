"""Kinds of two packages, installed as wheels, are used by the plain command and its server."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
from babel.messages import mofile, pofile
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from tests.accessibility.looking import ask, axe, prepared
from tests.browser.test_labelling import CHECKS, begin
from tests.builders import KEY
from tests.guides.pages import blocks_of, page_named
from tests.services.exchange.changes import readdressed, unzipped
from tests.serving import free_port

pytestmark = pytest.mark.slow

GUESSES = Path(__file__).with_name("guesses")
PLAN = {
    "kind": "guesses",
    "title": "How many?",
    "asked_by": "Ada",
    "purpose": "To see.",
    "consent": "I agree.",
    "scenario": "Lists have names.",
    "reminder": "",
    "question_text": "How long is the list?",
    "contact": "ada@example.org",
    "language": "el",
    "minutes": 1,
    "names": ["a long list", "a short one"],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder in which the wheels of both packages are installed."""
    folder = tmp_path_factory.mktemp("packages")
    shutil.copytree(GUESSES, folder / "guesses")
    catalogue = folder / "guesses/guesses/translations/el/LC_MESSAGES/messages.po"
    with catalogue.open("rb") as source, catalogue.with_suffix(".mo").open("wb") as compiled:
        mofile.write_mo(compiled, pofile.read_po(source, "el"))
    for block in blocks_of(page_named("add-a-kind.md")):
        if block.name:
            (folder / block.name).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.name).write_text(block.text)
    pip = [sys.executable, "-m", "pip", "--quiet"]
    for name in ("stars", "guesses"):
        built = [*pip, "wheel", "--no-deps", "--wheel-dir", folder / "wheels", folder / name]
        subprocess.run(built, check=True)
    wheels = sorted((folder / "wheels").glob("*.whl"))
    assert len(wheels) == 2
    subprocess.run([*pip, "install", "--no-deps", "--target", folder / "site", *wheels], check=True)
    return folder


@pytest.fixture
def survey(site, tmp_path):
    """Run the plain command, which sees the packages, on an instance of its own."""

    def run(*words, status=0, sees=True):
        environment = {
            **os.environ,
            "SURVEY_INSTANCE": str(tmp_path / "instance"),
            "SURVEY_SECRET_KEY": KEY,
            "PYTHONPATH": f"{site / 'site'}" if sees else "",
        }
        command = [sys.executable, "-m", "survey", *map(str, words)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

    return run


@contextmanager
def serving(site, instance):
    """Serve the instance; give the address."""
    port = free_port()
    environment = {
        **os.environ,
        "SURVEY_INSTANCE": str(instance),
        "SURVEY_SECRET_KEY": KEY,
        "PYTHONPATH": f"{site / 'site'}",
    }
    command = [sys.executable, "-m", "survey", "serve", "--port", str(port)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        while "Ctrl-C" not in process.stdout.readline():
            assert process.poll() is None
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.mark.parametrize("kind", ["stars", "guesses"])
def test_a_study_goes_from_plan_to_replicated_bundle(site, survey, tmp_path, kind):
    plan = site / "plan.yaml"
    if kind == "guesses":
        plan = tmp_path / "plan.yaml"
        plan.write_text(json.dumps(PLAN))
    survey("init")
    kinds = [row for row in json.loads(survey("doctor", "--json")) if row["check"] == "kinds"]
    assert [row["text"] for row in kinds] == ["guesses of guesses 2.1, stars of stars 1.0"]
    survey("study", "new", kind, "--from", plan)
    survey("study", "open", kind, "--anyway", "a test")
    survey("simulate", kind, "--participants", 3)
    survey("study", "close", kind)
    survey("analyse", kind, "--include-test", "--to", tmp_path / "paper")
    assert (tmp_path / "paper" / "report.html").exists()
    survey("export", kind, "--to", tmp_path / "done.zip", "--include-test")
    assert "every figure recomputed" in survey("replicate", tmp_path / "done.zip")
    survey("researcher", "add", "Ada")
    survey("import", tmp_path / "done.zip", "--as", "again", "--owner", "Ada")
    survey("export", "again", "--to", tmp_path / "again.zip", "--include-test")
    done, again = (unzipped((tmp_path / f"{name}.zip").read_bytes()) for name in ("done", "again"))
    assert done["answers.csv"] == readdressed(again, done)["answers.csv"]
    # Without the packages it is listed, its rows are written, and all else says what to install.
    version = {"stars": "stars 1.0", "guesses": "guesses 2.1"}[kind]
    told = " ".join(survey("study", "list", sees=False).split())
    assert f"is of kind '{kind}', which is not installed here. Install {version}" in told
    told = " ".join(survey("replicate", tmp_path / "done.zip", sees=False, status=1).split())
    assert f"comes with the package {version}, not installed here" in told
    survey("export", kind, "--rows", tmp_path / "rows", "--include-test", sees=False)
    rows = (tmp_path / "rows" / "response.csv").read_text().splitlines()
    assert len(rows) == 1 + 3 * (3 if kind == "stars" else 2)


def test_templates_static_files_and_translations_of_a_package_are_found(site, survey, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(json.dumps(PLAN))
    survey("init")
    survey("study", "new", "guesses", "--from", plan)
    survey("study", "open", "guesses", "--anyway", "a test")
    with serving(site, tmp_path / "instance") as address, requests.Session() as browser:
        page = BeautifulSoup(browser.get(f"{address}/s/guesses").text, "html.parser")
        while not page.select_one("#items"):
            form = page.select_one("main form")
            sent = {each["name"]: each.get("value", "") for each in form.select("[type=hidden]")}
            answer = browser.post(address + form["action"], {**sent, "agree": "y"})
            page = BeautifulSoup(answer.text, "html.parser")
        assert page.select_one(".guessed").text.lower() == "η λίστα λέγεται a long list."
        assert page.select_one("label[for=items]").text == "Πόσα στοιχεία;"
        assert [box["value"] for box in page.select("[name=sure]")] == ["1", "0"]
        sheets = [each["href"] for each in page.select("link[rel=stylesheet]")]
        [own] = [each for each in sheets if "guesses" in each]
        assert ".guessed" in browser.get(address + own).text
        form = page.select_one("main form")
        sent = {each["name"]: each.get("value", "") for each in form.select("[type=hidden]")}
        refused = browser.post(address + form["action"], {**sent, "items": "1001"})
        assert refused.status_code == 400
        shown = BeautifulSoup(refused.text, "html.parser")
        assert shown.select_one("#items")["value"] == "1001"  # what was typed stays
        assert "Give a number to 1000." in refused.text
        given = {"items": "12", "sure": "0", "remark": " a guess "}
        assert browser.post(address + form["action"], {**sent, **given}).url.endswith("/q/2")
    survey("study", "close", "guesses")
    survey("export", "guesses", "--to", tmp_path / "done.zip", "--include-test")
    [_, row] = zipfile.ZipFile(tmp_path / "done.zip").read("answers.csv").decode().splitlines()
    assert ",12,0,a guess," in row


def test_a_page_of_a_package_says_in_a_browser_what_will_be_saved(site, survey, tmp_path, browser):
    plan = tmp_path / "plan.yaml"
    plan.write_text(json.dumps({**PLAN, "language": "en"}))
    survey("init")
    for slug, file in (("guesses", plan), ("stars", site / "plan.yaml")):
        survey("study", "new", slug, "--from", file)
        survey("study", "open", slug, "--anyway", "a test")
    with serving(site, tmp_path / "instance") as address:
        for slug in ("stars", "guesses"):
            context = prepared(browser)
            page = context.new_page()
            begin(page, f"{address}/s/{slug}")
            page.wait_for_load_state("networkidle")
            for width, theme in ((320, "light"), (768, "dark"), (1280, "light")):
                page.set_viewport_size({"width": width, "height": 800})
                page.emulate_media(color_scheme=theme)
                where = f"{slug}, {width} px"
                faults = [fault for name in CHECKS for fault in ask(page, name, where)]
                assert [*axe(page, where), *faults] == []
            line = page.locator("#echo")
            if slug == "stars":
                expect(line).to_have_text("How many stars?")
                page.get_by_label("4", exact=True).check()
                expect(line).to_have_text("How many stars? 4.")
            else:
                page.get_by_label("How many items?").fill("12")
                page.get_by_label("No", exact=True).check()
                expect(line).to_have_text("How many items? 12. Are you sure? No.")
            page.get_by_role("button", name="Next").click()
            page.wait_for_url("**/q/2")
            context.close()


FAULTS = {
    "cannot show it (TypeError: unhashable type: 'list')": (
        "return (question.text,)",
        "return [question.text]",
    ),
    "could not analyse the answers (KeyError: 'nothing'); tell": (
        "stars = defaultdict(list)",
        "stars = {}['nothing']",
    ),
}


@pytest.mark.parametrize("told", FAULTS)
def test_a_fault_in_a_packages_code_is_told_with_whose_it_is(site, survey, tmp_path, told):
    file = site / "site" / "stars" / "__init__.py"
    code = file.read_text()
    old, new = FAULTS[told]
    assert old in code
    survey("init")
    file.write_text(code.replace(old, new))
    try:
        survey("study", "new", "stars", "--from", site / "plan.yaml")
        if "show" in told:
            said = survey("study", "open", "stars", "--anyway", "a test", status=1)
        else:
            survey("study", "open", "stars", "--anyway", "a test")
            survey("simulate", "stars", "--participants", 1)
            survey("study", "close", "stars")
            said = survey("analyse", "stars", "--include-test", status=1)
    finally:
        file.write_text(code)
    assert told in " ".join(said.split())


def test_a_package_that_cannot_be_registered_is_named_and_stops_nothing(site, survey, tmp_path):
    broken = tmp_path / "broken"
    (broken / "broken-1.0.dist-info").mkdir(parents=True)
    entries = "[survey.kinds]\nbroken = nowhere:Kind\nstars = stars:StarsPlan\n"
    (broken / "broken-1.0.dist-info" / "entry_points.txt").write_text(entries)
    (broken / "broken-1.0.dist-info" / "METADATA").write_text("Name: broken\nVersion: 1.0\n")
    survey("init")
    environment = {
        **os.environ,
        "SURVEY_INSTANCE": str(tmp_path / "instance"),
        "SURVEY_SECRET_KEY": KEY,
        "PYTHONPATH": os.pathsep.join([str(site / "site"), str(broken)]),
    }
    command = [sys.executable, "-m", "survey", "doctor", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    [kinds] = [row for row in json.loads(done.stdout) if row["check"] == "kinds"]
    assert kinds["level"] == "warning"
    assert "The kind 'broken' of broken 1.0 is not registered: ModuleNotFoundError" in kinds["text"]
    assert "stars:StarsPlan is no subclass of survey.kinds.Kind" in kinds["text"]
