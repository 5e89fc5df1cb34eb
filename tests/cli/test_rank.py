"""``survey rank``, as its user meets it."""

import gzip
import json

import numpy as np
import pytest

RUN = """1 Q0 d1 1 0 hamming
1 Q0 d3 2 -1 hamming
1 Q0 d2 3 -1 hamming
2 Q0 d2 1 0 hamming
2 Q0 d1 2 -1 hamming
2 Q0 d3 3 -2 hamming
"""


def test_codes_become_a_run_that_can_be_evaluated_and_ties_are_told(desk):
    printed = desk.run("survey rank codes.txt query-codes.txt --to hashed.txt").stdout
    assert printed.splitlines() == [
        "hashed.txt ranks 3 documents for 2 queries by the Hamming distance of 4 bits.",
        "33 % of its lines are of documents as near as another one; these are ordered by their "
        "ids, the last first, as trec_eval orders equal scores.",
    ]
    assert (desk.folder / "hashed.txt").read_text() == RUN
    (desk.folder / "near.txt").write_text("1 0 d3 1\n2 0 d2 1\n")
    scored = desk.run("survey evaluate --qrels near.txt --run hashed.txt --measures AP --json")
    assert json.loads(scored.stdout)["runs"]["hashed"]["mean"]["AP"] == (1 / 2 + 1) / 2


def test_arrays_give_the_same_run_and_gz_packs_it(desk):
    printed = desk.run(
        "survey rank codes.npy query-codes.npy --to hashed.txt.gz --depth 2 --json"
    ).stdout
    assert json.loads(printed) == {
        "queries": 2,
        "collection_size": 3,
        "bits": 4,
        "lines": 4,
        "tied": 1,
        "left_out": 0,
    }
    lines = [line for line in RUN.splitlines(True) if line.split()[3] != "3"]
    assert gzip.decompress((desk.folder / "hashed.txt.gz").read_bytes()).decode() == "".join(lines)


def test_values_before_the_sign_are_ranked_by_the_cosine(desk):
    (desk.folder / "values.txt").write_text("d1 2 0\nd2 0 3\nd3 1 1\n")
    (desk.folder / "query.txt").write_text("1 5 0\n")
    told = desk.run("survey rank values.txt query.txt --distance cosine --to real.txt").stdout
    assert "real.txt ranks 3 documents for 1 queries by the cosine of 2 values." in told
    # K/2 (1 − cos): 0, 1 − √½ and 1
    assert (desk.folder / "real.txt").read_text() == (
        "1 Q0 d1 1 0 cosine\n1 Q0 d3 2 -0.292893219 cosine\n1 Q0 d2 3 -1.0 cosine\n"
    )


def test_a_query_that_is_in_the_collection_is_told(desk):
    printed = desk.run("survey rank codes.txt codes.txt --to own.txt").stdout
    assert "A document of the query's own id was left out for 3 queries." in printed


def _npy(header):
    return b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117).encode() + b"\n"


DAMAGED = {
    "zip": b"PK\x03\x04 is how an archive begins",
    "cut": b"\x93NUMPY\x01\x00\x0a\x00{'descr': 1",
    "tokens": _npy("{'descr': '|u1', 'x'((("),
    "vast": _npy(f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({10**22}, 4), }}"),
    "empty": b"",
}


@pytest.mark.parametrize("damage", [*DAMAGED, "archive"])
def test_a_damaged_array_is_named(desk, damage):
    if damage == "archive":
        with (desk.folder / "damaged.npy").open("wb") as file:
            np.savez(file, codes=np.eye(4))
    else:
        (desk.folder / "damaged.npy").write_bytes(DAMAGED[damage])
    (desk.folder / "damaged.ids").write_text("a\nb\nc\nd\n")
    printed = desk.run("survey rank damaged.npy query-codes.npy --to new.txt", status=1).stderr
    assert "damaged.npy cannot be read as an array of numpy, of numbers.\n" in printed


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("codes.txt short.txt --to new.txt", "short.txt: codes of 2 bits found; codes.txt has 4"),
        ("codes.txt bad.txt --to new.txt", "bad.txt, line 1: code '0a' found"),
        ("codes.txt query-codes.txt --to base.txt", "base.txt is there already; --force"),
        ("codes.txt query-codes.txt --to no/new.txt", "There is no folder no."),
        ("codes.npy lone.npy --to new.txt", "lone.ids cannot be read: No such file"),
        (
            "fake.npy query-codes.npy --to new.txt",
            "fake.npy cannot be read as an array of numpy, of numbers.\n",
        ),
        (
            "pickled.npy query-codes.npy --to new.txt",
            "pickled.npy cannot be read as an array of numpy, of numbers.\n",
        ),
    ],
)
def test_what_cannot_be_ranked_is_refused_and_nothing_written(desk, line, message):
    (desk.folder / "short.txt").write_text("1 01\n")
    (desk.folder / "bad.txt").write_text("1 0a\n")
    (desk.folder / "fake.npy").write_text("no array")
    np.save(desk.folder / "lone.npy", np.eye(4))
    np.save(desk.folder / "pickled.npy", np.array([{}]), allow_pickle=True)
    before = sorted(path.name for path in desk.folder.iterdir())
    assert message in desk.run(f"survey rank {line}", status=1).stderr
    assert sorted(path.name for path in desk.folder.iterdir()) == before


@pytest.mark.parametrize(
    ("codes", "target"), [("txt", "codes.txt"), ("txt", "../x/codes.txt"), ("npy", "codes.ids")]
)
def test_a_file_that_is_read_is_not_replaced(desk, codes, target):
    target = target.replace("../x", f"../{desk.folder.name}")
    before = (desk.folder / target).read_bytes()
    line = f"survey rank codes.{codes} query-codes.{codes} --to {target} --force"
    assert f"{target} is a file that is read; name another" in desk.run(line, status=1).stderr
    assert (desk.folder / target).read_bytes() == before
