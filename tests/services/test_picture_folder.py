"""From a folder of pictures to a collection: what is taken, what is refused, what is written."""

import csv
import io
import shutil
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from survey.core.collections.descriptors import likeness
from survey.core.collections.runs import ranking, read_judgements, read_run
from survey.core.measures import Setting
from survey.core.studies.question_checks import compare_orders
from survey.core.studies.questions import build_question
from survey.core.text_input import FileFaults
from survey.errors import SurveyError
from survey.services.collections import albums as shipped
from survey.services.collections import picture_folder
from survey.services.collections.albums.build import MARGIN, SIDE, build, fit
from survey.services.collections.items import open_source
from survey.services.collections.picture_folder import collect, describe_picture
from tests.commands import albums_in
from tests.services.test_items import a_picture, a_png_of

ALBUMS = Path(shipped.__file__).with_name("collection")


@pytest.fixture
def albums(tmp_path):
    albums_in(tmp_path)
    return tmp_path / "albums"


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read(folder):
    """The judgements and runs of a collection."""
    faults = FileFaults()
    lines = (folder / "qrels.txt").read_text().splitlines()
    runs = {
        path.stem: read_run(path.name, path.read_text().splitlines(), faults)
        for path in sorted((folder / "runs").iterdir())
    }
    judged = read_judgements("qrels.txt", lines, faults)
    faults.raise_any()
    return judged, runs


def test_the_first_picture_of_a_class_is_searched_for_among_the_others(albums, tmp_path):
    collection = collect(albums, tmp_path / "collection")
    assert [each.id for each in collection.queries] == ["beach-1", "wood-1"]
    judged, runs = read(tmp_path / "collection")
    assert judged == {
        f"{name}-1": {f"{name}-{number}": 1 for number in (2, 3, 4)} for name in ("beach", "wood")
    }
    documents = {each.id for each in collection.documents}
    assert len(documents) == 6
    assert sorted(runs) == sorted(picture_folder.DESCRIPTORS)
    assert all({*of_topic} == documents for run in runs.values() for of_topic in run.values())


def test_a_run_is_written_in_the_order_in_which_it_is_read(albums, tmp_path):
    collect(albums, tmp_path / "collection", queries=2)
    for path in (tmp_path / "collection" / "runs").iterdir():
        fields = [line.split() for line in path.read_text().splitlines()]
        run = read_run(path.name, path.read_text().splitlines(), FileFaults())
        for topic, scores in run.items():
            rows = [each for each in fields if each[0] == topic]
            assert [each[2] for each in rows] == ranking(scores)
            assert [each[3] for each in rows] == [*map(str, range(1, len(rows) + 1))]


def test_items_and_topics_name_pictures_beside_them_without_metadata(albums, tmp_path):
    target = tmp_path / "collection"
    exif = Image.Exif()
    exif[270] = "secret place"
    (albums / "wood" / "5.jpg").write_bytes(a_picture(form="JPEG", size=(900, 300), exif=exif))
    collection = collect(albums, target)
    with open_source(target, None) as source:
        assert source.intake.refusals == source.intake.warnings == []
        assert [(each.document, each.file) for each in source.items] == [
            (each.id, f"{each.id}.webp") for each in collection.documents
        ]
    assert [row["keywords"] for row in rows_of(target / "items.csv")] == [
        each.group for each in collection.documents
    ]
    assert {row["image"] for row in rows_of(target / "topics.csv")} == {
        "beach-1.webp",
        "wood-1.webp",
    }
    with Image.open(target / "wood-5.webp") as image:
        assert image.size == (900, 300)
    assert b"secret" not in (target / "wood-5.webp").read_bytes()


