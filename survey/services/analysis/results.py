"""What the answers of a study say: one model, which pages, commands, files and reports render."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, NamedTuple

from survey import __version__, figures
from survey.core.agreement.agreement import MeanTests
from survey.core.agreement.attention import Attention
from survey.core.agreement.credits import Credits
from survey.core.agreement.differences import Pair
from survey.core.agreement.headlines import AnswerRow as AnswerRow
from survey.core.agreement.headlines import Chip as Chip
from survey.core.agreement.pooled_sites import PairOfSite
from survey.core.statistics.significance import Interval, MeanTest
from survey.core.text_input import Json
from survey.errors import SurveyError
from survey.figures import as_svg as as_svg
from survey.figures.exhibit import Exhibit
from survey.services.analysis.attention_sheets import (
    attention_json,
    attention_sentence,
    attention_sheet,
    flags_sheet,
    rules_sheet,
)
from survey.services.analysis.beside import beside_json
from survey.services.analysis.paper_files import SHEET_FORMATS, figure_bytes, table_text
from survey.services.analysis.sheets import Sheet, Table, count_of
from survey.services.analysis.study_results import LeftOut
from survey.services.studies.registration import ONLY_THERE, Comparison

NOBODY = LeftOut(0, 0, 0)
SUPPORTED = "What the answers support"
NO_EVIDENCE = "They are no evidence of anything."
AS_PLANNED = "The analysis is that of the protocol, without departures."
MOST_ROWS = 5  # below a headline, on the first screen
Contested = tuple[str, list[tuple[str, str]]]
"""A topic, and documents of it on which people differ, each with how."""


class PastVotes(NamedTuple):
    """What the votes of a study say for the planning of another; ``unfinished``: a share."""

    measures: tuple[str, ...]
    credits: Credits
    unfinished: float


@dataclass(frozen=True)
class Prose:
    """A paragraph; ``is_small``: it explains what is beside it."""

    text: str
    is_small: bool = True
    shape: ClassVar[str] = "prose"


@dataclass(frozen=True)
class Figure:
    """A figure with its numbers; ``has_caption``: False where a heading says its title."""

    exhibit: Exhibit
    has_caption: bool = True
    shape: ClassVar[str] = "figure"


@dataclass(frozen=True)
class Listing:
    """A table; ``has_caption``: False where a heading says its title."""

    sheet: Sheet
    has_caption: bool = True
    shape: ClassVar[str] = "listing"


class Tested(NamedTuple):
    """A tested pair; ``of_kind``: of questions of this kind, else of these alone.

    ``p`` is corrected as ``correction`` says, ``ci95`` is of this pair alone.
    """

    pair: Pair
    mean: float | None
    t: float | None
    df: float | None
    p: float | None
    ci95: Interval | None
    of_kind: bool
    correction: str

    @classmethod
    def of(cls, pair: Pair, tests: MeanTests) -> "Tested":
        """Return what is tested of a pair: of the kind where that is defined."""
        of_kind = tests.components.t is not None and tests.kind.p is not None
        test: MeanTest = tests.components if of_kind else tests.participants
        decided = tests.kind if of_kind else tests.these
        figures = (tests.mean, test.t, test.df, decided.p, decided.ci95)
        return cls(pair, *figures, of_kind, str(tests.correction))


class Sentence(NamedTuple):
    """A sentence with what it is of; ``is_decided``: None where it is no verdict."""

    text: str
    of: str = ""
    is_decided: bool | None = None


@dataclass(frozen=True)
class Sentences:
    """A list of sentences."""

    rows: Sequence[Sentence]
    shape: ClassVar[str] = "sentences"


@dataclass(frozen=True)
class Terms:
    """Terms, each with its meaning."""

    rows: Sequence[tuple[str, str]]
    shape: ClassVar[str] = "terms"


@dataclass(frozen=True)
class ContestedDocuments:
    """Documents on which people differ; ``note``: what is told of each."""

    note: str
    topics: Sequence[Contested]
    shape: ClassVar[str] = "documents"


@dataclass(frozen=True)
class More:
    """What is shown on demand, under a title."""

    title: str
    blocks: Sequence["Block"]
    shape: ClassVar[str] = "more"


Block = Prose | Figure | Listing | Sentences | Terms | ContestedDocuments | More


@dataclass(frozen=True)
class Section:
    """A part of a report under its heading; a page folds it.

    ``name``: its id; ``short``: its name in the list of contents; ``gist``: what is said of it
    where it is folded; ``part``: people, results, checks, others (other ways to count) or methods.
    """

    name: str
    title: str
    short: str
    blocks: Sequence[Block]
    gist: str = ""
    part: str = "results"


@dataclass(frozen=True, kw_only=True)
class Results(ABC):
    """The results of a study, whatever its kind of question.

    A kind says at least its ``headline``, its ``participants`` and ``as_json``; all else has a
    default. ``study``: facts: title, language, digest; ``simulated_ids``: of the participants who
    are test data and count; ``left_out``: numbers of those who do not count. ``beside``: tables of
    what was answered beside the questions; ``asked``: what was asked, in headings and paragraphs.
    ``attention``: the answers to attention checks and whom other rules of the plan flag, None
    without such; ``repeated``: the headline without those who are flagged, "" where none is;
    ``by_rule``: the same without those whom one rule flags, where the plan has other rules.
    ``registered``: the analysis beside its registration, None without one; ``paper_facts``: what
    the methods of a paper need besides, empty where they were not asked for.
    """

    guide: ClassVar[str] = "analysis#close-and-analyse"  # the section that explains them
    not_pooled: ClassVar[str] = "it compares no measures or systems that people can be ahead for"

    def __init_subclass__(cls) -> None:
        """Refuse a field that has the name of what all results have, with its name."""
        for name in cls.__annotations__:
            if callable(known := getattr(Results, name, None)) or isinstance(known, property):
                raise TypeError(
                    f"the field {name} of {cls.__name__} has a name that all results use"
                )

    study: Mapping[str, Any] = field(default_factory=dict)
    simulated_ids: frozenset[str] = frozenset()
    left_out: LeftOut = NOBODY
    beside: tuple[Sheet, ...] = ()
    attention: Attention | None = None
    repeated: str = ""
    by_rule: Mapping[str, str] = field(default_factory=dict)
    has_own_flags: ClassVar[bool] = False  # and tells of attention checks in JSON of its own
    asked: tuple[tuple[str, str], ...] = ()
    registered: Comparison | None = None
    paper_facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    @abstractmethod
    def headline(self) -> str:
        """What the answers say, in a sentence to quote."""

    @property
    @abstractmethod
    def participants(self) -> Collection[str]:
        """The ids of the participants with an answer that counts."""

    @abstractmethod
    def as_json(self) -> dict[str, Json]:
        """Return all figures as ``survey analyse --json`` prints them."""

    def all_json(self) -> dict[str, Json]:
        """Return all figures, with those of what was answered beside the questions."""
        content = self.as_json()
        if self.attention and (self.attention.rules or not self.has_own_flags):
            repeated = {"without_flagged": self.repeated} if self.repeated else {}
            figures = attention_json(self.attention, self.by_rule)
            content = {**content, "attention": {**figures, **repeated}}
        more: dict[str, Json] = {"beside": beside_json(self.beside)} if self.beside else {}
        more |= {"methods": self.paper_facts} if self.paper_facts else {}
        more |= {"registration": self.registered.as_json()} if self.registered else {}
        return {**content, **more}

    @property
    def past_votes(self) -> PastVotes | None:
        """What was voted for measures; None where people do not vote for such."""
        return None

    @property
    def flagged_ids(self) -> frozenset[str]:
        """The participants whom an analysis without flagged participants leaves out."""
        return self.attention.flagged if self.attention else frozenset()

    @property
    def site_pairs(self) -> Sequence[PairOfSite]:
        """Each pair that is tested, as several studies are pooled; empty where none is.

        ``not_pooled`` says why a kind has none, and is "" for a kind that has some.
        """
        return ()

    @property
    def nothing(self) -> str:
        """Why there is nothing to analyse; "" where an answer counts."""
        if len(self.participants):
            return ""
        if self.left_out.test:
            return "Only test participants have answered."
        if self.left_out.flagged:
            return "All participants are flagged."
        if self.left_out.excluded:
            return "Only excluded participants have answered."
        return "There is no answer yet."

    @property
    def counts(self) -> str:
        """What the headline rests on, on one line."""
        return count_of(len(self.participants), "participant")

    @property
    def basis(self) -> list[str]:
        """What the results rest on, in full: study, answers, who is left out."""
        left_out = self.left_out_words if self.left_out != NOBODY else ""
        told = [self.counts, left_out, self.simulated and f"{self.simulated} {NO_EVIDENCE}"]
        return [*filter(None, told)]

    @property
    def left_out_words(self) -> str:
        """A sentence with the numbers of those who do not count."""
        flagged = f", {self.left_out.flagged} flagged" if self.left_out.flagged else ""
        return (
            f"Left out: {self.left_out.excluded} excluded, {self.left_out.test} test participants"
            f"{flagged}."
        )

    @property
    def simulated(self) -> str:
        """A sentence with the number of simulated participants who count; "" where none does."""
        return simulated_notice(
            len(self.simulated_ids.intersection(self.participants)), len(self.participants)
        )

    @property
    def departures(self) -> str:
        """How the analysis departs from the protocol; "" for the protocol's own."""
        return ""

    @property
    def methods(self) -> str:
        """A paragraph for the methods of a paper: people, tests, exclusions, departures, digest."""
        registered = self.registered.sentence if self.registered else ""
        parts = [*self.analysed, *self.analysis_sentences, registered, *self.sources]
        return " ".join(filter(None, parts))

    @property
    def analysed(self) -> list[str]:
        """Sentences on who counts and who does not."""
        of = self.numbers and f"The analysis is of {self.numbers}."
        simulated = self.simulated and f"{self.simulated} {NO_EVIDENCE}"
        return [*filter(None, (of, simulated, self.left_out_words))]

    @property
    def analysis_sentences(self) -> list[str]:
        """Sentences on tests, departures and early looks."""
        departs = AS_PLANNED
        if departures := self.departures:
            departs = f"It departs from the protocol: {departures}."
        return [*filter(None, (self.method, departs, self.early_looks))]

    @property
    def sources(self) -> list[str]:
        """Sentences on the digest and the program."""
        digest = self.study.get("digest")
        of_study = digest and f"Digest of the frozen study (SHA-256): {digest}."
        return [*filter(None, (of_study, f"Computed with ranking-survey {__version__}."))]

    @property
    def tested(self) -> Sequence[Tested]:
        """The pairs whose difference is tested; none by default."""
        return ()

    @property
    def early_looks(self) -> str:
        """What is to be said of results that could be seen before the last answers came, or ""."""
        return ""

    @property
    def remarks(self) -> list[str]:
        """What else a reader of the sentences has to know."""
        return []

    @property
    def chip(self) -> Chip | None:
        """How far the headline holds; None where nothing was tested."""
        return None

    @property
    def rows(self) -> Sequence[AnswerRow]:
        """What is read below the headline, the most important first."""
        return [AnswerRow("", sentence.text) for sentence in self.sentences]

    @property
    def pair_points(self) -> Mapping[str, float]:
        """The lead of each pair's first in points; the pair that decides comes first.

        That is the plan's primary pair, else the one with the largest lead.
        """
        return {}

    @property
    def shown_rows(self) -> Sequence[AnswerRow]:
        """The rows for which the first screen has room."""
        return self.rows[:MOST_ROWS]

    @property
    def has_verdicts(self) -> bool:
        """Whether the sentences are verdicts, which say more than the rows."""
        return any(sentence.is_decided is not None for sentence in self.sentences)

    @property
    def rows_note(self) -> str:
        """What the figures of the rows are, in a sentence or two."""
        return ""

    @property
    def method(self) -> str:
        """Test and correction behind the headline, for who copies it."""
        return ""

    @property
    def answer_text(self) -> str:
        """The answer to be copied: what the page says first, with n, test, correction, version."""
        chip = f"{self.chip.text}. {self.chip.note}".strip() if self.chip else ""
        made = f"ranking-survey {__version__}"
        if digest := self.study.get("digest"):
            made += f", study {digest}"
        paragraphs = [
            self.headline,
            chip,
            *(f"- {row}" for row in self.rows),
            self.rows_note,
            f"n: {self.counts}.",
            self.method,
            *([f"{self.simulated} {NO_EVIDENCE}"] if self.simulated else []),
            *([f"Not the analysis of the protocol: {self.departures}."] if self.departures else []),
            self.early_looks,
            f"{made}.",
        ]
        return "".join(f"{paragraph}\n" for paragraph in paragraphs if paragraph)

    @property
    def sentences(self) -> Sequence[Sentence]:
        """The verdicts in full; of a kind that compares no pairs, what to read first."""
        return ()

    def verdicts_section(self, *more: "Block") -> Section:
        """Return the part with the verdicts in full, and how many of them decide."""
        decided = sum(bool(sentence.is_decided) for sentence in self.sentences)
        of = [sentence for sentence in self.sentences if sentence.is_decided is not None]
        gist = f"{decided} of {count_of(len(of), 'pair')} decided, each in full"
        return Section("verdicts", SUPPORTED, "Verdicts", [Sentences(self.sentences), *more], gist)

    def own_exhibits(self) -> Iterable[Exhibit]:
        """Yield the figures of the kind, the first beside the headline; the slowest come last."""
        return ()

    def own_sheets(self) -> Iterable[Sheet]:
        """Yield the tables of the kind."""
        return ()

    def contested(self) -> ContestedDocuments | None:
        """Return the documents on which people differ most; None for a kind without."""
        return None

    @cached_property
    def sections(self) -> list[Section]:
        """The parts of the report, by default the sentences and each figure and table."""
        sections = []
        for exhibit in self.exhibits:
            figure = Figure(exhibit, has_caption=False)
            gist = count_of(len(exhibit.rows), "row")
            sections.append(Section(exhibit.name, exhibit.title, exhibit.title, [figure], gist))
        sections += self.attention_sections
        checks = {sheet.name for sheet in self._attention_sheets}
        sections += self.sections_of(sheet for sheet in self.sheets if sheet.name not in checks)
        sections += self.contested_sections()
        return sections

    @property
    def attention_sections(self) -> list[Section]:
        """The part of the report on attention checks, if the study has some."""
        if self.attention is None:
            return []
        blocks: list[Block] = [Prose(attention_sentence(self.attention), is_small=False)]
        blocks += [Prose(self.repeated, is_small=False)] if self.repeated else []
        sheets = {sheet.name: sheet for sheet in self.sheets}
        blocks += [
            Listing(sheets[sheet.name], has_caption=sheet.name != "attention")
            for sheet in self._attention_sheets
            if sheet.rows
        ]
        flagged = len(self.attention.flagged)
        gist = f"{count_of(flagged, 'participant')} flagged"
        title = "Attention checks and flags" if self.attention.rules else "Attention checks"
        return [Section("attention", title, "Attention", blocks, gist, "checks")]

    @property
    def _attention_sheets(self) -> list[Sheet]:
        if self.attention is None:
            return []
        flags = [] if self.has_own_flags else [flags_sheet(self.attention)]
        rules = [rules_sheet(self.attention, self.by_rule)] if self.attention.rules else []
        checks = [attention_sheet(self.attention)] if self.attention.scores else []
        return [*checks, *rules, *flags]

    def contested_sections(self, gist: str = "") -> Iterator[Section]:
        """Yield the part with the documents on which people differ, where there are some."""
        contested = self.contested()
        if contested and contested.topics:
            number = sum(len(rows) for _, rows in contested.topics)
            of = count_of(len(contested.topics), "topic")
            gist = gist or f"{count_of(number, 'document')} of {of}"
            title, short = "Where they differ most", "Where they differ"
            yield Section("contested", title, short, [contested], gist)

    @staticmethod
    def sections_of(sheets: Iterable[Sheet]) -> Iterator[Section]:
        """Yield a part of the report for each table."""
        for sheet in sheets:
            short = sheet.name.replace("-", " ").capitalize()
            listing = Listing(sheet, has_caption=False)
            gist = count_of(len(sheet.rows), "row")
            yield Section(sheet.name, sheet.title, short, [listing], gist, sheet.part)

    @cached_property
    def sheet_of(self) -> dict[str, Sheet]:
        """The tables by name."""
        return {sheet.name: sheet for sheet in self.sheets}

    def listings(self, *names: str) -> list["Block"]:
        """Return the tables of these names, without those that the study does not have."""
        return [Listing(self.sheet_of[name]) for name in names if name in self.sheet_of]

    def figures(self, *names: str) -> list["Block"]:
        """Return the figures of these names, without those that the study does not have."""
        known = {exhibit.name: exhibit for exhibit in self.exhibits}
        return [Figure(known[name]) for name in names if name in known]

    @property
    def beside_sections(self) -> Iterator[Section]:
        """The parts on what was answered beside the questions."""
        return self.sections_of(self.sheet_of[sheet.name] for sheet in self.beside)

    @property
    def all_sections(self) -> list[Section]:
        """The parts of the report, and the registration beside what was done."""
        if self.registered is None or any(
            section.name == "registration" for section in self.sections
        ):
            return self.sections
        changed = count_of(len(self.registered.changed), "item")
        blocks = [Prose(self.registered.sentence, is_small=False), *self.listings("registration")]
        title, gist = "Beside the registration", f"{changed} changed"
        section = Section("registration", title, "Registration", blocks, gist, "checks")
        return [*self.sections, section]

    @property
    def slug(self) -> str:
        """The study's address; "" of answers from elsewhere."""
        return self.study.get("slug") or ""

    @property
    def numbers(self) -> str:
        """How many took part and answered, as captions say it."""
        parts = self.counts.split(" · ")
        return ", ".join(part for part in parts if re.match(r"\d+ [a-z]", part))

    @property
    def title(self) -> str:
        """The study's title, or what the report is of."""
        return self.study.get("title") or "Analysis of answers"

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What a report says of the study above all: term and meaning."""
        why = self.study.get("why")
        return [("Study", f"Unknown: {why}.")] if why else []

    @property
    def public_sheets(self) -> list[Sheet]:
        """The tables of the public page: one that compares single people is in the bundle only."""
        return [each for each in self.sheets if each.rows and each.columns[0] != "participant"]

    @property
    def file_sheets(self) -> list[Sheet]:
        """The tables that are written for a paper."""
        return [each for each in self.sheets if each.rows]

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield name and text of each file that is a result itself, such as judgements."""
        yield from ()

    @property
    def files_note(self) -> str:
        """What the download holds of ``files``, as a part of a sentence."""
        return ""

    @cached_property
    def exhibits(self) -> list[Exhibit]:
        """The figures; those of simulated participants say so inside, so are no evidence."""
        return [*self.marked_exhibits()]

    def marked_exhibits(self) -> Iterator[Exhibit]:
        """Yield the figures one after another: what is behind the one wanted is not made."""
        mark = self.simulated
        for exhibit in self.own_exhibits():
            require_drawing(exhibit)
            yield replace(exhibit, mark=mark)

    @cached_property
    def sheets(self) -> list[Sheet]:
        """The tables; where simulated participants are counted, the note of each says so."""
        notice = self.simulated
        registered = [registration_sheet(self.registered)] if self.registered else []
        sheets = chain(self.own_sheets(), self._attention_sheets, self.beside, registered)
        return [replace(each, note=f"{each.note} {notice}".strip()) for each in sheets]

    @property
    def caption(self) -> str:
        """What the figure beside the headline shows, in a few words."""
        return self.lead.note if self.lead else ""

    @cached_property
    def lead(self) -> Exhibit | None:
        """The figure beside the headline."""
        return next(self.marked_exhibits(), None)


