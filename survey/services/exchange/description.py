"""The files that describe a bundle: for people, for citations, for programs that read tables.

All follow from the study's content and from the sizes and sums of the other files, so the same
bundle has the same descriptions. They are in no digest.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple
from urllib.parse import quote

from sqlalchemy import Boolean, Float, Integer

from survey.core.kinds import KINDS
from survey.core.studies.fields import list_words
from survey.core.studies.plan import Plan
from survey.core.text_input import Json, escaped
from survey.db.models.base import UtcDateTime
from survey.services.exchange.input_files import JUDGEMENTS_FOLDER, MACHINES_FOLDER
from survey.services.exchange.long_table import LONG, SCRIPT
from survey.services.exchange.tables import (
    ANALYSIS,
    CODEBOOK,
    FORMAT,
    STUDY_FILE,
    SUMS,
    YES_OR_NO,
    Column,
    Content,
    Table,
    asked_texts,
    describe_column,
    listed_values,
    stable_json,
)
from survey.services.studies.citation import (
    LICENCES,
    NO_AUTHOR,
    NO_LICENCE,
    Author,
    Citation,
    licence_text,
)
from survey.services.studies.languages import ENGLISH

README = "README.md"
LICENCE = "LICENSE"
CITATION = "CITATION.cff"
DATA_PACKAGE = "datapackage.json"
CRATE = "ro-crate-metadata.json"
DESCRIPTIONS = (README, LICENCE, CITATION, DATA_PACKAGE, CRATE)

PROGRAM = "ranking-survey"
SCHEMA_ORG = "https://schema.org/"
# The context of RO-Crate 1.1 lacks sha256, which schema.org added later.
CRATE_CONTEXT = ["https://w3id.org/ro/crate/1.1/context", {"sha256": "http://schema.org/sha256"}]
FIELD_TYPES = {"whole number": "integer", "number": "number", "time": "datetime"}
# A cell of these is empty only where the database's column may be.
NEVER_EMPTY = (Boolean, Integer, Float, UtcDateTime)
MEANINGS = {
    README: "what this is, for people",
    LICENCE: "what others may do with it",
    CITATION: "how to cite it, in the Citation File Format",
    DATA_PACKAGE: "the tables and their columns, as a Frictionless data package",
    STUDY_FILE: "the plan, the texts that participants read, the digest, the versions",
    ANALYSIS: "every figure of the analysis",
    CODEBOOK: "what each column of each table means",
    "registration.json": "what was planned before anyone answered",
    SCRIPT: f"decides between the measures again from {LONG}, in R",
    f"{JUDGEMENTS_FOLDER}/": "judgements, a file for each assessor, as `survey assess` reads them",
    f"{MACHINES_FOLDER}/": "how a machine was asked, what it answered, and that beside people",
}
MEDIA_TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "md": "text/markdown",
    "cff": "application/yaml",
    "R": "text/x-r-source",
}


class FileFacts(NamedTuple):
    """The size of a file in bytes, and its SHA-256."""

    size: int
    sha256: str


def description_files(
    content: Content,
    tables: Sequence[Table],
    facts: Mapping[str, FileFacts],
    versions: Mapping[str, Any],
) -> Iterator[tuple[str, list[str]]]:
    """Yield name and text of each file that describes a bundle; none of a format 1 bundle.

    ``facts``: of the bundle's other files, and of those yielded before as soon as they are
    written. ``versions``: of what made the bundle, as study.json has them.
    """
    if content.format < FORMAT:
        return
    yield README, [readme(content, tables, [*facts], versions)]
    if content.is_public:
        yield LICENCE, [licence_text(citation_of(content).licence)]
    yield CITATION, [citation_of(content).cff()]
    yield DATA_PACKAGE, [stable_json(data_package(content, tables, facts))]
    yield CRATE, [stable_json(crate(content, tables, facts, versions))]


def citation_of(content: Content) -> Citation:
    """Return how a study is cited, also one that is not published."""
    return content.citation or Citation(
        slug=content.slug,
        title=one_line(content.plan.title) or content.slug,
        authors=(Author(NO_AUTHOR),),
        licence="",
        day=None,
        address="",
        digest=content.digest,
    )


def one_line(text: str) -> str:
    """Return a text without line breaks."""
    return " ".join(text.split())


def left_out(plan: Plan) -> str:
    """Return what of a study's answers its public bundle does not hold, for a sentence."""
    asked = [field.name for field in (*plan.personal_fields, *plan.asked_at_end)]
    asked += [field.name for field in plan.ask if field.kind == "text"]
    reasons = ["the reasons that participants wrote"] if plan.reason_question else []
    typed = [what] if (what := KINDS[plan.kind].typed) else []
    times = "the day and hour at which anyone took part"
    return list_words([*asked, *reasons, *typed, times])


