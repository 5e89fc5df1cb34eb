"""A corpus that is read as a stream gives what it gives when it is read whole."""

import gzip
import json

import pytest

from survey.errors import SurveyError
from survey.services.collections import items as collection

ROWS = [
    (f"d{number}", f'Title {number}, "quoted"', f"line one\nof {number}") for number in range(9)
]
NEEDED = {"d2": "d2", "d5": "d5", "d8": "d8"}


def as_csv(separator):
    cells = [["Document", "title", "text"], *ROWS]
    quoted = ([f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row] for row in cells)
    return "".join(f"{separator.join(row)}\n" for row in quoted)


TEXTS = {
    "corpus.jsonl": "".join(
        f"{json.dumps({'_id': name, 'title': title, 'text': text, 'odd': 1})}\n"
        for name, title, text in ROWS
    ),
    "corpus.csv": as_csv(","),
    "excel.csv": f"sep=;\n\n{as_csv(';')}",
    "corpus.tsv": "".join(f"{name}\t{title}\n" for name, title, _ in ROWS),
    "corpus.json": json.dumps([{"id": name, "title": title} for name, title, _ in ROWS]),
}


def read(path, needed):
    read_bytes = []
    with collection.open_source(path, None, needed=needed, on_bytes=read_bytes.append) as source:
        assert sum(read_bytes) in (0, path.stat().st_size)  # 0: read whole, as no lines
        return source.items, source.intake.items_report


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_only_needed_rows_are_kept_and_all_are_counted(tmp_path, name, ending):
    path = tmp_path / f"{name}{ending}"
    content = TEXTS[name].encode()
    path.write_bytes(gzip.compress(content) if ending else content)
    items, report = read(path, collection.Needed(NEEDED))
    whole = collection.Intake()
    expected = collection.read_items(content, path.name, whole, collection.Needed(NEEDED))
    assert items == expected
    assert [item.document for item in items] == [*NEEDED]
    counts = ("rows", "not_needed", "first_not_needed", "columns_not_read", "read_as")
    for count in counts:
        assert getattr(report, count) == getattr(whole.items_report, count)
    assert (report.rows, report.not_needed) == (9, 6)


def test_a_fault_names_the_row_of_the_file(tmp_path):
    path = tmp_path / "corpus.csv"
    path.write_text(as_csv(",") + f'd8x,"{"t" * 501}",\n')
    with pytest.raises(SurveyError, match=r"row 11, column title: .* 501 characters"):
        read(path, collection.Needed({"d8x": "d8x"}))


def test_a_corpus_of_which_nothing_is_needed_is_refused_with_an_example(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text(TEXTS["corpus.jsonl"])
    with pytest.raises(SurveyError, match="it has “d0”, the study “x9”"):
        read(path, collection.Needed({"x9": "x9"}))
