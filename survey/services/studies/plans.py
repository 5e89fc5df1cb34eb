"""Make plans: from presets, from YAML files, and with a researcher's own lists.

The texts of presets are translated paragraph by paragraph. A YAML file has the same fields as
the researcher's form; each fault names its line.
"""

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any, BinaryIO

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from survey.core.collections.runs import names_of_runs
from survey.core.kinds import KINDS as KINDS
from survey.core.kinds import kind_name as kind_name
from survey.core.kinds import kind_of, plan_from_json, written_kind
from survey.core.measures import MEASURES
from survey.core.preflight import CHANGES
from survey.core.studies.fields import (
    Choice,
    Day,
    Fault,
    Nested,
    Place,
    PlanError,
    Rule,
    Share,
    Switch,
    Text,
    Whole,
    Words,
    rules_of,
    tidy_text,
)
from survey.core.studies.fields import Lines as LinesRule
from survey.core.studies.measure_needs import can_order, left_out
from survey.core.studies.minutes import PICTURES as PICTURE_LOAD
from survey.core.studies.own_lists import OwnLists as OwnLists
from survey.core.studies.own_lists import read_lists_csv as read_lists_csv
from survey.core.studies.plan import FIELD_LISTS, Plan, giveaways_in_title, text_rules
from survey.core.studies.provenance import CLUSTERS, JUDGEMENTS, RUN, Provenance, SourceFile
from survey.core.studies.run_lists import AS_WRITTEN, read_trec
from survey.core.studies.run_lists import Reading as Reading
from survey.core.studies.run_lists import TextFile as TextFile
from survey.core.text_input import FaultyFilesError as FaultyFilesError
from survey.core.text_input import (
    Json,
    lines_of,
    parse_number,
    parse_whole,
    shortened,
    steering_in,
)
from survey.core.text_input import did_you_mean as did_you_mean
from survey.core.text_input import split_names as split_names
from survey.core.ways_in import DOCUMENTS, PASSAGES, PICTURES, POSITIONS
from survey.core.ways_in import Sources as Sources
from survey.errors import SurveyError, marked
from survey.services.studies.languages import ENGLISH, catalogue, languages
from survey.services.studies.recruitment import Recruitment, parse_recruitment

# Several times as fast where PyYAML comes with libyaml, as its wheels do.
LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
# 500 topics with ten lists each are allowed; a million values took 11 seconds and 935 MB.
LARGEST_PLAN_FILE = 20_000_000  # characters
MOST_LIST_VALUES = 500_000
MOST_PLAN_VALUES = 490_000  # of lists and topics; personal fields and all else need a few thousand
DEEPEST = 10  # levels of nesting
LONGEST_NUMBER = 100  # characters; YAML reads 1:1:… as a number, in a time that is their square
OF_MEASURES = ("measures", "contrast")  # fields of names that commas or blanks separate
SWITCHES = dict.fromkeys(("yes", "true", "on"), True) | dict.fromkeys(("no", "false", "off"), False)
THE_PAPERS = ("AP", "NMRR", "MNRO")
GROUPS = {
    "positions": "Relevant or not",
    "grades": "With grades of relevance",
    "weights": "With weights from several annotators",
    "clusters": "With clusters of the relevant items",
}
SIZE = "{collection_size} "  # before a noun, in every language
PRESETS = ("mnro", "mnro-verbatim", "mnro-discriminative", "runs", "pictures")
# Texts of earlier presets, which say nothing.
PLACEHOLDERS = {
    "asked_by": (
        marked("the researchers who invited you"),
        marked("the researchers of this study"),
    ),
    "contact": (marked("the sender of your link"),),
}
# Names of texts and ids within a plan's fields, and of fields that hold nothing else.
TEXTS_WITHIN = (
    *("name", "label", "help", "options", "screen_out", "capture"),
    *("topics", "runs", "documents", "sources", "of", "text", "example"),  # of provenance
    *("judged", "gold"),
)
MISSING_CONTACT = {
    "asked_by": "participants do not read who asks",
    "contact": "participants do not read whom they can ask",
}
FIELD_TEXTS = ("label", "help", "options", "screen_out")  # of a personal field

