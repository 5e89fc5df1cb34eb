"""Ordering questions in a bundle: their files, and what a bundle does with their answers.

questions.csv and rankings.csv hold the lists and their orders; responses.csv, first_rankings.csv
and votes.csv the answers and what they credit; table3.csv and table4.csv the results. Reading
the files is in ``reader``.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache, partial
from itertools import starmap
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from survey.core.agreement.answers import ASKED_REASONS, Answers, Coded, People, Spread, labels_of
from survey.core.agreement.attention import Attention
from survey.core.agreement.concordance import ParticipantOrders
from survey.core.agreement.credits import OTHER, Ballots, credited_measures, tally_credits
from survey.core.agreement.differences import pairs
from survey.core.agreement.own_orderings import pairs_in_order
from survey.core.studies.fields import ParticipantRecord, list_words
from survey.core.studies.generators import GENERATOR_VERSION
from survey.core.studies.questions import Marks, Question, build_question, rankings_of
from survey.core.studies.rankings import Ranking
from survey.core.text_input import Json
from survey.kinds.ordering import queries, vote_queries
from survey.kinds.ordering.analysis import (
    Analysis,
    Votes,
    analyse_records,
    analyse_votes,
    ordering_answers,
    study_facts,
)
from survey.kinds.ordering.answer import OrderingAnswer, OrderingPresentation, contradiction_of
from survey.kinds.ordering.foreign_votes import HEADINGS as VOTE_HEADINGS
from survey.kinds.ordering.foreign_votes import VOTES_FILE, analyse_votes_of
from survey.kinds.ordering.models import StoredOrderingAnswer, StoredOrderingPresentation
from survey.kinds.ordering.plan import OWN_LISTS, OrderingPlan, ordering_plan
from survey.kinds.ordering.reader import (
    ANSWER_COLUMNS,
    RESPONSES,
    AnswerRecord,
    FirstRanking,
    ForeignFolder,
    read_foreign,
    read_ordering,
)
from survey.kinds.ordering.results import OrderingResults
from survey.services.analysis.results import Results
from survey.services.analysis.sheets import Sheet
from survey.services.analysis.study_results import (
    AnalysisOptions,
    Exclusions,
    LeftOut,
    counted_mask,
    people_from,
)
from survey.services.exchange.answer_columns import (
    ANSWER_KEY,
    ANSWER_REFERENCES,
    COUNTING,
    STUDY,
    TOPIC,
    AnswerCells,
    answer_table,
)
from survey.services.exchange.input_files import BundleError, Files, Headings, SourceFiles
from survey.services.exchange.list_questions import (
    MEASURE,
    RANKING,
    check_rankings,
    list_tables,
    recompute_lists,
)
from survey.services.exchange.long_table import LONG, long_table, pair_cells, response_lines
from survey.services.exchange.tables import (
    CACHED_TEXTS,
    CONTRADICTS,
    OF_QUESTION,
    PARTICIPANT,
    POSITION,
    QUESTION,
    SHARED_COLUMNS,
    STUDY_FILE,
    YES_OR_NO,
    Column,
    Content,
    MoveTime,
    Row,
    Table,
    UnansweredRecord,
    asked_column,
    cell_of,
    csv_cell,
    public_record,
    reason_columns,
    row_lines,
    spaced,
    time_of,
    yes_or_no,
)


@dataclass(frozen=True)
class OrderingContent:
    """The answers to a study's ordering questions, read at each call.

    ``counted``: rows (participant, question, label order, column order, ticked labels) for
    votes.csv, without excluded participants. ``votes``: participants and answers in columns, for
    the analysis.
    """

    rows: Callable[[], Iterator[AnswerRecord]]
    counted: Callable[[], Iterator[Sequence[Any]]]
    first_rankings: Callable[[], Iterator[FirstRanking]]
    votes: Callable[[], tuple[People, Answers]]

    def count(self) -> int:
        """Count the answers of all participants, excluded ones and test data included."""
        return len(self.votes()[1])

    def analyse(self, content: Content, options: AnalysisOptions) -> OrderingResults:
        """Return the results of the answers."""
        plan = ordering_plan(content.plan)
        study = (content.slug, content.status, content.digest or None, content.generator_version)
        facts = study_facts(*study, plan, content.looks)
        analysis = analyse_records(
            *(facts, plan, content.questions, *self.votes()),
            lambda: ordering_answers(
                plan,
                ((each.participant, each.question, each.ranking) for each in self.first_rankings()),
            ),
            options,
            lambda: content.counted(options),
        )
        return OrderingResults.of(analysis)

    def attention(self, content: Content, options: AnalysisOptions) -> Attention | None:
        """Return whom control questions and the plan's rules flag, None without such."""
        attention: Attention | None = content.analysed(options).attention
        return attention

    def public(self, move: MoveTime) -> "OrderingContent":
        """Return the answers for publication: without reasons and personal answers, times moved."""

        def votes() -> tuple[People, Answers]:
            people, answers = self.votes()
            nothing = Coded[Any](({},), np.zeros(len(people), dtype=np.int32))
            return replace(people, personal=nothing), answers

        return replace(
            self,
            rows=lambda: (public_record(row, move) for row in self.rows()),
            first_rankings=lambda: (
                replace(each, submitted_at=move(each.participant, each.submitted_at))
                for each in self.first_rankings()
            ),
            votes=votes,
        )

    def tried_sheet(
        self, content: Content, number: int, drawn: OrderingPresentation, answer: OrderingAnswer
    ) -> Sheet:
        """Return each measure's ordering, how many ticked it, and whether it is the answer's."""
        rankings = content.question(number).rankings
        ticked = {rankings[drawn.label_order[label - 1]] for label in answer.clicked}
        rows = content.results.analysis.agreement.table4.rows
        votes: Mapping[str, float] = next((row.votes for row in rows if row.question == number), {})
        shown_as = {name: f"Method {label}" for label, name in enumerate(drawn.label_order, 1)}
        cells = []
        for name, ranking in rankings.items():
            count, yours = round(votes.get(name, 0)), "yes" if ranking in ticked else ""
            cells.append((name, shown_as[name], str(ranking), count, yours))
        count, yours = round(votes.get(OTHER, 0)), "" if ticked else "yes"
        cells.append((OTHER, "", str(answer.own or ""), count, yours))
        return Sheet(
            name="tried",
            title="What each measure says",
            columns=("measure", "shown as", "ordering, best first", "participants", "yours"),
            rows=tuple(cells),
            note=(
                "Participants: how many ticked that ordering; measures with equal orderings share "
                f"them. {OTHER}: an own ordering."
            ),
        )

    def to_import(
        self, content: Content
    ) -> Iterator[
        tuple[AnswerRecord | UnansweredRecord, OrderingPresentation, OrderingAnswer | None]
    ]:
        """Yield each answer's record, with how the question was shown and what was answered.

        First rankings without an answer come last. A bundle does not say how their questions were
        shown: their orders are empty, and their positions are the first that are free.
        """
        shown = {
            question.number: {name: list(column.shown) for name, column in question.columns.items()}
            for question in content.questions
        }
        first = {
            (each.participant, each.question): (each.ranking, each.submitted_at, each.asked)
            for each in self.first_rankings()
        }
        taken = defaultdict[str, set[int | None]](set)
        for answer in self.rows():
            ranked = first.pop((answer.participant, answer.question), (None, None, None))
            taken[answer.participant].add(answer.position)
            drawn = OrderingPresentation(
                label_order=list(answer.label_order),
                column_order=list(answer.column_order or ()),
                list_order=list(answer.list_order),
                shown=[shown[answer.question][name] for name in answer.label_order],
                ranked_first=ranked[0],
                ranked_at=ranked[1],
                ranked_asked=ranked[2],
            )
            response = OrderingAnswer(answer.clicked, answer.own, answer.typed, answer.scores_seen)
            yield answer, drawn, response
        for (participant, number), ranked in first.items():
            positions = taken[participant]
            position = min({*range(1, len(positions) + 2)} - positions)
            positions.add(position)
            drawn = OrderingPresentation([], [], [], [], *ranked)
            yield UnansweredRecord(participant, number, position), drawn, None


