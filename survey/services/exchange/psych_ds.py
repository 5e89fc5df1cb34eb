"""A bundle's tables as a Psych-DS dataset: a folder whose file names say what is in them."""

import re
from pathlib import Path

from sqlalchemy.orm import Session

from survey.db.engine import snapshot
from survey.db.models import Study
from survey.services.exchange.bundle import OnLines, content_of, csv_tables, with_citation
from survey.services.exchange.description import SCHEMA_ORG, citation_of, dataset, licence_address
from survey.services.exchange.tables import stable_json
from survey.services.participation.own_data import require_none_due

DESCRIPTION = "dataset_description.json"
DATA = "data"


def write_psych_ds(
    session: Session,
    study: Study,
    folder: Path,
    *,
    address: str = "",
    with_identities: bool = False,
    include_test: bool = False,
    on_lines: OnLines = lambda _: None,
) -> None:
    """Write the description and the tables of a study into a new folder.

    The options are those of ``stream_bundle``.
    """
    snapshot(session)
    require_none_due(session, study)
    content = content_of(session, study, include_test=include_test, with_identities=with_identities)
    content = with_citation(session, study, content, address)
    tables = csv_tables(content)
    (folder / DATA).mkdir(parents=True)
    for table in tables:
        with (folder / DATA / file_name(study.slug, table.name)).open("w", newline="") as file:
            for text in table.lines(content):
                file.write(text)
                on_lines(text.count("\n"))
    licence = citation_of(content).licence
    described = {
        "@context": SCHEMA_ORG,
        **dataset(content, tables),
        **({"license": licence_address(licence)} if licence else {}),
        "variableMeasured": sorted({name for table in tables for name in table.names}),
    }
    (folder / DESCRIPTION).write_text(stable_json(described), encoding="utf-8")


def file_name(slug: str, table: str) -> str:
    """Return what a table's file is called; a value there has letters and figures only."""
    return f"study-{_joined(slug)}_table-{_joined(table.removesuffix('.csv'))}_data.csv"


def _joined(name: str) -> str:
    """Return a name without other signs; the words after the first begin with capitals."""
    first, *others = re.split(r"[^a-zA-Z0-9]+", name)
    return first + "".join(word[:1].upper() + word[1:] for word in others)