OTHER_LINE_END = re.compile("[\x85\u2028\u2029]")
# What is mostly wrong, by words of YAML's own messages.
REMEDIES = {
    "mapping values are not allowed": "a text that holds a colon needs quotation marks around it",
    "cannot start any token": "a text that begins with a sign needs quotation marks around it",
    "violates indentation": "blanks are needed before a line in place of tabs",
}
SET_OFF = ("did not find expected", "expected <block end>", *REMEDIES)
OPEN = {
    "[": ("]", "the list that begins with [ is not closed by ]"),
    "{": ("}", "what begins with { is not closed by }"),
}
OCTAL = re.compile(r"[-+]?0+[1-9_][0-9_]")  # from 010 on; 07 is 7 in any case
NULL, TEXT, *NUMBERS = (f"tag:yaml.org,2002:{name}" for name in ("null", "str", "int", "float"))
NUMERAL = re.compile(r"[-+0-9_.:]+\Z")

Lines = dict[Place, int]


def kind_plan(kind: str, *, language: str = ENGLISH, **changes: object) -> Plan:
    """Make a plan of a kind, with general texts in a language and some fields changed.

    Raises SurveyError naming the fields that are invalid.
    """
    preset = KINDS[kind].preset_for(Sources(), changes)
    values = preset_values(preset, language) if preset else _values_of_kind(kind, language)
    return _plan_of(values, changes)


def preset_plan(preset: str, *, language: str = ENGLISH, **changes: object) -> Plan:
    """Make a plan from a preset, with its texts in a language and some fields changed.

    Raises SurveyError naming the fields that are invalid.
    """
    return _plan_of(preset_values(preset, language), changes)


def begin_plan(
    kind: str,
    sources: Sources,
    changes: Mapping[str, object],
    *,
    preset: str = "",
    language: str = ENGLISH,
) -> Plan:
    """Make a plan of a kind from what a study is made of; its texts speak of positions so far.

    Raises FaultyFilesError for faults of files, and SurveyError for fields that are invalid.
    """
    declared = KINDS[kind]
    fields = {**changes, **declared.begin(sources, changes)}
    preset = preset or declared.preset_for(sources, fields)
    if not preset:
        return kind_plan(kind, language=language, **fields)
    return preset_plan(preset, language=language, **fields)


def _plan_of(values: Mapping[str, object], changes: Mapping[str, object]) -> Plan:
    try:
        values = {**values, **changes}
        return parse_plan({**_run_defaults(changes, values), **values})
    except ValueError as error:
        raise SurveyError(f"The study cannot be made: {error}.") from error


def parse_plan(values: Mapping[str, object]) -> Plan:
    """Parse a plan from plain values.

    Raises PlanError with all faults of the first check that fails: more values than a plan's file
    may have, the fields' values, measures' names in texts that participants see, ids with signs
    that cannot be seen, a language without translation. A stored study stays readable, whatever
    its values and ids.
    """
    _check_size(values)
    try:
        plan = plan_from_json(values)
    except PlanError as error:
        raise PlanError([*error.faults, *giveaways_in_title(values.get("title"))]) from None
    if faults := plan.giveaways():
        raise PlanError(faults)
    if strange := steering_in(plan.as_json().get("topics")):
        text = f"{shortened(strange)} has a sign that cannot be seen; take it out"
        raise PlanError([Fault(("topics",), text)])
    if plan.language not in languages():
        text = f"there is no translation into {plan.language!r}; there are {', '.join(languages())}"
        raise PlanError([Fault(("language",), text)])
    return plan


def _check_size(values: Mapping[str, object]) -> None:
    """Raise PlanError for a plan that ``write_plan`` would write and ``read_plan`` refuse."""
    counts = {
        name: _count_values(value)
        for name, value in values.items()
        if value and isinstance(value, dict | list | tuple) and name not in FIELD_LISTS
    }
    if (total := sum(counts.values())) > MOST_PLAN_VALUES:
        largest = max(counts, key=lambda name: counts[name])
        text = (
            f"the plan has {total:,} values, {counts[largest]:,} of them in {largest}; "
            f"{MOST_PLAN_VALUES:,} are allowed, so that a plan file can hold them"
        )
        raise PlanError([Fault((largest,), text)])


def _count_values(value: object) -> int:
    """Return how many values a plan's file has for one; lists, mappings and keys count too."""
    if isinstance(value, dict):
        return 1 + len(value) + sum(map(_count_values, value.values()))
    return 1 + sum(map(_count_values, value)) if isinstance(value, list | tuple) else 1