class OrderingFiles:
    """The files of ordering questions, in place of those that ``KindFiles`` derives from fields."""

    recomputed: Mapping[str, str] = {
        "questions.csv": "the lists as the plan gives them",
        "rankings.csv": "values, printed values and orders recomputed",
        "votes.csv": "credits recomputed from what was ticked",
        "table3.csv": "recounted",
        "table4.csv": "recounted",
        LONG: "differences recomputed from the answers",
    }
    answers_file = "responses.csv"
    typed = ""
    has_options = True

    def data_tables(self, plan: OrderingPlan) -> list[Table]:
        """Return the files of the lists and of the answers."""
        return [
            *list_tables(plan),
            responses_table(plan),
            *([SHOWN_LISTS] if plan.shuffle_lists else []),
            *([FIRST_RANKINGS] if plan.has_first_rankings else []),
            VOTES,
        ]

    def result_tables(self, plan: OrderingPlan) -> list[Table]:
        """Return table3.csv, table4.csv with a column for each measure, and long.csv."""
        meaning = "credits (responses of which the order equals a ticked column's)"
        columns = [
            QUESTION,
            *(Column(name, meaning, "whole number", "0, 1, …") for name in plan.measures),
            Column(OTHER, "custom rankings", "whole number", "0, 1, …"),
            Column("choice", "the measures with the most credits, joined by -"),
        ]
        return [
            _TABLE3,
            Table("table4.csv", columns, _table4, ["question"], OF_QUESTION),
            long_table(_OF_ORDERINGS if plan.only_ordered else _OF_VOTES, _long_lines),
        ]

    def lines_per_answer(self, plan: OrderingPlan) -> int:
        """Return how many lines of the files an answer takes."""
        return 1 + len(plan.measures) + len(pairs(plan.measures))

    def stored(self, session: Session, study_id: int, *, include_test: bool) -> OrderingContent:
        """Return the answers of a study in the database."""
        wanted = {"include_test": include_test}
        return OrderingContent(
            rows=lambda: map(AnswerRecord._make, queries.answers_of(session, study_id, **wanted)),
            counted=lambda: queries.ballots_of(session, study_id, **wanted),
            first_rankings=lambda: starmap(
                FirstRanking, queries.first_rankings_of(session, study_id, **wanted)
            ),
            votes=lambda: _stored_votes(session, study_id, **wanted),
        )

    def read(
        self,
        files: Files,
        plan: OrderingPlan,
        participants: Callable[[], Iterable[ParticipantRecord]],
    ) -> tuple[Sequence[Question], OrderingContent]:
        """Read the questions and the answers; raises BundleError."""
        people = people_from(participants())
        records = read_ordering(files, plan, people)
        return records.questions, OrderingContent(
            rows=records.rows,
            counted=partial(_counted_rows, people, records.answers),
            first_rankings=records.first_rankings,
            votes=lambda: (people, records.answers),
        )

    def check_derived(self, files: Files, content: Content) -> None:
        """Compare rankings.csv, where it exists, with the lists; raises BundleError."""
        check_rankings(files, rankings_of(content.questions), foreign=False)

    def recompute_sources(self, content: Content, sources: SourceFiles | None) -> Iterator[str]:
        """Compare the lists with the judgements and runs that they come from."""
        plan: Any = content.plan
        return recompute_lists(plan, sources)

    foreign_files: ClassVar[Mapping[str, Headings]] = {
        RESPONSES: (ANSWER_COLUMNS,),
        VOTES_FILE: VOTE_HEADINGS,
    }

    def analyse_foreign(self, files: Files, options: AnalysisOptions) -> Results:
        """Analyse a folder made elsewhere, without study.json; raises BundleError."""
        if RESPONSES not in files:
            return analyse_votes_of(files, options, UNKNOWN_STUDY)
        folder = read_foreign(files)
        answers = Answers.of(answer.response for answer in folder.answers)
        flags = {each.participant: (each.is_test, each.excluded) for each in folder.answers}
        people = Exclusions(*np.array([*flags.values()], dtype=bool).T)
        votes = Votes(
            study=unknown_study(folder),
            measures=folder.measures,
            rankings=rankings_of(folder.questions),
            asked=len(folder.questions),
            answers=answers.of_people(counted_mask(people, options)),
            simulated_ids=frozenset(answers.people[people.is_test].tolist()),
        )
        return OrderingResults.of(analyse_votes(votes, LeftOut.of(people, options), options))

    def read_practice(self, study: Mapping[str, Any], plan: OrderingPlan) -> Question | None:
        """Return the practice question in study.json; raises BundleError for impossible lists."""
        lists = study["practice"]
        if lists is None:
            return None
        try:
            ordered = [lists[letter] for letter in sorted(lists)]
            marks = Marks.from_json(study.get("practice_marks", {}))
            return build_question(0, ordered, plan.measures, plan.setting, marks)
        except (ValueError, TypeError) as error:
            raise BundleError(f"{STUDY_FILE}, practice: {error}") from None

    def study_entries(self, plan: OrderingPlan, practice: Question | None) -> dict[str, Any]:
        """Return generator, measures, the practice question and its marks."""
        marks = {"practice_marks": practice.marks.as_json()} if practice and practice.marks else {}
        provenance = plan.provenance and plan.provenance.as_json()
        return {
            **({"sources": provenance["sources"]} if provenance else {}),
            "generator": plan.generator,
            "measures": list(plan.measures),
            "practice": dict(practice.lists) if practice else None,
            **marks,
        }

    def check_questions(self, content: Content) -> str:
        """Compare the lists with those drawn from the seed, or with own lists of the plan.

        Returns a sentence that says with which; raises BundleError where they differ.
        """
        plan = ordering_plan(content.plan)
        if plan.generator != OWN_LISTS and content.generator_version != GENERATOR_VERSION:
            raise BundleError(
                f"{STUDY_FILE}, generator_version: {content.generator_version} found; this version "
                f"of the survey draws with version {GENERATOR_VERSION}, so it cannot draw these "
                "lists again"
            )
        try:
            drawn = {question.number: question for question in plan.draw_questions()}
        except ValueError as error:
            raise BundleError(f"{STUDY_FILE}, plan: {error}") from None
        if _lists_and_marks(drawn.get(0)) != _lists_and_marks(content.practice):
            raise BundleError(
                f"{STUDY_FILE}, practice: the seed gives other lists for the practice question"
            )
        for question in content.questions:
            place, expected = f"questions.csv, question {question.number}", drawn[question.number]
            if question.marks != expected.marks:
                marks = list_words(plan.marked or question.marks.types)
                raise BundleError(f"{place}: the plan gives other {marks}")
            if question.source != expected.source:
                raise BundleError(f"{place}: the plan gives another topic, run or documents")
            for letter, ranks in question.lists.items():
                planned = expected.lists[letter]
                if ranks != planned:
                    fault = f"{spaced(ranks)} found; the plan gives {spaced(planned)}"
                    raise BundleError(f"{place}, list {letter}: {fault}")
        if plan.generator == OWN_LISTS:
            return f"the lists of {plan.questions} questions are the plan's own"
        return f"the lists of {plan.last_number} questions come out of the seed {plan.seed} again"


