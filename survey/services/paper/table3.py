"""Table 3: who took part, as printed."""

from survey.services.paper.printed import printed
from survey.services.paper.reproduction import Reproduction
from survey.services.reporting.sheets import Sheet

WHY = "the participants' own data were not published, so nothing can be recomputed"


def table3() -> Reproduction:
    """Return Table 3, of which nothing can be recomputed."""
    values = {row["quantity"]: row["value"] for row in printed("table3")}
    rows = tuple(values.items())
    return Reproduction(
        "table3",
        {"printed": values, "why": WHY},
        (Sheet("printed", "Table 3. As printed", ("", "value"), rows),),
        remarks=(f"Printed only: {WHY}.",),
        table=Sheet("printed", "Table 3. As printed", ("quantity", "printed"), rows),
    )