def preset_values(preset: str, language: str = ENGLISH) -> dict[str, Any]:
    """Return a preset's fields as plain values, its texts in a language."""
    return {**translated(_preset(preset), language), "language": language}


def _values_of_kind(kind: str, language: str) -> dict[str, Any]:
    """Return the fields of a kind that has no preset: its own texts, and the general ones."""
    values = translated(_known_fields({**_preset(PRESETS[0]), "kind": kind}), language)
    return {**values, **KINDS[kind].texts, "language": language}


def texts_for(preset: str, items: str, language: str) -> dict[str, str]:
    """Return a preset's texts where a study shows such items, in a language.

    ``items``: POSITIONS, PICTURES, PASSAGES or DOCUMENTS.
    """
    values = _preset(preset) | _texts_for(preset).get(items, {})
    texts = text_rules(KINDS[kind_name(values)].plan)
    spoken = translated(values, language)
    return {name: tidy_text(spoken[name]) for name in texts if name in spoken}


def preset_texts(kind: str, field: str, language: str) -> set[str]:
    """Return all texts that presets have for a field of a kind's plans, in a language."""
    presets = [*PRESETS, *_presets_of_kind(kind)]
    of_kind = [name for name in presets if kind_name(_preset(name)) == kind]
    sorts = ("", POSITIONS, PICTURES, PASSAGES, DOCUMENTS)
    texts = (texts_for(name, items, language) for name in of_kind for items in sorts)
    return {of_preset[field] for of_preset in texts if field in of_preset}


def fitted(plan: Plan, items: str) -> Plan:
    """Return the plan with its presets' texts as they are for such items.

    ``items``: one of POSITIONS, PICTURES, PASSAGES and DOCUMENTS. A text that a researcher has
    changed stays. Where the collection's size is unknown, texts do not speak of it.
    """
    preset = kind_of(plan).fitted_preset(plan)
    if not preset:
        return plan
    provenance = getattr(plan, "provenance", None)
    unsized = provenance is not None and provenance.size_unknown
    wanted = texts_for(preset, items, plan.language)
    changes: dict[str, Any] = {}
    for name in text_rules(type(plan)):
        text = getattr(plan, name)
        known = preset_texts(plan.kind, name, plan.language)
        known |= {usual.replace(SIZE, "") for usual in known}
        if name in wanted and text in known:
            changes[name] = wanted[name].replace(SIZE, "") if unsized else wanted[name]
    return replace(plan, **changes, registered=False)


def _presets_of_kind(kind: str) -> list[str]:
    declared = KINDS[kind]
    return [name for name in (declared.preset, *declared.further_presets) if name]


def contact_faults(plan: Plan) -> list[Fault]:
    """Return why participants would not know who asks, or whom to ask; no study opens so."""
    faults = []
    for name, missing in MISSING_CONTACT.items():
        text = getattr(plan, name)
        if not text:
            faults.append(Fault((name,), missing))
        elif _without_ending(text) in _placeholders(name):
            faults.append(Fault((name,), f"{missing}, only general words"))
    return faults


@cache
def _placeholders(name: str) -> frozenset[str]:
    """Return the general texts of a field, like "the researchers who invited you", tidied.

    In every language; ``name``: asked_by or contact.
    """
    translations = (
        catalogue(language).gettext(text) for language in languages() for text in PLACEHOLDERS[name]
    )
    return frozenset(map(_without_ending, translations))


def _without_ending(text: str) -> str:
    return text.strip(" .").casefold()


def is_timed_as_the_paper(plan: Plan) -> bool:
    """Return whether a study asks as many questions as the paper's, of the same kind and length.

    Then the paper's figures on minutes hold for it.
    """
    paper = preset_plan(PRESETS[0])
    timed, of_paper = (
        (each.kind, each.asked, each.has_items, each.seconds_each(PICTURE_LOAD))
        for each in (plan, paper)
    )
    return timed == of_paper


@cache
def _preset(preset: str) -> dict[str, Any]:
    values = _preset_file(preset)
    base = values.get("preset")
    as_items = _texts_for(preset).get(values.get("texts_as", ""), {})
    return _known_fields({**(_preset(base) if base else {}), **as_items, **values})