def test_what_is_no_picture_of_a_class_is_named_with_the_reason(albums, tmp_path):
    whole = (albums / "wood" / "1.png").read_bytes()
    files = {
        "beach/again.png": (whole, "the same picture as"),
        "beach/broken.jpg": (a_picture(form="JPEG", size=(300, 300))[:500], "damaged or cut off"),
        "beach/drawn.svg": (b"<svg xmlns='x'/>", "an SVG may hold scripts"),
        "beach/empty.png": (b"", "the file is empty"),
        "beach/huge.png": (a_png_of(60_000, 60_000), "more than 50,000,000 pixels found"),
        "beach/letter.jpg": (b"Dear Ada", "this is no picture that can be read"),
        "beach/1.gif": (a_picture("blue", "GIF"), "beach/1.gif is the document beach-1 already"),
        "loose.png": (a_picture("green"), "it is in no subfolder, so it has no class"),
    }
    for name, (content, _) in files.items():
        (albums / name).write_bytes(content)
    (albums / "beach" / "missing.png").symlink_to(tmp_path / "nowhere.png")
    (albums / "beach" / "deeper").mkdir()
    (albums / "beach" / ".hidden").write_bytes(b"")
    collection = collect(albums, tmp_path / "collection")
    reasons = {each.name: each.reason for each in collection.refusals}
    # Of two, the first by name is taken, and the later ones are refused.
    assert reasons.pop("beach/1.png") == files.pop("beach/1.gif")[1]
    assert reasons.pop("wood/1.png") == "the same picture as beach/again.png"
    del files["beach/again.png"]
    assert reasons.pop("beach/missing.png") == "the file cannot be read: No such file or directory"
    assert reasons.pop("beach/deeper") == "a folder in a subfolder is not read"
    assert reasons.keys() == files.keys()
    for name, (_, reason) in files.items():
        assert reason in reasons[name]
    assert "beach-again" in {each.id for each in collection.documents}


@pytest.mark.parametrize("queries", [1, 3])
def test_a_class_without_further_pictures_is_never_searched_for(albums, tmp_path, queries):
    (albums / "alone").mkdir()
    (albums / "alone" / "sea view.png").write_bytes(a_picture())
    collection = collect(albums, tmp_path / "collection", queries)
    assert len(collection.queries) == 2 * queries
    assert "alone-sea-view" in {each.id for each in collection.documents}


def test_a_folder_without_classes_is_refused_and_nothing_is_written(albums, tmp_path):
    with pytest.raises(SurveyError, match="holds no subfolder with pictures; one for each class"):
        collect(albums / "wood", tmp_path / "collection")
    with pytest.raises(
        SurveyError, match=r"Each class needs 5 different pictures; beach has 4, wood has 4"
    ):
        collect(albums, tmp_path / "collection", queries=4)
    shutil.rmtree(albums / "beach")
    (albums / "wood" / "1.png").write_bytes(b"no picture")
    with pytest.raises(SurveyError, match=r"Not taken: wood/1\.png: this is no picture"):
        collect(albums, tmp_path / "collection", queries=4)
    assert [path.name for path in tmp_path.iterdir()] == ["albums"]


def test_topics_are_proposed_in_which_measures_contradict_and_no_two_lists_are_equal():
    contradicting = [[1, 2, 3, 50, 60], [6, 7, 8, 9, 10], [1, 20, 30, 40, 50]]
    alike = [[1, 2, 3, 4, 5], [1, 2, 3, 4, 6], [1, 2, 3, 4, 7]]
    equal = [*contradicting[:2], contradicting[0]]
    positions = {"a": alike, "e": equal, "c": contradicting}
    assert picture_folder.choose_topics(positions, 100) == ["a", "c"]
    many = {f"t{number}": contradicting for number in range(20)} | {"a": alike}
    assert picture_folder.choose_topics(many, 100) == [f"t{number}" for number in range(10)]