UNKNOWN_STUDY = f"there is no {STUDY_FILE}, which would say what the study was"
UNKNOWN_KEYS = ("slug", "title", "status", "digest", "generator", "generator_version", "seed")


def unknown_study(folder: ForeignFolder) -> dict[str, Json]:
    """Return the facts of a folder without study.json: None for the unknown ones, and why."""
    why = UNKNOWN_STUDY
    if folder.collection_size is None:
        why += "; the collection_size is not the same in all questions"
    return {
        **dict.fromkeys(UNKNOWN_KEYS),
        "collection_size": folder.collection_size,
        "measures": list(folder.measures),
        "why": why,
    }


def _counted_rows(people: People, answers: Answers) -> Iterator[Sequence[Any]]:
    """Yield the rows of ``OrderingContent.counted`` from answers in columns."""
    counted = answers.of_people(~people.excluded[people.index_of(answers.people)])
    ids = np.repeat(np.arange(len(counted.people)), counted.answer_counts)
    for start in range(0, len(counted), COUNTED_AT_ONCE):
        rows = slice(start, start + COUNTED_AT_ONCE)
        yield from zip(
            counted.people[ids[rows]].tolist(),
            map(counted.question.values.__getitem__, counted.question.codes[rows].tolist()),
            *(
                map(order.values.__getitem__, order.codes[rows].tolist())
                for order in (counted.label_order, counted.column_order)
            ),
            map(labels_of, counted.clicked[rows].tolist()),
            strict=True,
        )


