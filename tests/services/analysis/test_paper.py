"""What is written for a paper fits a paper of two columns, and one of one, as pdflatex sets it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from survey.services.collections import albums
from survey.services.operations import demo
from tests.builders import an_open_study
from tests.cli.conftest import run
from tests.databases import ON_SQLITE
from tests.services.exchange.changes import zipped
from tests.sites import site_bundles

__all__ = ["run"]
pytestmark = pytest.mark.slow

INSTALL = "on Debian: apt install texlive-latex-base texlive-latex-recommended"
RUNS = ("binary-patterns", "colour-histogram", "tiny-grey")
PEOPLE = {
    "five-systems": 6,
    "five-systems-in-pictures": 6,
    "two-lists": 8,
    "matching-pictures": 3,
    "piles-of-pictures": 3,
}
ALSO_IN_ONE_COLUMN = ("two-lists", "piles-of-pictures")
ARMS = {
    "anchoring": ["before", "after", "never"],
    "instructed": [
        {"name": "plain"},
        {"name": "early positions count most", "criterion": "Early ones count most."},
    ],
}
ARM_TABLES = {"anchoring": {"anchoring"}, "instructed": {"arms", "arm-effects"}}
# Of a paper with two columns of 241 pt, as ACM's, and of one with a column of 347 pt, as LNCS.
TWO_COLUMNS = r"""\documentclass[10pt,twocolumn]{article}
\setlength{\textwidth}{506pt}\setlength{\columnsep}{24pt}"""
ONE_COLUMN = r"""\documentclass[10pt]{article}
\setlength{\textwidth}{347pt}"""
FAULTS = re.compile(r"^(?:Overfull|!|LaTeX Warning: (?!There were|Label)).*", re.MULTILINE)


@pytest.fixture(scope="module", autouse=True)
def pdflatex():
    """The program; without it the tests are skipped, and fail in CI."""
    if shutil.which("pdflatex") is None and os.environ.get("REQUIRE_LATEX") == "1":
        pytest.fail(f"pdflatex is not installed, and REQUIRE_LATEX=1 ({INSTALL})")
    if shutil.which("pdflatex") is None:
        pytest.skip(f"pdflatex is not installed; {INSTALL}")


def faults_of(folder, beginning):
    """Set all tables, a page each, and all figures; return what LaTeX complains about."""
    tables = sorted(path.name for path in (folder / "tables").glob("*.tex"))
    lines = [
        beginning,
        r"\setlength{\oddsidemargin}{-18pt}\setlength{\textheight}{680pt}",
        r"\usepackage{booktabs,array,longtable,graphicx}\extrafloats{100}",
        r"\begin{document}",
        *(rf"\message{{^^J{name}^^J}}Text.\input{{tables/{name}}}\clearpage" for name in tables),
        r"\message{^^Jfigures.tex^^J}\input{figures.tex}",
        *([r"\message{^^Jmethods.tex^^J}\input{methods.tex}"] * (folder / "methods.tex").exists()),
        r"\end{document}",
    ]
    (folder / "paper.tex").write_text("\n".join(lines))
    command = ["pdflatex", "-interaction=nonstopmode", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / "paper.log").read_text(errors="replace")
    assert done.returncode == 0, log[-3000:]
    assert len(tables) > 2
    assert (folder / "paper.pdf").exists()
    return FAULTS.findall(log)


@ON_SQLITE
def test_tables_and_figures_of_every_kind_fit_a_column(run, app, session, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "COMPARED_RUNS", RUNS)
    demo.ensure_studies(session)
    session.commit()
    for slug, people in PEOPLE.items():
        run("simulate", slug, "--participants", people)
        words = ("analyse", slug, "--include-test", "--to")
        run(*words, tmp_path / slug)
        assert faults_of(tmp_path / slug, TWO_COLUMNS) == [], slug
        captions = (tmp_path / slug / "figures.tex").read_text()
        assert rf"\label{{fig:{slug}-" in captions
        assert r"\includegraphics[width=3.33in]{figures/" in captions
        assert re.search(r"\. \d+ (participant|annotator|assessor)s, \d+ ", captions), slug
        if slug not in ALSO_IN_ONE_COLUMN:
            continue
        serif = ("--figure-width", 4.8, "--font", "serif", "--table-width", 347)
        run(*words, tmp_path / f"{slug}-lncs", *serif)
        assert faults_of(tmp_path / f"{slug}-lncs", ONE_COLUMN) == [], slug


@ON_SQLITE
@pytest.mark.parametrize("name", ARMS)
def test_tables_and_figures_of_arms_fit_a_column(run, session, tmp_path, name):
    asked = {"questions": 6, "practice": False, "asked_by": "us", "contact": "us@example.org"}
    an_open_study(session, name, participants=12, arms=ARMS[name], **asked)
    session.commit()
    run("simulate", name, "--participants", 12)
    run("analyse", name, "--include-test", "--to", tmp_path / name)
    tables = {path.stem for path in (tmp_path / name / "tables").glob("*.tex")}
    assert ARM_TABLES[name] <= tables
    assert faults_of(tmp_path / name, TWO_COLUMNS) == []
    serif = ("--figure-width", 4.8, "--font", "serif", "--table-width", 347)
    run("analyse", name, "--include-test", "--to", tmp_path / "lncs", *serif)
    assert faults_of(tmp_path / "lncs", ONE_COLUMN) == []


@pytest.mark.parametrize("names", [("rome", "lyon", "oslo", "bern"), ("six", "seven", "eight")])
def test_pooled_studies_fit_a_column_whatever_their_files_are_called(run, tmp_path, names):
    bundles = site_bundles(tmp_path)
    paths = [
        tmp_path / f"{title}.zip"
        for title in (
            "University of Rome & friends 100%",
            "université_de_lyon_2026",
            "c#^~{x}",
            "d",
        )
    ][: len(names)]
    for name, path in zip(names, paths, strict=True):
        path.write_bytes(zipped(bundles[name]))
    words = ("pool", *paths, *(["--same-design"] * ("six" in names)), "--to")
    run(*words, tmp_path / "two")
    tables = {path.stem for path in (tmp_path / "two" / "tables").glob("*.tex")}
    assert {"leads", "heterogeneity", "sites", "without-each"} <= tables
    assert r"\label{fig:pooled-forest}" in (tmp_path / "two" / "figures.tex").read_text()
    assert faults_of(tmp_path / "two", TWO_COLUMNS) == []
    serif = ("--figure-width", 4.8, "--font", "serif", "--table-width", 347)
    run(*words, tmp_path / "one", *serif)
    assert faults_of(tmp_path / "one", ONE_COLUMN) == []


def test_an_evaluation_fits_a_column(run, tmp_path):
    files = Path(albums.__file__).parent / "collection"
    runs = sorted((files / "runs").glob("*.txt"))
    words = ("evaluate", "--qrels", files / "qrels.txt", "--run", *runs, "--all-runs", "--baseline")
    measures = ("--collection-size", 168, "--measures", "AP", "nDCG@10", "NMRR", "MNRO", "RR")
    run(*words, "tiny-grey", *measures, "--to", tmp_path)
    assert (tmp_path / "figures/mean-nDCG-10.pdf").exists()
    assert r"\label{tab:evaluation-means}" in (tmp_path / "tables/means.tex").read_text()
    assert faults_of(tmp_path, TWO_COLUMNS) == []
