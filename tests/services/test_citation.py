"""A citation survives every text: CITATION.cff fits its schema, BibTeX reads its braces."""

import json
from dataclasses import replace
from datetime import date
from importlib.resources import files

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from survey.services.studies.citation import (
    DOI,
    LATEX_COMMANDS,
    LICENCES,
    Author,
    Citation,
    read_doi,
)
from survey.services.studies.publications import Details

SCHEMA = json.loads(
    (
        files("check_jsonschema") / "builtin_schemas" / "vendor" / "citation-file-format.json"
    ).read_text("utf-8")
)
LINES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=40)
TITLES = LINES.filter(str.strip)
AUTHORS = TITLES.filter(lambda line: Author.read(line).name)


def a_citation(title="Five & more", authors=("Lovelace, Ada", "The {Group}"), licence="CC0-1.0"):
    return Citation(
        slug="five-systems",
        title=title,
        authors=tuple(map(Author.read, authors)),
        licence=licence,
        day=date(2026, 11, 23),
        address="https://example.org/studies/five-systems",
        digest="0f" * 32,
    )


def fields_of(entry):
    """The fields of an entry, as BibTeX finds them: it counts braces, backslash or not."""
    found, depth, start = {}, 0, 0
    body = entry[entry.index(",") + 1 : entry.rindex("}")]
    for place, sign in enumerate(body):
        if sign == "{":
            depth += 1
            start = place + 1 if depth == 1 else start
        elif sign == "}":
            depth -= 1
            assert depth >= 0
            if depth == 0:
                name = body[: start - 1].rpartition("\n")[2].strip(" =")
                found[name] = body[start:place]
    assert depth == 0
    return found


def as_typed(text):
    """A field of BibTeX as LaTeX prints it."""
    for sign, written in sorted(LATEX_COMMANDS.items(), key=lambda pair: -len(pair[1])):
        text = text.replace(written, f"\ue000{ord(sign)}\ue001")
    text = text.replace("{", "").replace("}", "")
    for sign in LATEX_COMMANDS:
        text = text.replace(f"\ue000{ord(sign)}\ue001", sign)
    return text


@given(
    TITLES,
    st.lists(AUTHORS, min_size=1, max_size=4, unique_by=Author.read),
    st.sampled_from([*LICENCES]),
)
def test_every_text_comes_back(title, authors, licence):
    citation = a_citation(title, authors, licence)
    content = yaml.safe_load(citation.cff())
    assert [*Draft7Validator(SCHEMA).iter_errors(content)] == []
    assert content["title"] == title
    named = [
        each.get("name") or f"{each['family-names']}, {each['given-names']}"
        for each in content["authors"]
    ]
    assert named == [*map(str, citation.authors)]
    fields = fields_of(citation.bibtex())
    if not {"\ue000", "\ue001"} & {*title, *"".join(authors)}:
        assert as_typed(fields["title"]) == title
        assert as_typed(fields["author"]) == " and ".join(map(str, citation.authors))


def test_an_entry_reads_as_people_write_one():
    assert a_citation("Ω {5} & 10 %_").bibtex() == (
        "@misc{five-systems-2026,\n"
        "  author = {Lovelace, Ada and {The \\textbraceleft{}Group\\textbraceright{}}},\n"
        "  title = {{Ω \\textbraceleft{}5\\textbraceright{} \\& 10 \\%\\_}},\n"
        "  year = {2026},\n"
        "  howpublished = {\\url{https://example.org/studies/five-systems}},\n"
        f"  note = {{Study and answers. SHA-256 of what was asked: {'0f' * 32}}},\n"
        "  month = nov,\n"
        "}\n"
    )


def test_a_name_with_and_in_it_stays_one_author():
    authors = fields_of(a_citation(authors=["Smith and Sons", "Oak and Elm, Ann"]).bibtex())
    assert authors["author"] == "{Smith and Sons} and {Oak and Elm}, Ann"


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"title": " "}, "title", "A title of one line is needed, 200 characters at most."),
        ({"title": "x" * 201}, "title", "A title of one line is needed, 200 characters at most."),
        ({"authors": " \n "}, "authors", "Name at least one author, each on a line of their own."),
        ({"authors": ", Ada"}, "authors", "“, Ada” has no family name before the comma."),
        ({"authors": "x" * 201}, "authors", f"“{'x' * 30}…” has 201 characters; 200 are allowed"),
        ({"authors": "A\nB\nA "}, "authors", "An author is named twice."),
        (
            {"authors": "\n".join(map(str, range(101)))},
            "authors",
            "101 lines; 100 are allowed.",
        ),
        ({"licence": "mine"}, "licence", "“mine” is none of the licences; choose one of them."),
        ({"title": "a\0b"}, "title", "This holds a character that cannot be stored"),
    ],
)
def test_details_that_cannot_be_are_named(changes, field, says):
    details = Details(**{"title": "A", "authors": "Lovelace, Ada", "licence": "", **changes})
    assert details.faults()[field].startswith(says)
    assert details.faults().keys() == {field}


@pytest.mark.parametrize(
    ("typed", "doi"),
    [
        ("10.5281/zenodo.1234567", "10.5281/zenodo.1234567"),
        (" https://doi.org/10.17605/OSF.IO/AB12C ", "10.17605/OSF.IO/AB12C"),
        ("http://dx.doi.org/10.1000/a(b)%3Bc", "10.1000/a(b);c"),
        ("DOI: 10.1000.10/x_y", "10.1000.10/x_y"),
        ("doi.org/10.1000/x", "10.1000/x"),
        ("DOI 10.1000/x", "10.1000/x"),
        ("doi:https://doi.org/10.1000/x.", "10.1000/x"),
        ("<https://doi.org/10.1000/doi:x>,", "10.1000/doi:x"),
        ("", ""),
    ],
)
def test_a_doi_is_read_in_each_way_in_which_it_is_written(typed, doi):
    assert read_doi(typed) == doi


@pytest.mark.parametrize(
    "typed",
    [
        *("10.1/x", "zenodo.1234567", "https://zenodo.org/10.5281/x", "10.1000/", "10.1000/ü"),
        *("https://doi.org/", "doi:", "."),  # which must not remove a DOI, as nothing does
    ],
)
def test_what_is_not_a_doi_is_refused_with_an_example(typed):
    with pytest.raises(ValueError, match=r"is not a DOI, such as 10\.5281/zenodo"):
        read_doi(typed)


@given(st.from_regex(DOI, fullmatch=True).filter(lambda doi: len(doi) <= 200))
def test_every_doi_fits_the_schema_and_comes_back_from_json(doi):
    citation = replace(a_citation(), doi=doi)
    Draft7Validator(SCHEMA).validate(yaml.load(citation.cff(), yaml.BaseLoader))
    assert fields_of(citation.bibtex())["doi"] == doi
    assert f"https://doi.org/{doi}" in citation.sentence
    again = Citation.from_json(citation.slug, citation.digest, citation.as_json())
    assert again == citation
