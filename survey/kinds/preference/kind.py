"""The kind "preference": for one query two lists side by side; people say which is better."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from math import comb
from random import Random
from typing import Any, ClassVar

import numpy as np

from survey.core.agreement.answers import seconds_taken
from survey.core.agreement.differences import pairs
from survey.core.agreement.fewest import too_few_to_decide
from survey.core.agreement.preferences import agreement_of
from survey.core.collections.items import FindItems, Item, Result, Topic
from survey.core.studies.fields import Finding
from survey.core.studies.plan import OTHER_TOPIC, Check
from survey.core.studies.question_checks import texts_in_grid
from survey.core.studies.questions import Question, rankings_of
from survey.core.ways_in import JUDGEMENTS, RUNS, Sources
from survey.db.models.base import Base
from survey.kinds import Kind, Protocol, Record
from survey.kinds.preference.answer import (
    LESS_SATISFYING,
    PreferenceAnswer,
    PreferencePresentation,
    PreferenceView,
    Side,
)
from survey.kinds.preference.bot import PreferenceBot
from survey.kinds.preference.foreign import HEADINGS, PREFERENCES, analyse_preferences_of
from survey.kinds.preference.machine import PreferenceMachine
from survey.kinds.preference.pages import PreferencePages
from survey.kinds.preference.plan import (
    EQUAL,
    LEFT,
    LIST_LETTERS,
    PREFERRED,
    RIGHT,
    PreferencePlan,
    sign_of,
)
from survey.kinds.preference.practice import practice_pair
from survey.kinds.preference.results import (
    CORRECTION_OF_MEASURES,
    TEST_OF_LEADS,
    TEST_OF_MEASURES,
    Judgement,
    PreferenceResults,
    correction_of_leads,
)
from survey.kinds.preference.ways_in import WAYS_IN, begin
from survey.services.analysis.sheets import Sheet
from survey.services.analysis.study_results import AnalysisOptions, level_left
from survey.services.exchange.answer_columns import EARLIER_TOPIC, AnswerCells
from survey.services.exchange.input_files import (
    BundleError,
    CsvRow,
    Files,
    Headings,
    SourceFiles,
)
from survey.services.exchange.list_questions import (
    check_rankings,
    list_tables,
    read_questions,
    recompute_lists,
)
from survey.services.exchange.long_table import LONG, long_table, pair_cells, response_lines
from survey.services.exchange.tables import REASON, Cell, Column, Content, Table

Preferred = Record[PreferencePresentation, PreferenceAnswer]


class PreferenceKind(
    PreferenceBot,
    PreferenceMachine,
    PreferencePages,
    Kind[PreferencePlan, Question, PreferencePresentation, PreferenceAnswer],
):
    """Which of two lists is better; the pairs of lists are drawn from runs.

    Whether a measure agrees with people is whether its sign on a pair is theirs (Sanderson et al.,
    SIGIR 2010; Sakai & Zeng, SIGIR 2019 and TOIS 2021). The files of the lists and of the measures'
    orders are those of ordering questions.
    """

    name = "preference"
    plan, question = PreferencePlan, Question
    presentation, answer = PreferencePresentation, PreferenceAnswer
    asks = (LESS_SATISFYING,)
    metadata = Base.metadata
    ways_in, takes, preset = WAYS_IN, (JUDGEMENTS, RUNS), "preference"

    def begin(self, sources: Sources, changes: Mapping[str, object]) -> dict[str, Any]:
        """See ``Declaration.begin``."""
        return begin(sources, changes)

    def read_question(self, number: int, content: Mapping[str, Any]) -> Question:
        """Return the question that a row or a file holds."""
        return Question.from_json(number, content)

    def draw(
        self, plan: PreferencePlan, question: Question, chance: Random
    ) -> PreferencePresentation:
        """Draw which list is at the left."""
        return PreferencePresentation(chance.choice(LIST_LETTERS))

    def draw_again(
        self,
        plan: PreferencePlan,
        question: Question,
        earlier: PreferencePresentation,
        chance: Random,
    ) -> PreferencePresentation:
        """Return the lists with their sides swapped."""
        return PreferencePresentation(earlier.sides[1])

    def are_right(
        self, plan: PreferencePlan, check: Check, answers: Sequence[tuple[Question, Preferred]]
    ) -> Sequence[bool]:
        """See ``Declaration.are_right``; of a list of another topic, list A is of the own one."""
        letters = [_letter(row) for _, row in answers]
        if check.name == OTHER_TOPIC:
            return [letter == LIST_LETTERS[0] for letter in letters]
        return [{*letters} != {*LIST_LETTERS}]

    def comparable(self, question: Question, row: Preferred) -> Iterator[tuple[int, str]]:
        """See ``Declaration.comparable``: which list is preferred, whichever its side."""
        yield question.number, _letter(row)

    def show(self, question: Question, presentation: PreferencePresentation) -> PreferenceView:
        """Return the positions of both lists; ``with_items`` adds their first results."""
        left, right = (
            Side(question.lists[letter], unreturned=question.unreturned.get(letter, 0))
            for letter in presentation.sides
        )
        return PreferenceView(presentation.left_list, (left, right))

    def with_items(
        self, plan: PreferencePlan, question: Question, view: PreferenceView, find: FindItems
    ) -> PreferenceView:
        """See ``Declaration.with_items``."""
        if question.source is None:
            return view
        documents = question.source.documents
        items, topic = find({*documents["A"], *documents["B"]}, question.source.topic)
        letters = PreferencePresentation(view.left_list).sides
        left, right = (
            side._replace(
                results=tuple(
                    Result(
                        rank,
                        items.get(document),
                        rank in side.positions if plan.mark_relevant else None,
                    )
                    for rank, document in enumerate(documents[letter], 1)
                )
            )
            for letter, side in zip(letters, view.sides, strict=True)
        )
        return view._replace(sides=(left, right), topic=topic)

    def practice_question(self, plan: PreferencePlan, questions: Sequence[Question]) -> Question:
        """See ``Declaration.practice_question``."""
        return practice_pair(plan, questions)

    def facts(self, plan: PreferencePlan, generator_version: int) -> dict[str, Any]:
        """Return what a summary of the study says of its pairs."""
        return {
            "measures": " ".join(plan.measures),
            "runs": " ".join(plan.runs),
            "topics": len(plan.topics),
            "collection_size": plan.collection_size,
            "selection": plan.selection_sentence,
        }

    def protocol(self, plan: PreferencePlan) -> Protocol:
        """See ``Declaration.protocol``: leads of systems; of no systems, agreement of measures."""
        of_runs = [f"{first}-{second}" for first, second in combinations(plan.runs, 2)]
        asked = ["which of two lists a participant prefers: one, both equally or neither"]
        asked += ["how much better it is"] if plan.ask_strength else []
        asked += ["how satisfied they are with each list"] if plan.ask_satisfaction else []
        return Protocol(
            outcome="; ".join(asked),
            conditions=f"the system ({', '.join(plan.runs)}) whose list is shown",
            randomised="which list is at the left",
            pairs=(*of_runs, *map(str, pairs(plan.measures))),
            smallest=plan.smallest_lead,
            scope="topics of this kind; where that stays open, these topics alone",
            test=TEST_OF_LEADS.format("topics") if of_runs else TEST_OF_MEASURES,
            correction=correction_of_leads(len(of_runs)) if of_runs else CORRECTION_OF_MEASURES,
        )

    def verdict(self, plan: PreferencePlan, questions: Sequence[Question]) -> str:
        """Say on how many pairs measures contradict each other, or a single one favours a list."""
        questions = plan.asked_of(questions)
        signs = [{sign_of(question, name) for name in plan.measures} for question in questions]
        if len(plan.measures) == 1:
            useful = sum(each != {0} for each in signs)
            return f"{plan.measures[0]} favours a list on {useful} of {len(signs)} pairs"
        useful = sum({-1, 1} <= each for each in signs)
        return f"{useful} of {len(signs)} pairs of lists can tell measures apart"

    def findings(self, plan: PreferencePlan, questions: Sequence[Question]) -> Iterator[Finding]:
        """Yield how pairs were selected, and where measures contradict each other."""
        yield Finding(None, f"pairs: {plan.selection_sentence}")
        questions = plan.asked_of(questions)
        signs = {
            name: [sign_of(question, name) for question in questions] for name in plan.measures
        }
        for name, of_pairs in signs.items():
            if ties := of_pairs.count(0):
                text = f"{name} has the same value for both lists of {ties} of {len(questions)}"
                yield Finding(None, f"{text} pairs, and says nothing there")
        for first, second in combinations(plan.measures, 2):
            both = [*zip(signs[first], signs[second], strict=True)]
            count = sum(a * b < 0 for a, b in both)
            text = f"{first} and {second} contradict each other on {count} of {len(both)} pairs"
            yield Finding(None, text)
        topics = {each.source.topic for each in questions if each.source is not None}
        sampled, noun = (len(topics), "topics") if topics else (len(questions), "questions")
        comparisons = comb(len(plan.runs), 2)
        mend = "lists" if len(plan.topics) <= sampled else "questions"
        yield from too_few_to_decide(plan.participants, sampled, comparisons, mend, noun)

    def item_findings(
        self, plan: PreferencePlan, items: Iterable[Item], topics: Iterable[Topic]
    ) -> Iterator[Finding]:
        """Yield how many documents a grid, which is for pictures, would show as texts."""
        return texts_in_grid(plan.layout, items)

    def usual_variant(self, plan: PreferencePlan) -> str:
        """Name the letter of the list that a preview shows at the left."""
        return LIST_LETTERS[0]

    def draw_variant(
        self, plan: PreferencePlan, question: Question, variant: str
    ) -> PreferencePresentation:
        """Return the presentation with the list of this letter at the left."""
        return PreferencePresentation(variant)

    def describe(
        self, plan: PreferencePlan, view: PreferenceView, presentation: PreferencePresentation
    ) -> dict[str, Any]:
        """Return what a participant was shown of both lists, without documents' ids."""
        left, right = (_described(plan, side) for side in view.sides)
        return {"topic": view.topic and view.topic.text, "left": left, "right": right}

    # --- files ---

    answers_file = PREFERENCES
    topic_column = EARLIER_TOPIC
    column_order = (
        *("left", "right", "preferred", "strength", "reason"),
        *("satisfaction_left", "satisfaction_right", "run_a", "run_b", "preferred_run", "score"),
        *("position", "shown_at", "submitted_at"),
        *("active_seconds", "revisions", "asked", "contradicts"),
    )
    recomputed: Mapping[str, str] = {
        "questions.csv": "the pairs of lists as the plan gives them",
        "rankings.csv": "values, printed values and orders recomputed",
        LONG: "differences recomputed from the answers",
    }

    def question_tables(self, plan: PreferencePlan) -> list[Table]:
        """Return the files of the pairs, and of what measures say of them."""
        return list_tables(plan)

    def own_columns(self, plan: PreferencePlan) -> list[Column]:
        """Return the answer's columns, and the runs at the left and right in place of a letter."""
        _, *answer = super().own_columns(plan)
        return [
            Column("left", "the run whose list was at the left"),
            Column("right", "the run whose list was at the right"),
            *answer,
            Column("run_a", "the first of the two runs, by name", since=2),
            Column("run_b", "the second of the two runs, by name", since=2),
            Column(
                *("preferred_run", "the run whose list is preferred"),
                allowed="empty where neither is",
                since=2,
            ),
            Column(
                *("score", "1 where run_a is preferred, -1 for run_b, else 0", "whole number"),
                allowed="-1, 0, 1",
                since=2,
            ),
            *([] if plan.reason_question else [REASON]),  # empty, where none is asked for
        ]

    def own_cells(self, plan: PreferencePlan, question: Question, row: Preferred) -> Sequence[Cell]:
        """Return the cells of these columns."""
        source: Any = question.source
        shown = [source.runs[letter] for letter in row.drawn.sides]
        pair, preferred = sorted(shown), source.runs.get(_letter(row))
        score = 0 if preferred is None else 1 - 2 * pair.index(preferred)
        answer = vars(row.answer).values()
        cells = [*shown, *answer, *pair, preferred, score]
        return [*cells, *([] if plan.reason_question else [row.reason])]

    def read_questions(self, files: Files, plan: PreferencePlan) -> Sequence[Question]:
        """Read the pairs of lists."""
        return read_questions(files, plan)

    def read_drawn(self, row: CsvRow, question: Question) -> PreferencePresentation:
        """Return which list was at the left, from the names of the runs."""
        source: Any = question.source
        if row.text("topic") != source.topic:
            raise row.fault("topic", f"questions.csv gives {source.topic}")
        letters = {run: letter for letter, run in source.runs.items()}
        shown = [row.text("left"), row.text("right")]
        if {*shown} != {*letters}:
            raise row.fault("left", f"left and right are the runs {' and '.join(letters)}")
        return PreferencePresentation(letters[shown[0]])

    def result_tables(self, plan: PreferencePlan) -> list[Table]:
        """Return long.csv: other results are in analysis.json."""
        return [long_table(_OF_PREFERENCES, _long)]

    def lines_per_answer(self, plan: PreferencePlan) -> int:
        """Return how many lines of the files an answer takes."""
        return 1 + len(pairs(plan.measures))

    def check_derived(self, files: Files, content: Content) -> None:
        """Compare rankings.csv, where it exists, with the lists; raises BundleError."""
        check_rankings(files, rankings_of(content.questions), foreign=False)

    def check_questions(self, content: Content) -> str:
        """Select the pairs again and compare; return how they were selected."""
        plan: Any = content.plan
        for found, expected in zip(content.questions, plan.draw_questions(), strict=True):
            for what in ("lists", "marks", "source"):
                if getattr(found, what) != getattr(expected, what):
                    place = f"questions.csv, question {found.number}"
                    raise BundleError(f"{place}: the plan selects a pair with other {what}")
        return f"the pairs are selected again: {plan.selection_sentence}"

    def recompute_sources(self, content: Content, sources: SourceFiles | None) -> Iterator[str]:
        """Compare the lists with the judgements and runs that they come from."""
        plan: Any = content.plan
        return recompute_lists(plan, sources, paired=True)

    def study_entries(self, plan: PreferencePlan, practice: Question | None) -> dict[str, Any]:
        """Return sources, measures, and how pairs were selected; the practice is no question."""
        sources = plan.provenance.as_json()["sources"] if plan.provenance else []
        return {
            "sources": sources,
            "measures": list(plan.measures),
            "selection": plan.selection_sentence,
            "practice": None,
        }

    # --- results ---

    foreign_files: ClassVar[Mapping[str, Headings]] = {PREFERENCES: HEADINGS}

    def analyse_foreign(self, files: Files, options: AnalysisOptions) -> PreferenceResults:
        """Analyse a table of preferences from elsewhere; raises BundleError."""
        return analyse_preferences_of(files, options)

    def analyse(
        self, content: Content, answers: Sequence[Preferred], options: AnalysisOptions
    ) -> PreferenceResults:
        """Return what the preferences say of measures and runs."""
        plan: Any = content.plan
        # Else neither the level nor the arms ask for them.
        counted = [*content.counted(options)] if plan.looks or plan.arms else []
        finished = sum(each.status == "complete" for each in counted)
        level = level_left(plan, content.looks, finished)
        judgements = [*map(_judgement, answers)]
        arms = {person.public_id: person.arm for person in counted if person.arm}
        questions = plan.asked_of(content.questions)
        of_study = (plan, questions, judgements, content.looks, level, arms)
        return PreferenceResults(*of_study, **content.known(options))

    def tried(
        self,
        content: Content,
        number: int,
        rows: Sequence[Preferred],
        drawn: PreferencePresentation,
        answer: PreferenceAnswer,
    ) -> Sheet:
        """Return which list each measure puts first, and how many participants prefer each list.

        List 1 is the one at the left.
        """
        lines = []
        left, right = drawn.sides
        for name, ranking in content.question(number).rankings.items():
            places = ranking.places
            better = EQUAL
            if places[left] != places[right]:
                better = LEFT if places[left] < places[right] else RIGHT
            word = "equal" if better == EQUAL else "better"
            lines.append((name, *(word * (each == better) for each in PREFERRED)))
        preferred = [_judgement(row).preferred for row in rows]
        counts = (preferred.count({LEFT: left, RIGHT: right}.get(each, each)) for each in PREFERRED)
        lines.append(("participants", *map(str, counts)))
        lines.append(("you", *("chosen" * (each == answer.preferred) for each in PREFERRED)))
        return Sheet(
            name="tried",
            title="What each measure says",
            columns=("by", "list 1", "list 2", "equally good", "neither"),
            rows=tuple(lines),
        )