@cache
def _preset_file(preset: str) -> dict[str, Any]:
    source = files("survey.services.studies") / "presets" / f"{preset}.yaml"
    values: dict[str, Any] = yaml.safe_load(source.read_text(encoding="utf-8"))
    return values


def _texts_for(preset: str) -> dict[str, dict[str, str]]:
    """Return a preset's texts by what is shown, its base's where it has none."""
    values = _preset_file(preset)
    base = values.get("preset")
    texts: dict[str, dict[str, str]] = values.get("texts_for") or (_texts_for(base) if base else {})
    return texts


def _known_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that the kind's plans have; one kind lacks some of another's."""
    known = {each.name for each in fields(KINDS[kind_name(values)].plan)} | {"kind"}
    return {name: value for name, value in values.items() if name in known}


def translated(values: Mapping[str, Any], language: str) -> dict[str, Any]:
    """Return a preset's values with their texts in that language.

    Texts missing in the catalogue stay English; placeholders like {lists} are not filled in.
    """
    translate = catalogue(language).gettext
    return _with_texts(values, lambda text: _by_paragraph(text, translate))


def extract(
    source: BinaryIO, *_: object, **__: object
) -> Iterator[tuple[int, None, str, list[str]]]:
    """Yield the texts of a preset's file, paragraph by paragraph, as Babel's extractors do."""
    content = source.read().decode()
    paragraphs: list[str] = []

    def collect(paragraph: str) -> str:
        paragraphs.append(paragraph)
        return paragraph

    values = yaml.safe_load(content)
    for of_items in ({}, *values.get("texts_for", {}).values()):
        texts = {**of_items, "kind": kind_name(values)} if of_items else values
        _with_texts(texts, lambda text: _by_paragraph(text, collect))
    for paragraph in paragraphs:
        yield _line_of(paragraph, content), None, paragraph, []


def _with_texts(values: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    kind = KINDS[kind_name(values)].plan
    names = [name for name in text_rules(kind) if name in values]
    changed = {**values, **{name: change(values[name]) for name in names}}
    for name in FIELD_LISTS.keys() & values.keys():
        changed[name] = [_field_with_texts(field, change) for field in values[name]]
    return changed


def _field_with_texts(field: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    texts = {name: field[name] for name in FIELD_TEXTS if name in field}
    return {
        **field,
        **{
            name: change(text) if isinstance(text, str) else [change(option) for option in text]
            for name, text in texts.items()
        },
    }


def _by_paragraph(text: str, change: Callable[[str], str]) -> str:
    """Change each paragraph, joined to a line; return the text as it is if none changes."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    changed = [change(paragraph) if paragraph else "" for paragraph in paragraphs]
    return text if changed == paragraphs else "\n\n".join(changed)


def _line_of(paragraph: str, content: str) -> int:
    first_words = r"\s+".join(map(re.escape, paragraph.split()[:4]))
    match = re.search(first_words, content)
    return content.count("\n", 0, match.start()) + 1 if match else 1


def measure_groups() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the measures that can order lists, in groups: (heading, [(name, label), …])."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for measure in filter(lambda measure: can_order(measure.name), MEASURES.values()):
        heading = "The paper's" if measure.name in THE_PAPERS else GROUPS[measure.reads]
        groups.setdefault(heading, []).append((measure.name, measure.label))
    return [*groups.items()]


def fresh_seed() -> int:
    """Return a random seed, for a study whose researcher names none."""
    return secrets.randbelow(2**31)


def from_trec(
    qrels: TextFile,
    runs: Sequence[TextFile],
    *,
    collection_size: str,
    clusters: TextFile | None = None,
    reading: Reading = AS_WRITTEN,
    **options: Any,
) -> OwnLists:
    """Return lists read from TREC files, with their provenance.

    ``collection_size``: as it was typed, "" where it is not known; ``options``: of ``read_trec``.
    Raises FaultyFilesError for faults of files, runs of the same name, and a size that is not a
    whole number.
    """
    text = collection_size.strip()
    size = parse_whole(text)
    if text and size is None:
        raise FaultyFilesError(
            [
                f"collection size: {text!r} found; how many documents the runs searched, a whole "
                "number without commas, or nothing"
            ]
        )
    names = names_of_runs(
        [run.name for run in runs],
        lambda index: lines_of(runs[index].text),
        [run.run for run in runs],
    )
    lists = read_trec(
        *(qrels, runs),
        collection_size=size,
        clusters=clusters,
        names=names,
        reading=reading,
        **options,
    )
    sources = [(JUDGEMENTS, qrels), *((RUN, run) for run in runs)]
    sources += [(CLUSTERS, clusters)] if clusters else []
    provenance = Provenance(
        lists.topics,
        tuple(names),
        lists.documents,
        tuple(SourceFile(role, file.name, file.sha256) for role, file in sources),
        *(tuple(reading.ids), reading.distances, reading.relevant_from),
        lists.warnings,
        lists.unreturned,
        size_unknown=size is None,
    )
    return replace(lists, provenance=provenance)


