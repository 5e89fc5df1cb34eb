"""What one name of ``survey paper`` gives: tables, values for scripts, comparisons, files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from survey import figures
from survey.core.agreement.exhibits import Exhibit
from survey.services.paper.claim import Claim
from survey.services.paper.printed import Comparison
from survey.services.reporting.sheets import Sheet, as_csv


@dataclass(frozen=True)
class Reproduction:
    """A table, figure or passage of the paper, done again.

    ``content``: its values for scripts, beside claims and comparisons; ``sheets``: to be
    read; ``comparisons``: recomputed values beside the print; ``claims``: the paper's
    sentences about it; ``remarks``: how far all this goes; ``table``: what is written as
    NAME.csv, the comparisons unless given; ``exhibit``: what is drawn; ``documents``: more
    files, by name; ``passages``: headings with their paragraphs, to be read.
    """

    name: str
    content: Mapping[str, Any]
    sheets: tuple[Sheet, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    claims: tuple[Claim, ...] = ()
    remarks: tuple[str, ...] = ()
    table: Sheet | None = None
    exhibit: Exhibit | None = None
    documents: Mapping[str, str] = field(default_factory=dict)
    passages: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether every printed value can be what was recomputed."""
        return all(one.agrees for one in self.comparisons)

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        claims = {"claims": [dict(vars(one)) for one in self.claims]} if self.claims else {}
        return {
            **self.content,
            **claims,
            "comparisons": [one.as_json() for one in self.comparisons],
        }

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the files for a folder, one after the other, since drawing takes its time."""
        yield f"{self.name}.csv", as_csv(self.table or compared(self.comparisons)).encode()
        for name, text in self.documents.items():
            yield name, text.encode()
        if self.exhibit is not None:
            for ending in figures.FORMATS:
                yield f"{self.name}.{ending}", figures.written(self.exhibit, ending)

    @property
    def file_count(self) -> int:
        """How many files there are, for a progress bar."""
        return 1 + len(self.documents) + len(figures.FORMATS) * (self.exhibit is not None)


def compared(comparisons: tuple[Comparison, ...]) -> Sheet:
    """Return the comparisons as a table for files."""
    rows = [one.as_json() for one in comparisons]
    return Sheet(
        "comparisons",
        "Recomputed beside the print",
        tuple(rows[0]) if rows else (),
        tuple(tuple(row.values()) for row in rows),
    )