def _described(plan: PreferencePlan, side: Side) -> dict[str, Any]:
    """Return what of a list its page tells."""
    matches = [each.rank for each in side.results if each.is_relevant]
    return {
        **({"positions": [*side.positions]} if plan.show_positions else {}),
        **({"results": len(side.results)} if plan.show_items else {}),
        **({"marked": matches} if plan.show_items and plan.mark_relevant else {}),
    }


def _letter(row: Preferred) -> str:
    """Return the letter of the preferred list, or EQUAL or NEITHER."""
    preferred = row.answer.preferred
    return dict(zip((LEFT, RIGHT), row.drawn.sides, strict=True)).get(preferred, preferred)


def _judgement(row: Preferred) -> Judgement:
    """Return a preference for the analysis, which names lists by letter, not by side."""
    letters, answer = row.drawn.sides, row.answer
    satisfaction = answer.satisfaction_left, answer.satisfaction_right
    return Judgement(
        participant=row.participant,
        question=row.question,
        preferred=_letter(row),
        side=answer.preferred,
        strength=answer.strength,
        satisfaction=dict(zip(letters, satisfaction, strict=True)),
        was_asked=row.asked is not None,
        contradicts=answer.contradicts,
        position=row.position,
        seconds=seconds_taken(row.active_seconds, row.shown_at, row.submitted_at),
    )