def description(plan: Plan) -> str:
    """Return in a paragraph what the bundle of a study is, as archives want it."""
    asked = [f"{heading}: {one_line(text)}" for heading, text in asked_texts(plan)]
    if plan.language != ENGLISH:  # a paragraph is in one language
        asked = [f"What was asked is in {README}."]
    sentences = [f"Questions, answers and analysis of a survey of the kind “{plan.kind}”.", *asked]
    return " ".join(text if text.endswith((".", "?")) else f"{text}." for text in sentences)


def _month(moment: date | None) -> str:
    return f"{moment:%Y-%m}" if moment else ""


def published(content: Content) -> str:
    """Return the month of the publication, else the month in which the study ended or began."""
    day = content.citation.day if content.citation else None
    if day is not None:
        return f"{day:%Y-%m}"
    return _month(content.closed_at or content.opened_at or content.created_at)


def describe_file(name: str, tables: Mapping[str, Table]) -> str:
    """Return what a file of a bundle has."""
    folder = f"{name.partition('/')[0]}/"
    meaning = MEANINGS.get(name) or MEANINGS.get(folder)
    if meaning is None and (table := tables.get(name)):
        rows = f"a row for each {list_words(table.key)}" if table.key else "a table"
        return f"{rows}; {len(table.columns)} columns, see {CODEBOOK}"
    return meaning or "computed from the answers, as `survey assess` writes it"


def readme(
    content: Content, tables: Sequence[Table], names: Sequence[str], versions: Mapping[str, Any]
) -> str:
    """Return README.md."""
    plan, citation = content.plan, citation_of(content)
    by_name = {table.name: table for table in tables}
    described: dict[str, str] = {}  # a folder is one line
    later = [README, *([LICENCE] if content.is_public else []), CITATION, DATA_PACKAGE, CRATE]
    for name in sorted([*names, *later]):
        folder, slash, _ = name.partition("/")
        described.setdefault(folder + slash, describe_file(name, by_name))
    described[CRATE] = "all of this for programs, as an RO-Crate"
    described[SUMS] = "the SHA-256 of each file, as `sha256sum --check` reads them"
    asked = [f"**{heading}.** {one_line(text)}" for heading, text in asked_texts(plan)]
    maker = f"version {versions.get('survey')} of {PROGRAM}"
    if content.is_public:
        rights = citation.licence or NO_LICENCE
        privacy = f"## What was removed\n\n{_sentence(left_out(plan))}"
    else:
        rights = "This bundle is not public."
        privacy = (
            f"## What is personal\n\n{_sentence(left_out(plan))} Do not publish this bundle: "
            "the public one, of the page “Publish”, is without them."
        )
    sections = [
        f"# {citation.title}",
        f"A survey made with {maker}: its questions, every answer, and the analysis.",
        "## What was asked",
        *asked,
        "## People and dates",
        *(one_line(text) for text in content.results.basis if content.digest not in text),
        _dates(content),
        "## Files",
        "\n".join(f"- `{name}`: {text}" for name, text in sorted(described.items())),
        "Cells that a spreadsheet would run as a formula begin with an apostrophe. Times are in "
        "UTC. An empty cell is a missing value.",
        "## How to check it",
        f"    pip install {PROGRAM}=={versions.get('survey')}\n"
        f"    survey replicate {content.slug}.zip",
        "It recomputes lists, values, credits and every figure, and names what differs. The "
        f"bundle was made by {maker}, commit {versions.get('commit') or 'unknown'}"
        f"{', with changed files' if versions.get('modified') else ''}. SHA-256 of all that "
        f"participants were shown:\n\n    {content.digest}",
        "## How to cite it",
        citation.sentence,
        f"Licence: {rights}",
        privacy,
    ]
    return "\n\n".join(sections) + "\n"