def read_lists(sources: Sources, **options: Any) -> OwnLists | None:
    """Return the lists of judgements and runs, None without either; raises as ``from_trec``."""
    if sources.judgements is None or not sources.runs:
        return None
    return from_trec(
        sources.judgements,
        sources.runs,
        collection_size=sources.collection_size,
        clusters=sources.clusters,
        reading=sources.reading,
        topics=sources.topics,
        graded=sources.graded,
        missing_last=sources.missing_last,
        **options,
    )


def id_changes() -> dict[str, str]:
    """Return the names of changes to documents' ids, and what each takes away."""
    return {name: change.words for name, change in CHANGES.items()}


def _run_defaults(
    changes: Mapping[str, object], values: Mapping[str, object]
) -> Mapping[str, bool]:
    """Return the ``of_runs`` of the plan's kind if its lists now come from runs, else {}."""
    kind = KINDS.get(str(kind_name(values)))
    if kind is None or not changes.get("provenance"):
        return {}
    of_runs: Mapping[str, bool] = kind.plan.of_runs
    return of_runs


def fields_of_runs(lists: OwnLists, measures: Iterable[str]) -> dict[str, Any]:
    """Return the fields that lists decide; measures too, if the collection's size is unknown."""
    provenance = lists.provenance
    if provenance is None or not provenance.size_unknown:
        return as_fields(lists)
    measures, warnings = left_out(measures)
    provenance = replace(provenance, warnings=(*provenance.warnings, *warnings))
    return {**as_fields(replace(lists, provenance=provenance)), "measures": measures}


def as_fields(lists: OwnLists) -> dict[str, Any]:
    """Return the fields of a plan that own lists decide."""
    return {
        "own_lists": lists.questions,
        "collection_size": lists.collection_size,
        "own_marks": [marks.as_json() for marks in lists.marks],
        "marks": {},
        "provenance": lists.provenance and lists.provenance.as_json(),
    }


def with_lists(plan: Plan, lists: OwnLists) -> Plan:
    """Return a copy of a plan with own lists; raises PlanError if they do not fit the plan."""
    fields = as_fields(lists)
    _check_size(fields)
    is_new = lists.provenance is not None and not getattr(plan, "provenance", None)
    return plan_from_json({**plan.as_json(), **fields, **(plan.of_runs if is_new else {})})