def _stored_votes(session: Session, study_id: int, *, include_test: bool) -> tuple[People, Answers]:
    people, answers = vote_queries.votes_of(session, study_id)
    if not include_test:
        # A bundle without test data may not even tell how many test participants there were.
        people = people.subset(np.flatnonzero(~people.is_test))
    return people, answers


def _lists_and_marks(question: Question | None) -> tuple[object, Marks] | None:
    return None if question is None else (dict(question.lists), question.marks)


COUNTED_AT_ONCE = 10_000  # rows
YES_NO = ("whole number", "0 or 1")


def _responses(content: Content) -> Iterator[str]:
    """Yield the lines of responses.csv."""
    # There may be millions of lines. Formatted here from cached parts, they take a fraction of the
    # time of ``row_lines``; unpacking a record takes half the time of reading its attributes.
    has_reasons = bool(content.plan.reason_question)
    cells = AnswerCells(content)
    question_lists = {each.number: each.lists for each in content.questions}
    contradicts = contradiction_of(ordering_plan(content.plan), question_lists)
    for answer in content.answers.rows():
        participant, question, position, labels, columns, lists, clicked, own = answer[:8]
        shown_at, submitted_at, seconds, revisions = answer[8:12]
        asked, typed, scores_seen, reason = answer[14:]
        start, end = cells.of(participant)
        yield (
            f"{start}{cells.questions[question]},{position},{_spaced(labels)},"
            f"{_spaced(columns or ())},{_spaced(lists)},{_ticked(clicked)},{_notation(own)},"
            f"{time_of(shown_at)},{time_of(submitted_at)},{cell_of(seconds)},"
            f"{cell_of(revisions)}{end[:-1]},{asked or ''},"
            f"{YES_NO_CELLS[contradicts(question, own)]},{YES_NO_CELLS[typed]},"
            f"{YES_NO_CELLS[scores_seen]}"
            f"{',' + csv_cell(reason or '') if has_reasons else ''}\n"
        )


