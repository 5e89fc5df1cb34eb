"""What pages suppose to be there: files of the reader's own, and what takes long made short."""

import csv
import gzip
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urljoin

import requests
from bs4 import BeautifulSoup
from sqlalchemy.orm import Session

from survey.services.collections import albums as shipped
from survey.services.collections import items
from survey.services.operations.database import connect
from survey.services.planning import simulation
from survey.services.studies import lifecycle
from tests.commands import runs_for
from tests.guides.pages import ROOT
from tests.guides.story import Story

# What a page says, and what is run. Simulated people go through the real pages, a server's
# processes start one by one, and figures have tests of their own, for votes and for the paper.
FEWER = {
    "--participants 30 --prefer": "--participants 2 --prefer",
    "--include-test --to pilot-paper": "--include-test",
    "paper all --to": "paper figure1 --to",
    "--to power.csv": "--to power.csv --replicates 100",
    "--workers 4": "--workers 1",
}
ON_POSTGRESQL = frozenset({"thousand-participants.md"})
# Pages that continue one example: they are one story, in the folder that the first begins.
CONTINUED_BY = {
    "run-your-own-study.md": ("settings.md", "ethics.md", "recruitment.md", "analysis.md")
}


def assessors(folder: Path) -> None:
    """Labels and clusters by three assessors, and runs of the topics they judged."""
    for name, grade in (("ann", 2), ("bob", 1), ("eve", 1)):
        lines = [f"t{t} 0 d{d} {grade}\n" for t in (1, 2) for d in (1, 2, 3)]
        (folder / f"{name}.txt").write_text("".join(lines))
        words = {1: "condor", 2: "condor", 3: "pelican"}
        lines = [f"t{t} d{d} {name}'s {word}\n" for t in (1, 2) for d, word in words.items()]
        (folder / f"{name}-clusters.txt").write_text("".join(lines))
    for name in ("ann", "bob"):
        (folder / f"{name}.csv").write_text("query,docid,rating\nstar wars,11,3\nstar wars,22,0\n")
    result = {"from_name": "rel", "type": "choices", "value": {"choices": ["relevant"]}}
    annotation = {"id": 1, "completed_by": 7, "was_cancelled": False, "result": [result]}
    data = {"image": "/data/upload/1/0a1b2c3d-d1.jpg", "query": "q1"}
    tasks = [{"id": 1, "data": data, "annotations": [annotation]}]
    (folder / "export.json").write_text(json.dumps(tasks))
    runs_for(folder)
    (folder / "b.txt").write_bytes(gzip.decompress((folder / "b.txt.gz").read_bytes()))


def released(folder: Path) -> None:
    """The public bundle of a study."""
    bundles = ROOT / "tests" / "cases" / "released" / "0.2.0"
    shutil.copy(bundles / "ordering-public.zip", folder / "study.zip")


def albums(folder: Path) -> None:
    """The albums that come along, a folder each."""
    for path in (Path(shipped.__file__).parent / "collection").glob("*.webp"):
        group, _, number = path.stem.rpartition("-")
        (folder / "albums" / group).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / "albums" / group / f"{number}.webp")


def judged(folder: Path) -> None:
    """The albums, and the script that writes the runs of the page."""
    albums(folder)
    shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples")


def deployment(folder: Path) -> None:
    """The folder that the page takes files from, and those that its administrator makes."""
    shutil.copytree(ROOT / "deploy", folder / "deploy")
    for made in ("tmp", "backups"):
        (folder / made).mkdir()


SUPPOSED = {
    "thousand-participants.md": deployment,
    "from-pictures-to-a-study.md": albums,
    "judge-a-collection.md": judged,
    "machines.md": albums,
    "secret-judgements.md": albums,
    "score-runs.md": runs_for,
    "assessors.md": assessors,
    "publish-a-study.md": released,
}


def guests_answer(story: Story) -> None:
    """The guests of links.csv open their links and answer; the last one only begins."""
    with (story.folder / "links.csv").open(encoding="utf-8-sig") as file:
        *links, last = [row["link"] for row in csv.DictReader(file)]
    engine = connect(f"sqlite:///{story.folder}/instance/survey.sqlite3")
    with Session(engine) as session:
        study = lifecycle.find_study(session, "which-order")
        plan = study.plan
        preferences = simulation.preferences_for(plan, None, items.shown(session, study))
    engine.dispose()
    for number, link in enumerate(links):
        simulation.simulate(link, plan, 1, preferences, seed=number)
    browser = requests.Session()
    page = BeautifulSoup(browser.get(last, timeout=30).text, "html.parser")
    form = page.select_one("form[action$='/begin']")
    assert form is not None
    hidden = {field["name"]: field.get("value", "") for field in form.select("[type=hidden]")}
    begun = browser.post(urljoin(last, str(form["action"])), data=hidden, timeout=30)
    assert begun.ok


# What people do before a command of a page, which tells only what its reader types.
MEANWHILE = {"by-command.md": {"survey study people which-order": guests_answer}}


def one_digest(said: Mapping[str, str]) -> None:
    """Every study that the page opens is the same."""
    digests = [set(re.findall(r"[0-9a-f]{64}", text)) for text in said.values()]
    opened = [one for command, one in zip(said, digests, strict=True) if "study open" in command]
    assert len(opened) == 3
    assert len(set.union(*opened)) == 1


def planted_lead(said: Mapping[str, str]) -> None:
    """The lead that was planted is found, and is near that of the answers."""
    [planted] = [text for text in said.values() if text.startswith("planted lead of AP: ")]
    [figures] = [json.loads(text) for command, text in said.items() if command.endswith(" --json")]
    [difference] = figures["differences"]
    assert "agree with AP more often than with RR" in difference["verdict"]["sentence"]
    # Five standard errors: the simulated people's chance is not seeded.
    assert abs(-difference["mean"] - float(planted.split()[-1])) < 0.2
    low, high = difference["components"]["ci95"]
    assert high < 0 < high - low < 0.3


def constant_machine(said: Mapping[str, str]) -> None:
    """A machine that always says no may not replace anyone; both records are in the bundle."""
    [shown] = [text for command, text in said.items() if " --show" in command]
    sections = re.split(r"^[0-9a-f]{12}: ", shown, flags=re.MULTILINE)[1:]
    assert {each.partition("\n")[0] for each in sections} == {"simulated machine", "always no"}
    [constant] = [each for each in sections if each.startswith("always no\n")]
    assert "It is not shown that this machine may replace one annotator here" in constant
    assert "machine and person .00 (.00 to .00)" in constant
    assert shown.count("With 800 human and 717 machine judgements") == 2
    [replicated] = [text for command, text in said.items() if "survey replicate" in command]
    assert replicated.count("beside_people.json: every figure recomputed") == 2


AFTERWARDS = {
    "machines.md": constant_machine,
    "replicate-the-paper.md": one_digest,
    "judge-a-collection.md": planted_lead,
}