class PlanFileError(SurveyError):
    """An invalid plan file; ``faults``: sentences with file, line and field."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


@dataclass(frozen=True)
class PlanFile:
    """The plan of a file, and its settings of recruitment.

    ``has_minutes``: whether the researcher set the minutes; else they are to be computed.
    """

    plan: Plan
    recruitment: Recruitment
    has_minutes: bool = False


@dataclass(frozen=True)
class PlanText:
    """The fields of a plan file before they are checked, and the line of each."""

    file: str
    values: Mapping[str, object]
    lines: Lines

    @property
    def kind(self) -> str | None:
        """The kind that the file names, None where it names none."""
        kind = self.values.get("kind")
        return kind if isinstance(kind, str) else None


def read_plan(text: str, file: str = "the file", **changes: object) -> PlanFile:
    """Read a plan from YAML; see ``read_plan_text`` and ``plan_from_text``."""
    return plan_from_text(read_plan_text(text, file), **changes)


def plan_from_text(written: PlanText, **changes: object) -> PlanFile:
    """Parse the plan of a file; ``preset: mnro`` in it fills in the fields that it leaves out.

    ``changes`` override fields. With a preset, a missing seed is drawn; without one it is 1, and
    missing minutes are 20, since ``write_plan`` leaves out these values. Raises PlanFileError with
    the faults of ``parse_plan`` and ``parse_recruitment``, each with its line and field.
    """
    file, values, lines = written.file, {**written.values}, written.lines
    recruitment = values.pop("recruitment", {}) or {}
    preset = values.pop("preset", None)
    faults: list[Fault] = []
    if preset is not None and preset not in PRESETS:
        faults.append(Fault(("preset",), f"preset is {preset!r}; allowed is {', '.join(PRESETS)}"))
    elif preset is not None:
        language = str(changes.get("language", values.get("language", ENGLISH)))
        values = {**preset_values(preset, language), "seed": fresh_seed(), **values}
    plan = settings = None
    try:
        values |= changes
        plan = parse_plan({**_run_defaults(changes, values), **values})
    except PlanError as error:
        faults += error.faults
    try:
        settings = parse_recruitment(recruitment)
    except PlanError as error:
        faults += [fault.under("recruitment") for fault in error.faults]
    if plan is None or settings is None or faults:
        raise PlanFileError(_located(fault, file, lines, changes) for fault in faults)
    has_minutes = preset is None or "minutes" in {**written.values, **changes}
    return PlanFile(plan, settings, has_minutes)


def write_plan(plan: Plan, recruitment: Recruitment | None = None) -> str:
    """Return a plan as YAML that ``read_plan`` reads as the same plan."""
    return _as_yaml(plan_values(plan, recruitment), width=88)


def plan_values(plan: Plan, recruitment: Recruitment | None = None) -> dict[str, Json]:
    """Return a plan's fields as plain values, which JSON and YAML write alike."""
    content: dict[str, Json] = {**written_kind(plan), **plan.content()}
    if recruitment is not None and recruitment != Recruitment():
        content["recruitment"] = recruitment.as_json()
    return {name: _plain_value(value) for name, value in content.items()}


def write_nested(values: object) -> str:
    """Return a field's values as YAML for the form; a list has a line for each entry."""
    if values is None:
        return ""
    if not isinstance(values, list | tuple):
        return _as_yaml(values)
    lines = [_as_yaml([each], default_flow_style=True, width=LARGEST_PLAN_FILE) for each in values]
    return "".join(f"- {line.strip()[1:-1]}\n" for line in lines)


def parse_nested(name: str, text: str) -> object:
    """Parse the YAML of one field; raises PlanError if it is not valid YAML."""
    try:
        return _load(text, "the text", (name,))[0] or ()
    except PlanFileError as error:
        raise PlanError([Fault((name,), f"{name} cannot be read: {error}")]) from None


def parse_typed(name: str, rule: Rule | None, text: str) -> object:
    """Return a value that was typed into a field of a plan as a plan file has it.

    A text that cannot be parsed stays, for the plan to reject. ``rule``: None for a field without
    one, which is YAML; raises PlanError for what is not.
    """
    typed = text.strip()
    if name in OF_MEASURES:
        return split_names(typed)
    if isinstance(rule, Whole):
        number = parse_whole(typed, signed=True)
        return (None if rule.optional and not typed else typed) if number is None else number
    if isinstance(rule, Share):
        share = parse_number(typed)
        return text if share is None else share
    if isinstance(rule, Switch):
        return SWITCHES.get(typed.casefold(), text)
    if isinstance(rule, Day):
        return typed or None
    if isinstance(rule, LinesRule):
        return [line for line in text.splitlines() if line.strip()]
    if isinstance(rule, Words):
        return typed.split()
    if isinstance(rule, Choice):
        return next((choice for choice in rule.allowed if str(choice) == typed), text)
    return parse_nested(name, text) if rule is None or isinstance(rule, Nested) else text


def typed_values(plan: Plan, typed: Mapping[str, str]) -> dict[str, object]:
    """Return fields of a plan that were typed as texts as a plan file has them."""
    rules = rules_of(type(plan))
    return {name: parse_typed(name, rules.get(name), text) for name, text in typed.items()}


def plan_differences(
    saved: Mapping[str, object], typed: Mapping[str, object]
) -> list[tuple[str, str, str]]:
    """Return the fields that differ between two versions: (name, text saved, text typed)."""
    return [
        (name, _value_text(saved.get(name)), _value_text(typed.get(name)))
        for name in dict.fromkeys([*saved, *typed])
        if _plain_value(saved.get(name)) != _plain_value(typed.get(name))
    ]