YES_NO_CELLS = {value: cell_of(yes_or_no(value)) for value in (True, False, None)}


@lru_cache(CACHED_TEXTS)
def _spaced(order: tuple[object, ...]) -> str:
    return csv_cell(spaced(order))


@lru_cache(CACHED_TEXTS)
def _ticked(labels: frozenset[int]) -> str:
    return spaced(sorted(labels))


@lru_cache(CACHED_TEXTS)
def _notation(own: Ranking | None) -> str:
    return "" if own is None else csv_cell(str(own))


def _votes(content: Content) -> Iterator[str]:
    """Yield the lines of each answer in votes.csv, one line for each measure."""
    plan, cells = ordering_plan(content.plan), AnswerCells(content)
    rankings = rankings_of(each for each in content.questions if each.number <= plan.questions)

    @lru_cache(CACHED_TEXTS)
    def vote_lines(
        question: int,
        label_order: tuple[str, ...],
        column_order: Sequence[int] | None,
        clicked: frozenset[int],
    ) -> list[str]:
        """Return an answer's cells from the question on, as texts, one for each measure."""
        orders = rankings[question]
        credited = credited_measures(label_order, clicked, orders)
        lines = []
        for name in plan.measures:
            label = label_order.index(name) + 1
            place = column_order.index(label) + 1 if column_order else None
            ticks = label in clicked, name in credited
            votes: Row = (f"Method{label}", place, str(orders[name]), *ticks)
            own = ",".join(map(cell_of, (name, *votes)))
            lines.append(f"{cells.questions[question]},{own}")
        return lines

    for participant, question, *ticked in content.answers.counted():
        if question not in rankings:
            continue  # a control question
        start, end = cells.of(participant)
        votes = f"{end}{start}".join(vote_lines(question, *ticked))
        yield f"{start}{votes}{end}"


