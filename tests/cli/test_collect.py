"""``survey collect``, as its user meets it."""

import json
import shutil

import pytest

from tests.services.test_items import a_picture


def test_it_says_what_it_wrote_what_it_left_out_and_how_to_go_on(desk):
    (desk.folder / "albums" / "wood" / "letter.jpg").write_text("Dear Ada")
    shutil.copy(
        desk.folder / "albums" / "wood" / "1.png", desk.folder / "albums" / "wood" / "9.png"
    )
    (desk.folder / "albums" / "wood" / "plain.png").write_bytes(a_picture())
    told = desk.run("survey collect albums --to ours").stdout.splitlines()
    assert told[:4] == [
        "ours holds 7 pictures, 2 queries and 5 runs.",
        "Not taken: wood/9.png: the same picture as wood/1.png.",
        "Not taken: wood/letter.jpg: this is no picture that can be read; JPEG, PNG, WebP and GIF "
        "are allowed.",
        "Warning: wood/plain.png: it is nearly one colour, so people may see nothing in it.",
    ]
    runs = " ".join(f"ours/runs/{path.name}" for path in (desk.folder / "ours" / "runs").iterdir())
    line = " ".join(each.removesuffix("\\").strip() for each in told[5:])
    assert line.startswith("survey study new NAME --preset pictures --items ours ")
    made = desk.run(line.replace("NAME", "our-pictures").replace("ours/runs/*.txt", runs)).stdout
    assert "Taken: 7 items and 2 topics." in made


def test_json_has_the_same(desk):
    content = json.loads(desk.run("survey collect albums --to ours --queries 2 --json").stdout)
    assert content["collection_size"] == 4
    assert content["queries"] == ["beach-1", "beach-2", "wood-1", "wood-2"]
    assert content["refused"] == content["warnings"] == []
    assert {*content["chosen"]} <= {*content["queries"]}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("survey collect albums --to collection", "collection is there already"),
        ("survey collect albums --to nowhere/ours", "There is no folder nowhere"),
        ("survey collect albums/wood --to ours", "albums/wood holds no subfolder with pictures"),
        ("survey collect albums --to ours --queries 4", "Each class needs 5 different pictures"),
    ],
)
def test_what_cannot_be_collected_is_refused_and_nothing_written(desk, line, message):
    before = sorted(path.name for path in desk.folder.iterdir())
    assert message in desk.run(line, status=1).stderr
    assert sorted(path.name for path in desk.folder.iterdir()) == before
