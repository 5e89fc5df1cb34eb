"""How a published study is cited: a sentence, a CITATION.cff, an entry for BibTeX."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import unquote

import yaml

from survey.core.studies.fields import list_words
from survey.core.text_input import Json

LICENCES = {  # by their SPDX identifiers, which CITATION.cff has
    "CC-BY-4.0": "CC BY 4.0: use it, and name the authors",
    "CC-BY-SA-4.0": "CC BY-SA 4.0: name the authors, and share what you make of it likewise",
    "CC-BY-NC-4.0": "CC BY-NC 4.0: name the authors, and earn no money with it",
    "CC0-1.0": "CC0 1.0: use it freely",
    "": "None: ask the authors first",
}
NO_LICENCE = "Ask the authors first."
NO_AUTHOR = "Authors not named yet"
# Those that CITATION.cff may have, and that do not end with a sentence's sign.
DOI = re.compile(r"10\.[0-9]{4,9}(\.[0-9]+)?/[A-Za-z0-9:/_;().\[\]-]*[A-Za-z0-9:/_()\[\]-]")
BEFORE_DOI = re.compile(
    r"((info:|urn:)?doi[:/\s]\s*)?((https?://)?(dx\.|www\.)?doi\.org/)?", re.IGNORECASE
)
AROUND_DOI = " <>,;."  # of the sentence that it is copied from
LONGEST_DOI = 200
# As BibTeX names them.
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
LATEX_COMMANDS = {
    "\\": r"\textbackslash{}",
    # BibTeX counts braces even after a backslash, and one alone would end the field.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}


class Author(NamedTuple):
    """A person, or a group, which has no ``given_name``."""

    name: str
    given_name: str = ""

    @classmethod
    def read(cls, typed: str) -> "Author":
        """Return the author that a line names: "Family, Given" is a person, others a group."""
        name, _, given_name = (part.strip() for part in typed.partition(","))
        return cls(name, given_name)

    def __str__(self) -> str:
        return f"{self.name}, {self.given_name}" if self.given_name else self.name


@dataclass(frozen=True)
class Citation:
    """How to cite a study; ``digest``: of all that its participants were shown.

    ``day``: of its publication, None where it is not public. ``address``: of its page, "" where
    it is not known. ``doi``: "" without one.
    """

    slug: str
    title: str
    authors: tuple[Author, ...]
    licence: str
    day: date | None
    address: str
    digest: str
    doi: str = ""

    @classmethod
    def from_json(cls, slug: str, digest: str, values: Any) -> "Citation":
        """Return the citation of what ``as_json`` returned; raises ValueError."""
        if not isinstance(values, dict) or {*values} != {*CITATION_KEYS}:
            raise ValueError(f"{list_words(CITATION_KEYS)} are needed")
        authors = values["authors"]
        texts = [values[name] for name in CITATION_KEYS if name != "authors"]
        if not (isinstance(authors, list) and authors):
            raise ValueError("a list of authors is needed")
        if not all(isinstance(text, str) for text in [*authors, *texts]):
            raise ValueError("texts are needed")
        if values["licence"] not in LICENCES:
            raise ValueError(f"licence: {values['licence']!r} found; one of the licences is needed")
        return cls(
            slug=slug,
            title=values["title"],
            authors=tuple(map(Author.read, authors)),
            licence=values["licence"],
            day=date.fromisoformat(values["day"]),
            address=values["address"],
            digest=digest,
            doi=read_doi(values["doi"]),
        )

    def as_json(self) -> dict[str, Json]:
        """Return what cannot be told from slug and digest, as JSON."""
        return {
            "title": self.title,
            "authors": [*map(str, self.authors)],
            "licence": self.licence,
            "day": str(self.day),
            "address": self.address,
            "doi": self.doi,
        }

    @property
    def link(self) -> str:
        """The DOI as an address, else the address of the page."""
        return f"https://doi.org/{self.doi}" if self.doi else self.address

    @property
    def year(self) -> str:
        """The year of the publication; "n.d.", no date, without one."""
        return str(self.day.year) if self.day else "n.d."

    @property
    def sentence(self) -> str:
        """The citation in a line of text."""
        authors = "; ".join(map(str, self.authors))
        link = f" {self.link}" if self.link else ""
        digest = f"SHA-256 {self.digest[:12]}…"
        return f"{authors} ({self.year}). {self.title} [study].{link} ({digest})"

    def cff(self) -> str:
        """Return CITATION.cff, in version 1.2.0 of that format."""
        content: dict[str, Json] = {
            "cff-version": "1.2.0",
            "message": "If you use this study, please cite it as below.",
            "type": "dataset",
            "title": self.title,
            "authors": [
                {"family-names": each.name, "given-names": each.given_name}
                if each.given_name
                else {"name": each.name}
                for each in self.authors
            ],
            **({"date-released": self.day.isoformat()} if self.day else {}),
            **({"url": self.address} if self.address else {}),
            **({"doi": self.doi} if self.doi else {}),
            "identifiers": [
                {
                    "type": "other",
                    "value": f"sha256:{self.digest}",
                    "description": "digest of all that participants were shown",
                }
            ],
            **({"license": self.licence} if self.licence else {}),
        }
        text: str = yaml.safe_dump(content, allow_unicode=True, sort_keys=False)
        return text

    @property
    def latex_title(self) -> str:
        """The title as the entry for BibTeX holds it."""
        return latex(self.title)

    def bibtex(self) -> str:
        """Return an entry for BibTeX, in UTF-8."""
        authors = " and ".join(", ".join(_bibtex_names(author)) for author in self.authors)
        fields = {
            "author": authors,
            "title": f"{{{self.latex_title}}}",
            "year": self.year,
            "howpublished": rf"\url{{{self.address}}}",
            **({"doi": self.doi} if self.doi else {}),
            "note": f"Study and answers. SHA-256 of what was asked: {self.digest}",
        }
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
        # Without braces, so that each style writes the month in its own way.
        if self.day:
            lines += f"  month = {MONTHS[self.day.month - 1]},\n"
        return f"@misc{{{self.slug}-{self.year},\n{lines}}}\n"


CITATION_KEYS = ("title", "authors", "licence", "day", "address", "doi")


def read_doi(typed: str) -> str:
    """Return the DOI in what was typed, which may be its address, or nothing; raises ValueError."""
    typed = typed.strip()
    doi = unquote(BEFORE_DOI.sub("", typed.strip(AROUND_DOI), count=1))
    if typed and not (DOI.fullmatch(doi) and len(doi) <= LONGEST_DOI):
        raise ValueError(f"“{typed[:60]}” is not a DOI, such as 10.5281/zenodo.1234567.")
    return doi


def licence_text(licence: str) -> str:
    """Return the text of a licence."""
    if not licence:
        return f"{NO_LICENCE}\n"
    place = files("survey.services.studies").joinpath("licences", f"{licence}.txt")
    return place.read_text(encoding="utf-8")


def latex(text: str) -> str:
    """Return a text in which no sign means anything to LaTeX or BibTeX."""
    return "".join(LATEX_COMMANDS.get(sign, sign) for sign in text)


def _bibtex_names(author: Author) -> Iterator[str]:
    """Yield the family and the given name; in braces a group's, and what BibTeX would split."""
    for name in filter(None, author):
        is_one = author.given_name and not re.search(r",|\band\b", name, re.IGNORECASE)
        yield latex(name) if is_one else f"{{{latex(name)}}}"