def _first_rankings(content: Content) -> Iterator[Row]:
    for first in content.answers.first_rankings():
        yield (
            *(first.participant, first.question, str(first.ranking), first.submitted_at),
            first.asked,
        )


def _shown_lists(content: Content) -> Iterator[Row]:
    for answer in content.answers.rows():
        for place, letter in enumerate(answer.list_order, 1):
            yield answer.participant, answer.question, letter, place


def responses_table(plan: OrderingPlan) -> Table:
    """Return the table of answers, with the columns that the plan asks for."""
    columns = [
        replace(column, twin=SHOWN_LISTS.name)
        if column.name == "list_order" and plan.shuffle_lists
        else column
        for column in _RESPONSE_COLUMNS
    ]
    columns += reason_columns(plan)
    return Table("responses.csv", columns, _responses, ANSWER_KEY, ANSWER_REFERENCES)


_RESPONSE_COLUMNS = [
    *(STUDY, PARTICIPANT, QUESTION, TOPIC, POSITION),
    Column("label_order", source=StoredOrderingPresentation.label_order, twin=VOTES_FILE),
    Column("column_order", source=StoredOrderingPresentation.column_order, twin=VOTES_FILE),
    Column("list_order", source=StoredOrderingPresentation.list_order),
    Column("clicked", source=StoredOrderingAnswer.clicked, twin=VOTES_FILE),
    Column("custom_ranking", source=StoredOrderingAnswer.own),
    *SHARED_COLUMNS,
    *(replace(column, since=1 + (column.name in ("flagged", "arm"))) for column in COUNTING),
    asked_column(ASKED_REASONS),
    CONTRADICTS,
    Column("typed", source=StoredOrderingAnswer.typed, allowed=YES_OR_NO),
    Column("scores_seen", source=StoredOrderingAnswer.scores_seen, allowed=f"{YES_OR_NO}; empty"),
]

SHOWN_LISTS = answer_table(
    "shown_lists.csv",
    [
        Column("list", "letter of the list"),
        Column("place", "where it stood, counted from the top", "whole number", "1, 2, …"),
    ],
    _shown_lists,
    ["list"],
    is_twin=True,
)
FIRST_RANKINGS = answer_table(
    "first_rankings.csv",
    [
        Column("ranking", source=StoredOrderingPresentation.ranked_first),
        Column("submitted_at", source=StoredOrderingPresentation.ranked_at),
        Column("asked", source=StoredOrderingPresentation.ranked_asked),
    ],
    _first_rankings,
)
_OF_VOTES = "votes, 1 where its order equals that of a ticked column, else 0"
_OF_ORDERINGS = (
    "the share of all pairs of lists that the person puts in its order, a pair that it ties as half"
)
_LABEL = "the label the measure stood behind in this response"
_CREDITED = "whether the measure's order equals that of a ticked column"
VOTES = Table(
    "votes.csv",
    [
        *(STUDY, PARTICIPANT, QUESTION, TOPIC, MEASURE),
        Column("label", _LABEL, allowed="Method1, Method2, …"),
        Column(
            "place",
            "where its column stood, counted from the left",
            "whole number",
            "1, 2, …; empty where unknown",
            since=2,
        ),
        RANKING,
        Column("clicked", "whether this label was ticked", *YES_NO),
        Column("credited", _CREDITED, *YES_NO),
        *COUNTING,
    ],
    _votes,
    [*ANSWER_KEY, "measure"],
    ANSWER_REFERENCES,
)


