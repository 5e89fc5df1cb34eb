"""A researcher's folder: a database, a bundle, a backup, runs, judgements."""

import shlex
import shutil
import sqlite3
import zipfile
from contextlib import closing

import numpy as np
import pytest
from click.testing import CliRunner

from survey.cli import survey
from survey.services.collections import receipts
from tests.commands import CONTACT, albums_in, runs_for

JUDGED = "1 0 d1 2\n1 0 d2 1\n1 0 d3 0\n2 0 x 1\n"
CLUSTERED = "3 s1 zeus\n3 s2 zeus\n3 s3 buddha\n3 s4 buddha\n"
# Options of examples that would take long, and quicker ones.
LESS = {
    "systems --participants 30": "systems --participants 2",
    "--workers 4": "--workers 1",
    "paper all": "paper table8",
}


class Desk:
    """The folder, in which commands are run as they are typed."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, line, status=0):
        """Run a command with its variables and redirection; return what it printed."""
        for much, little in LESS.items():
            line = line.replace(much, little)
        typed, _, target = line.replace("\\\n", "").partition(" > ")
        words = shlex.split(typed, comments=True)
        name = words.index("survey")
        settings = {"SURVEY_INSTANCE": "instance"} | dict(word.split("=") for word in words[:name])
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for variable, value in settings.items():
                patch.setenv(variable, value.replace("/srv", str(self.folder / "srv")))
            done = CliRunner().invoke(survey, words[name + 1 :], prog_name="survey")
        assert done.exit_code == status, (line, done.output, done.exception)
        assert "Traceback" not in done.output
        if target and not target.startswith(("~", '"')):
            (self.folder / target).write_text(done.stdout)
        return done


def secret_album(desk):
    """A collection that takes runs, one that is closed, and a receipt."""
    topics = [f"t{number}" for number in range(12)]
    lines = [f"{topic} 0 d{document} {document % 2}\n" for topic in topics for document in range(6)]
    (desk.folder / "album.txt").write_text("".join(lines))
    (desk.folder / "secret.txt").write_text("\n".join(topics[:10]))
    lines = [
        f"{topic} Q0 d{place} {place} {9 - place} tag\n" for topic in topics for place in (1, 2)
    ]
    (desk.folder / "album-run.txt").write_text("".join(lines))
    for name in ("our-album", "last-album"):
        desk.run(f"survey collection publish {name} --qrels album.txt --secret secret.txt")
    desk.run("survey collection close last-album")
    shown = [{"measure": "AP", "value": 0.5, "is_new": True, "stars": "", "baseline": None}]
    texts = dict.fromkeys(("collection", "digest", "group", "run_sha256", "day", "version"), "x")
    receipt = receipts.sign(desk.folder / "instance", {**texts, "number": 1, "shown": shown})
    (desk.folder / "run.txt.receipt.json").write_text(receipts.receipt_text(receipt))


def people_of_examples(database):
    """Make people of winter-study real, and people of five-systems whom examples name."""
    database.execute(
        "UPDATE participant SET is_test = 0 "
        "WHERE study_id = (SELECT id FROM study WHERE slug = 'winter-study')"
    )
    columns = [row[1] for row in database.execute("PRAGMA table_info(participant)")][1:]
    others = {"P-3MHX7QWD": ("started", 1), "P-5RB8NCJV": ("started", 0)}
    for public_id, (status, excluded) in {**others, "P-7WKD4YZA": ("stopped", 0)}.items():
        replaced = {
            "public_id": f"'{public_id}'",
            "resume_hash": f"'{public_id}'",
            "receipt": "NULL",
            "completed_at": "NULL" if status != "complete" else "completed_at",
            "status": f"'{status}'",
            "excluded": str(excluded),
            "exclude_reason": "'a trial'" if excluded else "NULL",
        }
        values = ", ".join(replaced.get(name, name) for name in columns)
        database.execute(
            f"INSERT INTO participant ({', '.join(columns)}) SELECT {values} FROM participant "
            "WHERE study_id = (SELECT id FROM study WHERE slug = 'five-systems') LIMIT 1"
        )
    database.execute(
        "UPDATE participant SET public_id = 'P-9E3GK2TX' WHERE id = (SELECT MIN(id) FROM "
        "participant WHERE study_id = (SELECT id FROM study WHERE slug = 'five-systems'))"
    )


def furnish(folder):
    """Make everything that the examples read."""
    desk = Desk(folder)
    runs_for(folder, ("a.txt", "b.txt.gz", "base.txt", "new.txt.gz"))
    runs_for(folder, ("round0.txt", "round1.txt", "round2.txt"))
    albums_in(folder)
    (folder / "weights.txt").write_text(
        "".join(f"t{t} d{d} .5\n" for t in (1, 2) for d in (1, 2, 3))
    )
    keywords = ["document,keyword,weight", *(f"{each},sea,1" for each in ("t1", "t2", "d1", "d3"))]
    (folder / "keywords.csv").write_text("\n".join(keywords))
    for name in ("ann", "bob", "eve"):
        (folder / f"{name}.txt").write_text(JUDGED)
    for name in ("one", "two", "three"):
        (folder / f"{name}.txt").write_text(CLUSTERED)
    for name, ids in (("codes", ("d1", "d2", "d3")), ("query-codes", ("1", "2"))):
        codes = [f"{number:04b}" for number in range(len(ids))]
        (folder / f"{name}.txt").write_text("".join(map("{} {}\n".format, ids, codes)))
        bits = np.array([[*map(int, code)] for code in codes])
        np.save(folder / f"{name}.npy", bits)
        outputs = name.replace("codes", "outputs")  # before the sign
        np.save(folder / f"{outputs}.npy", bits - 0.5)
        for each in (name, outputs):
            (folder / f"{each}.ids").write_text("\n".join(ids))
    (folder / "answers.csv").write_text("question,answer\n1,A>B>C>D>E\n")
    (folder / "ratings.csv").write_text("query,docid,rating\nstar wars,11,3\nstar wars,22,0\n")
    columns = "WorkerId,AssignmentStatus,Input.query,Input.doc,Answer.relevance"
    (folder / "batch.csv").write_text(f"{columns}\nW1,Approved,q1,d1,1\nW2,Rejected,q1,d1,0\n")
    columns = "participant,question,topic,left,right,preferred"
    (folder / "preferences.csv").write_text(f"{columns}\nP1,1,t,x,y,left\nP2,1,t,x,y,left\n")
    (folder / "people.csv").write_text("name,e-mail\nAda,ada@example.org\n")
    desk.run("survey collect albums --to collection")
    desk.run("survey init")
    desk.run('survey researcher add "Ada Lovelace"')
    desk.run('survey researcher add "Alan Turing"')
    desk.run("survey study new five-systems --seed 5 --questions 3")
    desk.run("survey study new spring-study --seed 6 --questions 3")
    desk.run("survey study preregister spring-study --to registered")
    desk.run("survey study plan five-systems > plan.yaml")
    desk.run(f"survey study open five-systems {shlex.join(CONTACT)}")
    desk.run("survey simulate five-systems --participants 2")
    desk.run("survey export five-systems --to five-systems.zip --include-test")
    desk.run("survey token add five-systems --name notebook")
    desk.run("survey study new lyon --seed 5 --questions 3")
    desk.run(f"survey study open lyon {shlex.join(CONTACT)}")
    desk.run("survey simulate lyon --participants 2")
    desk.run("survey export lyon --to lyon.zip --include-test")
    desk.run(
        "survey study new two-runs --qrels qrels.txt --run a.txt b.txt.gz --collection-size 20000"
    )
    desk.run(f"survey study open two-runs {shlex.join(CONTACT)}")
    desk.run("survey export two-runs --to two-runs.zip")
    secret_album(desk)
    desk.run("survey registry add registry.jsonl five-systems.zip --address five-systems.zip")
    desk.run("survey backup survey-sunday.sqlite3")
    desk.run("survey study new winter-study --seed 7 --questions 1")
    desk.run(f"survey study open winter-study {shlex.join(CONTACT)}")
    desk.run("survey simulate winter-study --participants 3")
    desk.run("survey study close winter-study")
    with closing(sqlite3.connect(folder / "instance" / "survey.sqlite3")) as database:
        people_of_examples(database)
        database.commit()
    desk.run('survey study publish winter-study --author "Lovelace, Ada" --yes')
    desk.run('survey study share spring-study "Alan Turing" --role viewer')
    desk.run("survey study set spring-study minutes=20")
    with zipfile.ZipFile(folder / "five-systems.zip") as bundle:
        for name in ("questions.csv", "responses.csv"):
            bundle.extract(name, folder / "votes")


@pytest.fixture(scope="session")
def furnished(tmp_path_factory):
    """The folder, made once per test run; tests change copies of it."""
    folder = tmp_path_factory.mktemp("desk")
    furnish(folder)
    return folder


@pytest.fixture
def desk(furnished, tmp_path):
    """A copy of the folder."""
    shutil.copytree(furnished, tmp_path / "desk")
    return Desk(tmp_path / "desk")


def commands_of(group=survey, path="survey"):
    """Every command of the tree, with how it is called, groups included."""
    yield path, group
    for name in getattr(group, "list_commands", lambda _: ())(None):
        yield from commands_of(group.get_command(None, name), f"{path} {name}")


ALL = dict(commands_of())
LEAVES = {path: one for path, one in ALL.items() if not hasattr(one, "list_commands")}