def _value_text(value: object) -> str:
    plain = _plain_value(value)
    if isinstance(plain, dict | list):
        return _as_yaml(plain)
    return "" if plain is None else str(plain)


def read_plan_text(text: str, file: str = "the file") -> PlanText:
    """Read the fields of a plan from YAML; raises PlanFileError if it is not a YAML mapping."""
    values, lines = _load(text, file)
    if not isinstance(values, dict):
        raise PlanFileError([f"{file} holds no fields; a plan has lines like `title: …`"])
    return PlanText(file, values, lines)


def _load(text: str, file: str, place: Place = ()) -> tuple[Any, Lines]:
    """Return the values of a YAML text, and the lines of the fields.

    ``place``: of the field whose text it is, () for a whole plan. Raises PlanFileError for invalid
    YAML and for the faults of ``_refuse_slow`` and ``_prepare``.
    """
    if len(text) > LARGEST_PLAN_FILE:
        raise PlanFileError([f"{file} has {len(text)} characters; {LARGEST_PLAN_FILE} are allowed"])
    lines: Lines = {}
    try:
        _refuse_slow(text, file)
        loader = LOADER(text)
        root = loader.get_single_node()
        faults = list(_prepare(root, place, lines, _text_fields()))
        values = None if root is None else loader.construct_document(root)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise PlanFileError([_yaml_fault(error, text, file)]) from error
    if faults:
        raise PlanFileError(_located(fault, file, lines) for fault in faults)
    return values, lines


def _refuse_slow(text: str, file: str) -> None:
    """Reject YAML whose aliases, depth, long numbers or many values would make reading slow."""
    depth = values = 0
    for event in yaml.parse(text, LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise PlanFileError([f"{file} uses a YAML alias (*name), which is not supported here"])
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise PlanFileError([f"{file} is nested deeper than any plan"])
        values += isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent)
        if values > MOST_LIST_VALUES:
            raise PlanFileError(
                [f"{file} has more than {MOST_LIST_VALUES} values, which are allowed"]
            )
        if isinstance(event, yaml.ScalarEvent) and _is_long_number(event):
            line = f", line {event.start_mark.line + 1}" if event.start_mark else ""
            number = f"a number of {len(event.value)} characters found"
            raise PlanFileError([f"{file}{line}: {number}; {LONGEST_NUMBER} are allowed"])


def _is_long_number(scalar: yaml.ScalarEvent) -> bool:
    is_text = not (scalar.implicit[0] or scalar.tag)  # in quotation marks, or a block
    return (
        len(scalar.value) > LONGEST_NUMBER
        and not is_text
        and NUMERAL.match(scalar.value) is not None
    )


def _prepare(
    node: Node | None, place: Place, lines: Lines, texts: frozenset[str]
) -> Iterable[Fault]:
    """Add each field's line to ``lines``, and tag the values of text fields as texts.

    ``texts``: the names of text fields. Yields a fault for a field that occurs twice, and for a
    number that YAML would read in base 8 or 60.
    """
    if node is None:
        return
    lines.setdefault(place, node.start_mark.line + 1)
    if isinstance(node, ScalarNode):
        yield from _prepare_scalar(node, place, texts)
    elif isinstance(node, SequenceNode):
        for index, child in enumerate(node.value):
            yield from _prepare(child, (*place, index), lines, texts)
    elif isinstance(node, MappingNode):
        seen = set()
        for key, child in node.value:
            name = str(key.value) if isinstance(key, ScalarNode) else "?"
            if name in seen:
                line = key.start_mark.line + 1
                yield Fault((*place, name), f"{name} occurs twice, again on line {line}")
            seen.add(name)
            if isinstance(key, ScalarNode):
                yield from _prepare_scalar(key, place, texts)
            lines.setdefault((*place, name), key.start_mark.line + 1)
            yield from _prepare(child, (*place, name), lines, texts)


def _prepare_scalar(node: ScalarNode, place: Place, texts: frozenset[str]) -> Iterable[Fault]:
    """Tag a text field's value as a text, so that the topic 012 stays "012"; see ``_prepare``."""
    if not texts.isdisjoint(place):
        node.tag = node.tag if node.tag == NULL else TEXT
    elif node.tag in NUMBERS and (base := _odd_base(node.value)):
        text = f"{node.value} found, which YAML reads as a number in base {base}"
        remedy = "no colon" if base == 60 else "no zero before it"
        yield Fault(place, f"{text}; write a number with {remedy}")