@row_lines
def _table3(content: Content) -> Iterator[Row]:
    table = content.results.analysis.table3
    yield "participants", table.participants
    yield "questions_per_participant", table.questions_per_participant
    for name, spread in table.numbers.items():
        yield from _spread(name, spread)
    for name, counts in table.counts.items():
        for option, count in counts.items():
            yield f"{name}: {option}", count
    yield from _spread("minutes", table.minutes)


def _spread(name: str, spread: Spread) -> Iterator[Row]:
    for part in ("mean", "sd"):
        value = getattr(spread, part)
        yield f"{name}_{part}", None if value is None else Decimal(f"{value:.4f}")


@row_lines
def _table4(content: Content) -> Iterator[Row]:
    table = content.results.analysis.agreement.table4
    names = (*table.measures, OTHER)
    for row in table.rows:
        yield row.question, *(row.votes[name] for name in names), "-".join(row.choice)
    if content.format == 1:  # which has a row with the totals of analysis.json
        yield "total", *(table.totals[name] for name in names), None


_TABLE3 = Table(
    "table3.csv",
    [
        Column("quantity", "what is counted or averaged"),
        Column("value", "count, mean or standard deviation (n − 1)", "number", "may be empty"),
    ],
    _table3,
    ["quantity"],
)


def _long_lines(content: Content) -> Iterator[str]:
    """Yield the lines of long.csv, a string with a line for each pair for each response."""
    analysis: Analysis = content.results.analysis
    votes = analysis.votes
    ballots = Ballots.of(votes.answers, votes.rankings, votes.measures)
    ends = [*_ends_of_ballots(ballots, _values_of_ballots(analysis, ballots))]
    cells, start = AnswerCells(content), 0
    for block in votes.answers.blocks():
        of_block = ballots.ballot_index[start : start + len(block)].tolist()
        start += len(block)
        for ballot, of_answer in zip(of_block, _answer_cells(block), strict=True):
            yield response_lines(cells, *of_answer, ends[ballot])


def _values_of_ballots(analysis: Analysis, ballots: Ballots) -> NDArray[np.float64]:
    """Return the tested values of each ballot's responses, (ballots, measures).

    Credits, or in a study without columns the share of pairs of lists in each measure's order.
    """
    if analysis.own_orderings is not None:
        return ParticipantOrders(ballots).against_measures(pairs_in_order)
    return tally_credits(ballots).votes


def _ends_of_ballots(ballots: Ballots, values: NDArray[np.float64]) -> Iterator[list[str]]:
    for question, of_ballot in zip(ballots.questions.tolist(), values.tolist(), strict=True):
        of_measure = dict(zip(ballots.measures, of_ballot, strict=True))
        orders = ballots.rankings[question]
        yield [
            pair_cells(
                pair,
                of_measure[pair.first] - of_measure[pair.second],
                *(orders[pair.first], orders[pair.second]),
            )
            for pair in pairs(ballots.measures)
        ]


def _answer_cells(answers: Answers) -> Iterator[tuple[str, int, int | None, float]]:
    """Yield participant, question, position and seconds of each answer, None where unknown."""
    positions = (*answers.position.values, None)  # the code −1, of an unknown one, reads None
    return zip(
        np.repeat(answers.people, answers.answer_counts).tolist(),
        map(answers.question.values.__getitem__, answers.question.codes.tolist()),
        map(positions.__getitem__, answers.position.codes.tolist()),
        answers.seconds.tolist(),
        strict=True,
    )