def test_topics_in_which_two_measures_order_the_lists_alike_come_last():
    """The check of a study calls these a thing to mend, however often others contradict there."""
    apart = [[2, 4, 13, 18, 22], [18, 20, 30, 53, 73], [21, 36, 42, 47, 62], [24, 32, 34, 40, 57]]
    alike = [[1, 2, 5, 8, 9], [2, 9, 21, 97, 99], [1, 20, 48, 89, 91], [1, 23, 55, 58, 97]]
    counts = {}
    for name, lists in (("apart", apart), ("alike", alike)):
        question = build_question(1, lists, picture_folder.SHOWN_MEASURES, Setting(100))
        pairs = compare_orders([question])[0].pairs
        counts[name] = [(pair.identical, pair.contradictions) for pair in pairs]
    assert counts == {
        "apart": [(False, 0), (False, 1), (False, 0)],
        "alike": [(False, 2), (False, 2), (True, 0)],
    }
    many = {f"t{number}": apart for number in range(10)}
    assert picture_folder.choose_topics({"alike": alike, **many}, 100) == [*many]
    assert picture_folder.choose_topics({"alike": alike, "t": apart}, 100) == ["alike", "t"]


class TestAlbums:
    """The collection that comes with the survey."""

    def test_is_small_and_names_every_source_and_licence(self):
        folder = ALBUMS.parent
        assert sum(path.stat().st_size for path in folder.rglob("*.*")) < 1_000_000
        sources = rows_of(folder / "SOURCES.csv")
        assert all(all(source.values()) for source in sources)
        assert len({source["sha256"] for source in sources}) == 120  # no drawing occurs twice
        names = [source["picture"] for source in sources]
        assert sorted(names) == sorted(path.stem for path in ALBUMS.glob("*.webp"))
        assert {*Counter(name.rpartition("-")[0] for name in names).values()} == {6}

    def test_has_square_pictures_on_white(self):
        for path in ALBUMS.glob("*.webp"):
            with Image.open(path) as image:
                assert image.size == (SIDE, SIDE)
                corners = [(x, y) for x in (0, SIDE - 1) for y in (0, SIDE - 1)]
                assert min(min(image.convert("RGB").getpixel(each)) for each in corners) > 250

    def test_fits_a_drawing_into_the_middle_of_a_square(self):
        drawing = Image.new("RGBA", (400, 300))  # transparent
        drawing.paste("red", (100, 10, 300, 60))
        picture = fit(drawing)
        assert picture.size == (SIDE, SIDE)
        inked = ImageChops.difference(picture, Image.new("RGB", picture.size, "white")).getbbox()
        height = (SIDE - 2 * MARGIN) // 4
        top = (SIDE - height) // 2
        assert inked == (MARGIN, top, SIDE - MARGIN, top + height)

    def test_is_built_from_no_other_drawings(self, tmp_path):
        drawing = tmp_path / rows_of(ALBUMS.parent / "SOURCES.csv")[0]["file"]
        with pytest.raises(SurveyError, match="is not the file of openclipart-png"):
            build(tmp_path, tmp_path / "collection")
        drawing.parent.mkdir(parents=True)
        drawing.write_bytes(a_picture())
        with pytest.raises(SurveyError, match="is not the file of openclipart-png"):
            build(tmp_path, tmp_path / "collection")
        assert not (tmp_path / "collection").exists()

    def test_has_the_papers_setting(self):
        judged, runs = read(ALBUMS)
        assert len(judged) == 20
        assert {len(of_topic) for of_topic in judged.values()} == {5}
        assert {len(scores) for run in runs.values() for scores in run.values()} == {100}

    def test_its_runs_are_those_of_its_pictures(self):
        vectors = {}
        for path in ALBUMS.glob("*.webp"):
            with Image.open(io.BytesIO(path.read_bytes())) as image:
                vectors[path.stem] = describe_picture(image)
        for name, run in read(ALBUMS)[1].items():
            for topic, scores in run.items():
                for document, score in scores.items():
                    found = likeness(vectors[topic][name], vectors[document][name])
                    assert found == pytest.approx(score, abs=2e-6)