def _odd_base(number: str) -> int:
    """Return 8 or 60 for a number that YAML reads in that base, else 0."""
    if ":" in number:
        return 60
    return 8 if OCTAL.match(number) else 0


def _text_fields() -> frozenset[str]:
    """Return the names of the fields that hold texts or ids, also within others."""
    plan_types = [*(plan_type.plan for plan_type in KINDS.values()), Recruitment]
    return frozenset(TEXTS_WITHIN).union(
        name
        for plan_type in plan_types
        for name, rule in rules_of(plan_type).items()
        if isinstance(rule, Text | Words)
    )


def _located(
    fault: Fault, file: str, lines: Lines, changes: Mapping[str, object] | None = None
) -> str:
    """Return a fault with file, line and field; ``changes``: fields that are not from the file."""
    place = fault.place
    is_unset = changes is not None and place and place[:1] not in lines and place[0] not in changes
    while place and place not in lines:
        place = place[:-1]
    line = f", line {lines[place]}" if place in lines and place else ""
    unset = " (the file does not set it)" if is_unset else ""
    path = fault.place
    # A text that begins with the field's name does not need the name before it.
    if path and fault.text.startswith((f"{path[-1]} ", f"there is no field “{path[-1]}”")):
        path = path[:-1]
    field = f", {_field_path(path)}" if path or not fault.place else ""
    return f"{file}{line}{field}: {fault.text}{unset}"


def _field_path(place: Place) -> str:
    """Return the path of a field in words: personal_fields 2, kind."""
    parts: list[str] = []
    for part in place:
        if isinstance(part, int) and parts:
            parts[-1] += f" {part + 1}"
        else:
            parts.append(str(part))
    return ", ".join(parts) or "the whole"


def _yaml_fault(error: Exception, text: str, file: str) -> str:
    problem = getattr(error, "problem", None) or str(error) or type(error).__name__
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        line, fault = _marked_fault(error, problem, [*lines_of(text)] or [""])
        return f"{file}, line {line + 1}: {fault}"
    return f"{file}: cannot be read as YAML ({problem})"


def _marked_fault(
    error: yaml.MarkedYAMLError, problem: str, lines: Sequence[str]
) -> tuple[int, str]:
    """Return the line, from 0, where the mistake behind an error of YAML is, and what it is."""
    mark, context = error.problem_mark, error.context or ""
    last = len(lines) - 1  # libyaml counts a line more at the end of the text
    at = min(mark.line, last) if mark else 0
    begin = min(error.context_mark.line, last) if error.context_mark else at
    column = error.context_mark.column if error.context_mark else 0
    if "quoted scalar" in context and "end of stream" in problem:
        return begin, "the quotation mark is not closed"
    opened = lines[begin][column : column + 1]
    end, unclosed = OPEN.get(opened, ("", ""))
    inner = "".join(lines[begin : max(at, begin + 1)])[column:]
    if "flow" in context and end and inner.count(opened) > inner.count(end):
        return begin, unclosed
    if "could not find expected ':'" in problem:
        glued = re.match(r"\s*([\w-]+:)\S", lines[begin])
        remedy = f"a blank is needed after “{glued[1]}”" if glued else ""
        return begin, remedy or "a line like `title: Which match?` is needed"
    outer = lines[begin if error.context_mark else at - 1]
    is_field = re.match(r" +[\w-]+:(\s[^:]*)?$", lines[at])
    if is_field and not outer.startswith(" ") and any(words in problem for words in SET_OFF):
        return at, "begins with a blank; the other fields do not"
    remedy = next((text for words, text in REMEDIES.items() if words in problem), "")
    return at, remedy or f"cannot be read as YAML ({problem})"


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, those with other line ends escaped in quotes."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> ScalarNode:
    # YAML reads U+0085 as a line feed unless it is escaped.
    style = '"' if OTHER_LINE_END.search(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def _as_yaml(values: object, **style: Any) -> str:
    plain = _plain_value(values)
    text: str = yaml.dump(plain, Dumper=_Dumper, sort_keys=False, allow_unicode=True, **style)
    return text


def _plain_value(value: object) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain_value(item) for name, item in value.items()}
    return [_plain_value(item) for item in value] if isinstance(value, list | tuple) else value