def registration_sheet(compared: Comparison) -> Sheet:
    """Return the table of a registration's items beside what was done."""
    columns = ("item", "status", "registered", "done")
    rows = tuple(item.row for item in compared.items)
    note = f"{ONLY_THERE} SHA-256 of this one: {compared.sha256}."
    return Sheet("registration", "Registered and done", columns, rows, note, part="checks")


def simulated_notice(simulated: int, participants: int) -> str:
    """Return a sentence with the number of simulated participants; empty where none is."""
    if not simulated:
        return ""
    verb = "is" if simulated == 1 else "are"
    return f"{simulated} of {count_of(participants, 'participant')} {verb} simulated."


def require_drawing(exhibit: Exhibit) -> None:
    """Raise SurveyError for an exhibit of a kind from outside that has no drawing registered."""
    if not exhibit.why and not figures.can_draw(exhibit):
        raise SurveyError(
            f"The exhibit {exhibit.name!r} cannot be drawn: {exhibit.kind or exhibit.name!r} is "
            "not in DRAWINGS of survey.figures. The package that brings the kind of question has "
            "to enter it there."
        )


def drawable(results: Results, name: str) -> Exhibit | None:
    """Return a figure with something to be drawn; None where there is no such figure."""
    of_name = (each for each in results.marked_exhibits() if each.name == name)
    return next((each for each in of_name if not each.why), None)


def image_of(exhibit: Exhibit, *, dark: bool) -> str:
    """Return a figure as an image of a page with a light or dark theme."""
    return figures.as_image(exhibit, dark=dark)


def part_file(results: Results, name: str, ending: str) -> bytes | None:
    """Return one figure, one table, or a figure's numbers as a file; None if there is no such."""
    if ending in SHEET_FORMATS:
        tables: Iterator[Table] = chain(results.marked_exhibits(), results.sheets)
        table = next((each for each in tables if each.name == name), None)
        return table_text(table, ending, results.slug).encode() if table else None
    exhibit = drawable(results, name) if ending in figures.FIGURE_FORMATS else None
    return figure_bytes(exhibit, ending) if exhibit else None


def json_text(results: Results) -> str:
    """Return all figures as the text of a JSON file."""
    return json.dumps(results.all_json(), ensure_ascii=False, indent=2)