def _dates(content: Content) -> str:
    if content.status == "draft":
        return "The study was not opened yet."
    closed = _month(content.closed_at)
    end = f"closed in {closed}" if closed else "was open when this bundle was made"
    return f"The study opened in {_month(content.opened_at) or 'an unknown month'} and {end}."


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def data_package(
    content: Content, tables: Sequence[Table], facts: Mapping[str, FileFacts]
) -> dict[str, Json]:
    """Return datapackage.json, a tabular data package of the Frictionless specifications."""
    citation = citation_of(content)
    written = {table.name: table for table in tables if table.name in facts}
    return {
        "profile": "tabular-data-package",
        "name": content.slug,
        "id": citation.link or f"sha256:{content.digest}",
        "title": citation.title,
        "description": description(content.plan),
        **({"homepage": citation.address} if citation.address else {}),
        **({"licenses": [_package_licence(citation)]} if citation.licence else {}),
        "contributors": [
            {"title": f"{author.given_name} {author.name}".strip(), "role": "author"}
            for author in citation.authors
        ],
        "resources": [
            _resource(table, facts[name], written) for name, table in sorted(written.items())
        ],
    }


def _package_licence(citation: Citation) -> dict[str, Json]:
    return {"name": citation.licence, "path": licence_address(citation.licence)}


def licence_address(licence: str) -> str:
    """Return the address of a licence in SPDX's list."""
    return f"https://spdx.org/licenses/{licence}"


def resource_name(name: str) -> str:
    """Return what a data package calls the table of a file."""
    return name.removesuffix(".csv").replace("/", "-").lower()


def _resource(table: Table, facts: FileFacts, written: Mapping[str, Table]) -> dict[str, Json]:
    types = {column.name: _field_type(column) for column in table.columns}
    keys: list[Json] = []
    for column, file in table.references.items():
        others = written[file].columns if file in written else ()
        if types.get(column) in [_field_type(other) for other in others if other.name == column]:
            reference = {"resource": resource_name(file), "fields": [column]}
            keys.append({"fields": [column], "reference": reference})
    return {
        "profile": "tabular-data-resource",
        "name": resource_name(table.name),
        "path": table.name,
        "description": describe_file(table.name, written),
        "format": "csv",
        "mediatype": MEDIA_TYPES["csv"],
        "encoding": "utf-8",
        "bytes": facts.size,
        "hash": f"sha256:{facts.sha256}",
        "schema": {
            "fields": [_field(column, table) for column in table.columns],
            "missingValues": [""],
            **({"primaryKey": [*table.key]} if table.key else {}),
            **({"foreignKeys": keys} if keys else {}),
        },
    }


def _field(column: Column, table: Table) -> dict[str, Json]:
    _, allowed, meaning = describe_column(column)
    values = allowed_values(column)
    is_required = column.name in table.key or _is_required(column)
    constraints: dict[str, Json] = {
        **({"enum": values} if values else {}),
        **({"required": True} if is_required else {}),
    }
    return {
        "name": column.name,
        "type": _field_type(column),
        "description": f"{meaning} ({allowed})" if allowed else meaning,
        **({"constraints": constraints} if constraints else {}),
    }


def _field_type(column: Column) -> str:
    return FIELD_TYPES.get(describe_column(column)[0], "string")


def allowed_values(column: Column) -> list[Json]:
    """Return all values that the cells of a column may have; empty where these are not a few."""
    _, allowed, _ = describe_column(column)
    first = allowed.partition(";")[0]
    if first == YES_OR_NO:
        return [*YES_OR_NO.split(", ")]
    if first == "0 or 1":
        return [0, 1]
    values: Sequence[Any] = column.values
    if not values and column.source is not None and not column.allowed:
        values = listed_values(column.source)
    return [escaped(value) if isinstance(value, str) else value for value in values]


def _is_required(column: Column) -> bool:
    """Return whether no cell of a column is ever empty."""
    if column.source is None or column.optional:
        return False
    stored = column.source.property.columns[0]
    is_never_empty = isinstance(stored.type, NEVER_EMPTY) or bool(listed_values(column.source))
    return is_never_empty and not stored.nullable