def _long(content: Content) -> Iterator[str]:
    """Yield the lines of each counted preference for a list, one for each pair of measures."""
    results: PreferenceResults = content.results
    plan: Any = content.plan
    counted = {each.participant for each in results.judgements}
    questions = {each.number: each for each in content.questions}
    cells = AnswerCells(content)

    @cache
    def pairs_of_lists(number: int, sign: int) -> list[str]:
        """Return the cells of each pair: the same for all who prefer the same list."""
        question, measures = questions[number], results.plan.measures
        differences = results.list_differences(question)
        signs = np.sign([differences[name] for name in measures])
        agreement = dict(zip(measures, agreement_of(signs, sign).tolist(), strict=True))
        orders = question.rankings
        return [
            pair_cells(pair, agreement[a] - agreement[b], orders[a], orders[b])
            for pair in pairs(measures)
            for a, b in [pair]
        ]

    for row in content.answers.rows():
        sign = _judgement(row).sign
        is_counted = row.question <= plan.questions and row.participant in counted
        if sign and is_counted:
            seconds = seconds_taken(row.active_seconds, row.shown_at, row.submitted_at)
            answer = (row.participant, row.question, row.position, seconds)
            yield response_lines(cells, *answer, pairs_of_lists(row.question, sign))


_OF_PREFERENCES = (
    "its agreement with the preference, 1 where it favours the preferred list, ½ where it ties the "
    "two, 0 where it favours the other; answers that prefer neither have no row"
)
