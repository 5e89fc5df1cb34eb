"""What refining gained in a labelling study: its rounds, scored by the study's own judgements."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy.orm import Session

from survey.core.collections.evaluation import FEEDBACK_MEASURES, compare_runs, evaluate, pooled
from survey.core.collections.runs import GroundTruth, Run
from survey.core.measures import measure_named
from survey.core.text_input import FaultyFilesError
from survey.db.item_queries import StudyItems
from survey.db.models import Study
from survey.figures.exhibit import Exhibit
from survey.figures.judging import gain_by_round
from survey.kinds.labelling.answer import ranked
from survey.kinds.labelling.results import LabelResults
from survey.services.analysis.sheets import Cell, Sheet, Starred, count_of
from survey.services.collections.run_evaluation import DECIMALS, Report, Request, evaluation_json
from survey.services.exchange.tables import Content

DEPTH = 100  # documents of a ranking that FEEDBACK_MEASURES read
RUNS, RUNS_WITHOUT_NEGATIVES = "runs", "runs-without-negatives"  # folders
RUN_DEPTH = 1_000  # documents of a topic in a run
REFINING_NOTE = (
    "P, weighted P: mean precision after 10, 20, … 100 documents; R: recall after 100. Means over "
    "{queries} of each query's mean over its annotators; who refined less often stays at their "
    "last round. Gain: over round 0, the ranking before any mark. Refined: how often an annotator "
    "refined a query that often. Stars: better than round 0 at .05 (*), .01 (**) and .001 (***), "
    "by a one-tailed paired bootstrap, before Holm's correction. Relevant is what more than half "
    "of the annotators marked, from these very rankings, and marked documents count in each "
    "round: a gain is more than what new documents alone would give."
)
WITHOUT_NOTE = " “Marked alone”: the same rounds, ranked without what was looked at and not marked."


@dataclass(frozen=True)
class Refining:
    """The rounds of a study's annotators, compared with round 0; ``why``: why there are none.

    ``with_negatives``: as they were ranked; ``without_negatives``: the same rounds without the
    documents that were looked at and not marked, None where these counted for nothing.
    ``refined``: how often a query was refined at least once, twice, …; ``runs``: yields name and
    text of each round of each annotator.
    """

    with_negatives: Report | None = None
    without_negatives: Report | None = None
    refined: tuple[int, ...] = ()
    why: str | None = None
    runs: Callable[[], Iterator[tuple[str, str]]] = lambda: iter(())

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield the rounds of each annotator as runs."""
        return self.runs()

    def as_json(self) -> dict[str, Any]:
        """Return both comparisons as ``survey feedback --rounds`` has them."""
        return {
            "refined": [*self.refined],
            "with_negatives": self.with_negatives and evaluation_json(self.with_negatives),
            "without_negatives": self.without_negatives and evaluation_json(self.without_negatives),
            "why": self.why,
        }

    @property
    def sheet(self) -> Sheet:
        """A table of the rounds, a second row for each without negative examples."""
        columns = (
            *("round", "examples", "refined", "mean P", "gain of P", "weighted P"),
            *("gain of weighted P", "R", "gain of R"),
        )
        title = "What refining gained"
        report = self.with_negatives
        if report is None:
            why = self.why or ""
            return Sheet("refining", title, columns, (), f"{why[:1].upper()}{why[1:]}.")
        reports = [("marked alone", report)]
        if self.without_negatives:
            reports = [("marked, not marked", report), ("marked alone", self.without_negatives)]
        rows: list[tuple[Cell, ...]] = [("0", "none", None, *_cells(report, report.baseline))]
        for number, (name, refined) in enumerate(
            zip([*report.evaluation.values][1:], self.refined, strict=True), 1
        ):
            rows += [
                (str(number), examples, refined, *_cells(each, name)) for examples, each in reports
            ]
        count = count_of(len(report.evaluation.queries), "query", "queries")
        note = REFINING_NOTE.format(queries=count)
        note += WITHOUT_NOTE if self.without_negatives else ""
        return Sheet("refining", title, columns, tuple(rows), note, decimals=DECIMALS)

    @property
    def exhibit(self) -> Exhibit:
        """A figure of the mean precision of each round."""
        reports = [each for each in (self.with_negatives, self.without_negatives) if each]
        names = ("marked, not marked", "marked alone")[2 - len(reports) :]
        precision = FEEDBACK_MEASURES[0]
        rounds = [*reports[0].evaluation.values] if reports else []
        rows = [
            (number, *(each.evaluation.mean(name, precision) for each in reports))
            for number, name in enumerate(rounds)
        ]
        return gain_by_round(names, rows, self.why)


