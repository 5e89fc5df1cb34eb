"""All slips, in the order of the paper."""

from dataclasses import asdict

from survey.services.paper.reproduction import Reproduction
from survey.services.paper.slips.definition import of_section_4
from survey.services.paper.slips.experiments import of_names, of_section_5
from survey.services.paper.slips.review import of_section_2, of_section_3
from survey.services.paper.slips.slip import Slip
from survey.services.reporting.sheets import Sheet

REMARKS = (
    "Lines are those of the manuscript. Sentences that a table or figure does not bear out, "
    "without being misprinted, stand with that table or figure.",
)


def all_slips() -> tuple[Slip, ...]:
    """Return the slips of every section, then those of names."""
    return (*of_section_2(), *of_section_3(), *of_section_4(), *of_section_5(), of_names())


def slips() -> Reproduction:
    """List the slips, with what bears each out and what this project does."""
    found = all_slips()
    table = Sheet(
        "slips",
        "Printing slips",
        ("place", "printed", "meant", "why", "here", "known by"),
        tuple(
            (one.place, one.printed, one.meant, one.why, one.here, _by(one.confirmed))
            for one in found
        ),
    )
    return Reproduction(
        "slips",
        {"slips": [asdict(one) for one in found]},
        passages=tuple((one.place, _told(one)) for one in found),
        remarks=REMARKS,
        table=table,
    )


def _by(confirmed: bool | None) -> str:
    if confirmed is None:
        return "seen by reading"
    return "recomputed" if confirmed else "recomputed, and comes out otherwise"


def _told(one: Slip) -> tuple[str, ...]:
    return (
        f"Printed: {one.printed}",
        f"Meant: {one.meant}",
        f"Because: {one.why} ({_by(one.confirmed).capitalize()}.)",
        f"Here: {one.here}",
    )