def dataset(content: Content, tables: Sequence[Table]) -> dict[str, Any]:
    """Return a bundle as a Dataset of schema.org, without its files.

    What would be a list of one is that one, as RO-Crate recommends.
    """
    citation = citation_of(content)
    doi = [citation.link] if citation.doi else []
    variables: dict[str, str] = {}
    for table in tables:
        for column in table.columns:
            variables.setdefault(column.name, describe_column(column)[2])
    name, _, meaning = LICENCES[citation.licence].partition(": ")
    licence = {
        "@id": licence_address(citation.licence) if citation.licence else "#licence",
        "@type": "CreativeWork",
        "name": name if citation.licence else "No licence",
        "description": meaning,
    }
    described = {
        "@type": "Dataset",
        "name": citation.title,
        "description": description(content.plan),
        "datePublished": published(content),
        "license": licence,
        "author": [_person(number, author) for number, author in enumerate(citation.authors, 1)],
        "identifier": [f"sha256:{content.digest}", *doi],
        **({"url": citation.address} if citation.address else {}),
        "inLanguage": content.plan.language,
        "variableMeasured": [
            {
                "@id": f"#variable-{quote(name)}",
                "@type": "PropertyValue",
                "name": name,
                "description": meaning,
            }
            for name, meaning in variables.items()
        ],
    }
    return {
        name: value[0] if isinstance(value, list) and len(value) == 1 else value
        for name, value in described.items()
    }


def _person(number: int, author: Author) -> dict[str, str]:
    entity = {"@id": f"#author-{number}"}
    if not author.given_name:
        return {**entity, "@type": "Organization", "name": author.name}
    names = {"familyName": author.name, "givenName": author.given_name}
    name = f"{author.given_name} {author.name}"
    return {**entity, "@type": "Person", "name": name, **names}


def crate(
    content: Content,
    tables: Sequence[Table],
    facts: Mapping[str, FileFacts],
    versions: Mapping[str, Any],
) -> dict[str, Any]:
    """Return ro-crate-metadata.json, of RO-Crate 1.1."""
    by_name = {table.name: table for table in tables}
    parts = [
        {
            "@id": quote(name),
            "@type": "File",
            "name": name,
            "description": describe_file(name, by_name),
            "encodingFormat": MEDIA_TYPES.get(name.rpartition(".")[2], "text/plain"),
            "contentSize": str(facts[name].size),
            "sha256": facts[name].sha256,
        }
        for name in sorted(facts)
        if name not in (CRATE, SUMS)
    ]
    export = {
        "@id": "#export",
        "@type": "CreateAction",
        "name": "survey export",
        "instrument": {
            "@id": f"#{PROGRAM}",
            "@type": "SoftwareApplication",
            "name": PROGRAM,
            "version": str(versions.get("survey")),
            "identifier": f"commit {versions.get('commit') or 'unknown'}",
        },
        "result": {"@id": "./"},
    }
    root = {"@id": "./", **dataset(content, tables), "hasPart": parts, "mentions": export}
    metadata = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": "./"},
    }
    graph: dict[str, dict[str, Any]] = {CRATE: metadata, "./": {}}
    _flatten(root, graph)
    return {"@context": CRATE_CONTEXT, "@graph": [*graph.values()]}


def _flatten(value: Any, graph: dict[str, dict[str, Any]]) -> Any:
    """Put entities into a graph by their ids; return a value with references in their place."""
    if isinstance(value, list):
        return [_flatten(item, graph) for item in value]
    if not isinstance(value, dict) or "@type" not in value:
        return value
    graph.setdefault(value["@id"], {})
    graph[value["@id"]] = {name: _flatten(part, graph) for name, part in value.items()}
    return {"@id": value["@id"]}


def deposit_fields(citation: Citation, plan: Plan) -> dict[str, str]:
    """Return what the form of an archive asks for when the public bundle is uploaded there."""
    return {
        "title": citation.title,
        "authors": "; ".join(map(str, citation.authors)),
        "licence": citation.licence or NO_LICENCE,
        "description": description(plan),
    }