def _cells(report: Report, run: str | None) -> list[Cell]:
    compared = {each.measure: each for each in report.comparisons if each.run == run}
    cells: list[Cell] = []
    for name in FEEDBACK_MEASURES:
        gain = compared.get(name)
        cells.append(report.evaluation.mean(run or "", name))
        cells.append(Starred(gain.difference, gain.stars, DECIMALS) if gain else None)
    return cells


def refining_of(session: Session, study: Study, content: Content, results: Any) -> Refining:
    """Return what refining gained in a labelling study.

    The figures are those of ``survey feedback --rounds`` for the files that the study's ``results``
    are. ``content``: of ``content_of``, read in this session.
    """
    if study.imported_from:
        return Refining(why="the study is imported, and a bundle has no vectors to rank by")
    counted = {*results.participants}
    refined = Counter[int]()
    for row in content.answers.states():
        if row.participant in counted:
            refined.update(range(1, len(row.drawn.rounds)))
    of_study = (session, study.id, content, results)
    runs = partial(_run_files, *of_study)
    if not refined:
        return Refining(why="no annotator has refined a query that is done", runs=runs)
    try:
        reports = [
            _report(*of_study, with_negatives=with_negatives)
            for _, with_negatives in run_folders(content)
        ]
    except FaultyFilesError as error:
        return Refining(why="; ".join(error.faults), runs=runs)
    without = next(iter(reports[1:]), None)
    return Refining(reports[0], without, tuple(refined.values()), runs=runs)


def _run_files(
    session: Session, study_id: int, content: Content, results: LabelResults
) -> Iterator[tuple[str, str]]:
    of_study = (session, study_id, content, results)
    for folder, with_negatives in run_folders(content):
        rounds = rounds_of(*of_study, RUN_DEPTH, with_negatives=with_negatives)
        for participant, number, orders in rounds:
            lines = (
                f"{topic} Q0 {document} {rank} {RUN_DEPTH - rank} round{number}\n"
                for topic, order in orders.items()
                for rank, document in enumerate(order, 1)
            )
            yield f"{folder}/{participant}/round{number}.txt", "".join(lines)


def _report(
    session: Session,
    study_id: int,
    content: Content,
    results: LabelResults,
    *,
    with_negatives: bool,
) -> Report:
    """Score the rounds by what most annotators marked; raises FaultyFilesError."""
    topics = results.merged.topics
    truth = GroundTruth(
        {
            each.topic: dict(zip(each.documents, each.relevance().tolist(), strict=True))
            for each in topics
        },
        {
            each.topic: {
                document: weight
                for document, weight in zip(each.documents, each.weights.tolist(), strict=True)
                if weight
            }
            for each in topics
        },
    )
    measures = [measure_named(name) for name in FEEDBACK_MEASURES]
    people: dict[str, dict[str, Run]] = {}
    rounds = rounds_of(session, study_id, content, results, DEPTH, with_negatives=with_negatives)
    for participant, number, orders in rounds:
        people.setdefault(participant, {})[f"round{number}"] = {
            topic: {document: -rank for rank, document in enumerate(order)}
            for topic, order in orders.items()
        }
    evaluations = [evaluate(truth, runs, measures, may_be_empty=True) for runs in people.values()]
    evaluation = pooled(evaluations)
    baseline = next(iter(evaluation.values))
    compared = compare_runs(evaluation, baseline)
    longest = max(people.values(), key=len)
    return Report(Request(None, ()), truth, longest, evaluation, baseline, compared)


def run_folders(content: Content) -> list[tuple[str, bool]]:
    """Return the folders of runs, and whether negative examples count in them.

    Where the plan lets them count, the same rounds are ranked without them too.
    """
    plan: Any = content.plan
    return [(RUNS, True), *([(RUNS_WITHOUT_NEGATIVES, False)] if plan.negative_share else [])]


def rounds_of(
    session: Session,
    study_id: int,
    content: Content,
    results: LabelResults,
    depth: int,
    *,
    with_negatives: bool,
) -> Iterator[tuple[str, int, dict[str, list[str]]]]:
    """Yield each annotator's rounds, from 0: (participant, round, topic → the first documents).

    A query that was refined less often than others keeps its last ranking in later rounds.
    ``with_negatives``: False ranks the same rounds by the marked documents alone.
    """
    plan: Any = content.plan
    plan = plan if with_negatives else replace(plan, negative_share=0)
    find = StudyItems(session, study_id)
    questions = {each.number: each for each in content.questions}
    counted = {*results.participants}
    for participant, rows in groupby(content.answers.states(), attrgetter("participant")):
        if participant not in counted:
            continue
        states = [(questions[row.question], row.drawn.rounds) for row in rows]
        orders: dict[str, list[str]] = {}
        for number in range(max(len(rounds) for _, rounds in states)):
            for question, rounds in states:
                if number < len(rounds):
                    order = ranked(plan, question, rounds[number], find)
                    orders[question.topic] = order[:depth]
            yield participant, number, {**orders}
