"""How a published study is cited: a sentence, a CITATION.cff, an entry for BibTeX."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import yaml

from survey.core.text_input import Json

LICENCES = {  # by their SPDX identifiers, which CITATION.cff has
    "CC-BY-4.0": "CC BY 4.0: use it, and name the authors",
    "CC-BY-SA-4.0": "CC BY-SA 4.0: name the authors, and share what you make of it likewise",
    "CC-BY-NC-4.0": "CC BY-NC 4.0: name the authors, and earn no money with it",
    "CC0-1.0": "CC0 1.0: use it freely",
    "": "None: ask the authors first",
}
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
    """How to cite a study; ``digest``: of all that its participants were shown."""

    slug: str
    title: str
    authors: tuple[Author, ...]
    licence: str
    day: date
    address: str
    digest: str

    @property
    def sentence(self) -> str:
        """The citation in a line of text."""
        authors = "; ".join(map(str, self.authors))
        digest = f"SHA-256 {self.digest[:12]}…"
        return f"{authors} ({self.day.year}). {self.title} [study]. {self.address} ({digest})"

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
            "date-released": self.day.isoformat(),
            "url": self.address,
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
            "year": str(self.day.year),
            "howpublished": rf"\url{{{self.address}}}",
            "note": f"Study and answers. SHA-256 of what was asked: {self.digest}",
        }
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
        # Without braces, so that each style writes the month in its own way.
        lines += f"  month = {MONTHS[self.day.month - 1]},\n"
        return f"@misc{{{self.slug}-{self.day.year},\n{lines}}}\n"


def latex(text: str) -> str:
    """Return a text in which no sign means anything to LaTeX or BibTeX."""
    return "".join(LATEX_COMMANDS.get(sign, sign) for sign in text)


def _bibtex_names(author: Author) -> Iterator[str]:
    """Yield the family and the given name; in braces a group's, and what BibTeX would split."""
    for name in filter(None, author):
        is_one = author.given_name and not re.search(r",|\band\b", name, re.IGNORECASE)
        yield latex(name) if is_one else f"{{{latex(name)}}}"
