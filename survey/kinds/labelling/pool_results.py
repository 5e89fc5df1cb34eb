"""What answers say of a pool: who judged what, gold documents, and runs without their own finds."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from survey.core.collections.evaluation import evaluate
from survey.core.collections.labels import Labels
from survey.core.collections.pools import counted
from survey.core.collections.runs import GroundTruth, Judgements
from survey.core.measures import measure_named
from survey.core.statistics.rater_agreement import clopper_pearson
from survey.core.text_input import Json
from survey.kinds.labelling.answer import LabellingPresentation
from survey.kinds.labelling.plan import DOCUMENTS, UNJUDGED, LabellingPlan
from survey.kinds.labelling.plan_files import Gold
from survey.services.analysis.label_agreement import ALL_MERGED
from survey.services.analysis.merged_labels import Merged, merged
from survey.services.analysis.sheets import Cell, Sheet, as_csv
from survey.services.exchange.tables import PARTICIPANT, Column

POOL_RUNS_FILE = "pool_runs.csv"
POOL_FILE, GOLD_FILE, ALL_QRELS = "pool.csv", "gold.csv", "qrels-all.txt"
RUN_MEASURES = ("AP", "nDCG@10")
FEWEST_TO_COMPARE = 2  # runs, and annotators
GOLD_NOTE = (
    "Gold documents have a known answer and are among the others at random places; they are in no "
    "judgement and no measure of agreement. Right: on the known side of grade {level}. Intervals: "
    "95 %, Clopper and Pearson. “I cannot judge this” does not count."
)
RUNS_NOTE = (
    "Each run's first {depth} documents, by all judgements of the pool; relevant from grade "
    "{level}. Without: as if the run had not been in the pool, so that the documents that it alone "
    "found are not judged (Zobel, SIGIR 1998). A run that loses much would be undervalued if "
    "it came later. Topics without any relevant document are left out; one that loses its last "
    "counts 0."
)


class GoldAnswer(NamedTuple):
    """An annotator's answer to a gold document; ``answer``: None for "I cannot judge this"."""

    participant: str
    gold: Gold
    answer: int | None
    is_right: bool | None


class RightShare(NamedTuple):
    """How many answers are right; ``ci95``: of the share, by Clopper and Pearson."""

    right: int
    answers: int

    @property
    def ci95(self) -> tuple[float, float]:
        """The interval of the share."""
        return clopper_pearson(self.right, self.answers)

    @property
    def sentence(self) -> str:
        """The numbers in words."""
        low, high = (round(100 * end) for end in self.ci95)
        return f"{self.right} of {self.answers} right ({low} to {high} %)"

    def as_json(self) -> dict[str, Json]:
        """Return the numbers, and the interval where there is an answer."""
        interval = [*self.ci95] if self.answers else None
        return {"right": self.right, "answers": self.answers, "ci95": interval}


@dataclass
class PoolChecks:
    """Collects the answers to pooled documents, gold documents apart."""

    plan: LabellingPlan
    gold: list[GoldAnswer] = field(default_factory=list)
    judged: Counter[tuple[str, str]] = field(default_factory=Counter)

    def without_gold(
        self, participant: str, topic: str, state: LabellingPresentation
    ) -> dict[str, int]:
        """Return the grades of a query without those of gold documents; collect both."""
        known = self.plan.gold_of(topic)
        for document in state.shown:
            if document in known and (document in state.grades or document in state.not_judged):
                answer, gold = state.grades.get(document), known[document]
                level = self.plan.relevant_from
                is_right = None if answer is None else gold.is_right(answer, level)
                self.gold.append(GoldAnswer(participant, gold, answer, is_right))
        grades = {
            document: grade for document, grade in state.counted.items() if document not in known
        }
        self.judged.update((topic, document) for document in grades)
        return grades

    def results(self, merged: Merged) -> "PoolResults":
        """Return what the answers say."""
        return PoolResults(self.plan, tuple(self.gold), self.judged, merged)

    def progress(self, *, is_test: bool) -> Iterator[str]:
        """Yield how much is judged in queries that are done, and how gold documents are answered.

        The list of participants says how each of them answered these.
        """
        results = self.results(merged((), ()))
        whose = "Of test data, in" if is_test else "In"
        yield f"{whose} queries that are done: {results.judged_sentence}"
        if results.right.answers:
            yield f"Gold documents: {results.right.sentence}."


@dataclass(frozen=True)
class PoolResults:
    """What answers say of a study's pool. ``judged``: how many annotators judged each document."""

    plan: LabellingPlan
    gold: tuple[GoldAnswer, ...]
    judged: Mapping[tuple[str, str], int]
    merged: Merged

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Each topic of the study with each document of its pool, in the order of the tables."""
        pool = self.plan.pool
        return [
            (topic, document)
            for topic in self.plan.topics
            for document in (pool.of_topic(topic) if pool else ())
        ]

    @cached_property
    def new_judgements(self) -> Judgements:
        """The merged grades of what annotators judged."""
        return {
            labelled.topic: dict(
                zip(
                    labelled.documents,
                    labelled.relevance(self.merged.at_least).tolist(),
                    strict=True,
                )
            )
            for labelled in self.merged.topics
        }

    @cached_property
    def judgements(self) -> Judgements:
        """All judgements of the pool: the earlier ones, and the new ones of other documents."""
        earlier = self.plan.judged or {}
        topics = [
            topic for topic in self.plan.topics if topic in self.new_judgements or topic in earlier
        ]
        return {
            topic: {**self.new_judgements.get(topic, {}), **earlier.get(topic, {})}
            for topic in topics
        }

    @property
    def right(self) -> RightShare:
        """How many of the answers to gold documents are right."""
        answers = [answer.is_right for answer in self.gold if answer.is_right is not None]
        return RightShare(sum(answers), len(answers))

    @cached_property
    def right_by_annotator(self) -> dict[str, RightShare]:
        """The same of each annotator who answered one."""
        answers: dict[str, list[bool]] = {}
        for answer in self.gold:
            if answer.is_right is not None:
                answers.setdefault(answer.participant, []).append(answer.is_right)
        return {name: RightShare(sum(own), len(own)) for name, own in sorted(answers.items())}

    @property
    def judged_sentence(self) -> str:
        """How many documents of the pool are judged, and by how many annotators."""
        sampled = self.plan.sampled
        pairs = [pair for pair in self.pairs if sampled is None or pair in sampled]
        counts = Counter(self.judged[pair] for pair in pairs if self.judged.get(pair))
        earlier = self.plan.judged or {}
        before = [
            (topic, document) for topic, document in pairs if document in earlier.get(topic, {})
        ]
        is_skipped = self.plan.documents_asked == UNJUDGED
        done = {pair for pair in pairs if self.judged.get(pair)} | {*before * is_skipped}
        noun = "pooled document" if sampled is None else "sampled document"
        text = f"{len(done):,} of {counted(len(pairs), noun)} "
        text += "is judged" if len(done) == 1 else "are judged"
        by = [
            f"{count:,} by {counted(number, 'annotator')}"
            for number, count in sorted(counts.items())
        ]
        by += [f"{len(before):,} before"] * bool(before)
        return f"{text}{': ' * bool(by)}{', '.join(by)}."

    @property
    def again(self) -> RightShare | None:
        """How many documents that are judged again have a grade on the same side as before."""
        level = self.plan.relevant_from
        pairs = [
            (self.new_judgements[topic][document], (self.plan.judged or {})[topic][document])
            for topic, document in sorted(self.plan.rejudged)
            if document in self.new_judgements.get(topic, {})
        ]
        same = sum((new >= level) == (before >= level) for new, before in pairs)
        return RightShare(same, len(pairs)) if pairs else None

    @property
    def sentences(self) -> list[str]:
        """What to read of the pool: its size, what is judged, and what was judged again."""
        pool = self.plan.pool
        made = [f"The pool: {pool.sentence}"] if pool else []
        if sentence := self.plan.sample_sentence:
            made.append(f"{sentence[0].upper()}{sentence[1:]}.")
        made.append(self.judged_sentence)
        if again := self.again:
            low, high = (round(100 * end) for end in again.ci95)
            made.append(
                f"Of {again.answers} documents judged again, {again.right} are as before "
                f"({low} to {high} %)."
            )
        return made

    @cached_property
    def orders(self) -> dict[str, dict[str, dict[str, float]]]:
        """The runs of the pool as ``evaluate`` takes them: run → topic → document → score."""
        pool = self.plan.pool
        return {
            name: {
                topic: {document: -float(rank) for rank, document in enumerate(order)}
                for topic, order in topics.items()
            }
            for name, topics in (pool.runs if pool else {}).items()
        }

    @property
    def reading(self) -> dict[str, Any]:
        """How ``evaluate`` reads judgements of this pool."""
        return {"relevant_from": self.plan.relevant_from, "may_be_empty": True}

    @cached_property
    def runs(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Run → measure → its mean, and the mean without what the run alone found.

        Empty where people judge a sample of documents, which cannot order runs.
        """
        pool, runs = self.plan.pool, self.orders
        if pool is None or not runs or DOCUMENTS in (self.plan.sample or ()):
            return {}
        measures = [measure_named(name) for name in RUN_MEASURES]
        whole = evaluate(GroundTruth(self.judgements), runs, measures, **self.reading)
        if not whole.queries:
            return {}
        made = {}
        for name, run in runs.items():
            alone = pool.found_alone(name)
            left = {
                topic: {
                    document: grade
                    for document, grade in grades.items()
                    if (topic, document) not in alone
                }
                for topic, grades in self.judgements.items()
            }
            without = evaluate(GroundTruth(left), {name: run}, measures, **self.reading)
            made[name] = {
                measure: (
                    whole.mean(name, measure),
                    float(without.values[name][measure].sum()) / len(whole.queries),
                )
                for measure in RUN_MEASURES
            }
        return made

    def run_values(self, labels: Mapping[str, Labels]) -> dict[str, dict[str, float]]:
        """Return each run's mean by all judgements, ``ALL_MERGED``, and by each annotator's alone.

        By the first of RUN_MEASURES. ``labels``: by annotator; those who did not judge all topics
        are left out. Empty where fewer than two runs or annotators are left, and where annotators
        judge chunks: a part of a pool cannot order runs.
        """
        earlier, sampled = self.plan.judged or {}, self.plan.sampled
        topics = self.plan.topics if sampled is None else {topic for topic, _ in sampled}
        whole = {
            name: {topic: {**grades, **earlier.get(topic, {})} for topic, grades in own.items()}
            for name, own in labels.items()
            if own.keys() >= {*topics}
        }
        if self.plan.judges is not None or min(len(self.runs), len(whole)) < FEWEST_TO_COMPARE:
            return {}
        measure = measure_named(RUN_MEASURES[0])
        values = {ALL_MERGED: {run: of[measure.name][0] for run, of in self.runs.items()}}
        for name, judgements in whole.items():
            by_one = evaluate(GroundTruth(judgements), self.orders, [measure], **self.reading)
            if by_one.queries:
                values[name] = {run: by_one.mean(run, measure.name) for run in self.runs}
        return values

    def values_beside(
        self, grades: Judgements
    ) -> tuple[str, list[str], list[list[float]], list[list[float]]]:
        """Return a measure, the runs, and their values by all judgements, and by other grades.

        Topics × runs, of the topics that have a relevant document and are in ``grades``, to which
        the earlier judgements are added as to people's.
        """
        earlier, measure = self.plan.judged or {}, measure_named(RUN_MEASURES[0])
        people = {topic: self.judgements[topic] for topic in self.judgements if topic in grades}
        others = {topic: {**grades[topic], **earlier.get(topic, {})} for topic in people}
        by_people, by_others = (
            evaluate(GroundTruth(judged), self.orders, [measure], **self.reading)
            for judged in (people, others)
        )
        places = {topic: place for place, topic in enumerate(by_others.queries)}
        values: tuple[list[list[float]], list[list[float]]] = ([], [])
        for place, topic in enumerate(by_people.queries):
            other = places.get(topic)  # None where nothing is relevant by the other grades
            values[0].append(
                [float(by_people.values[run][measure.name][place]) for run in self.orders]
            )
            values[1].append(
                [
                    0.0 if other is None else float(by_others.values[run][measure.name][other])
                    for run in self.orders
                ]
            )
        return measure.name, [*self.orders], *values

    def as_json(self) -> dict[str, Json]:
        """Return the figures."""
        pool = self.plan.pool
        return {
            "pool": pool.sentence if pool else "",
            "judged_by": self._judged_by(),
            "gold": {
                **self.right.as_json(),
                "annotators": [
                    {"participant": name, **share.as_json()}
                    for name, share in self.right_by_annotator.items()
                ],
            },
            "judged_again": self.again.as_json() if self.again else None,
            "relevant_from": self.plan.relevant_from,
            "runs": {
                name: {
                    measure: {"mean": mean, "without_own_finds": without}
                    for measure, (mean, without) in values.items()
                }
                for name, values in self.runs.items()
            },
        }

    def _judged_by(self) -> dict[str, Json]:
        """Return how many documents were judged by how many annotators, by their number."""
        counts = Counter(self.judged.get(pair, 0) for pair in self.pairs)
        return {str(number): counts[number] for number in sorted(counts)}

    @property
    def sheets(self) -> list[Sheet]:
        """The tables: the runs without their own finds, and the gold documents by annotator."""
        plan, pool = self.plan, self.plan.pool
        made = []
        if pool and self.runs:
            alone = {name: len(pool.found_alone(name)) for name in self.runs}
            columns = ["run", "found alone"]
            for name in RUN_MEASURES:
                columns += [name, f"{name} without"]
            rows: list[tuple[Cell, ...]] = []
            for run, values in self.runs.items():
                cells: list[Cell] = [run, alone[run]]
                for both in values.values():
                    cells += both
                rows.append(tuple(cells))
            note = RUNS_NOTE.format(depth=pool.depth, level=plan.relevant_from)
            title = "The runs, and what they would lose outside the pool"
            made.append(Sheet("pool-runs", title, tuple(columns), tuple(rows), note))
        if self.right_by_annotator:
            shares = self.right_by_annotator.items()
            people = tuple(
                (name, share.right, share.answers, *share.ci95) for name, share in shares
            )
            columns = ["participant", "right", "gold documents", "95 % from", "to"]
            note = GOLD_NOTE.format(level=plan.relevant_from)
            title = "Gold documents, by annotator"
            made.append(Sheet("gold-annotators", title, tuple(columns), people, note))
        return made

    def pool_rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield the rows of pool.csv: topic, document, runs, best rank, by how many judged."""
        ranks: Any = self.plan.pool.ranks if self.plan.pool else {}
        for topic, document in self.pairs:
            by_run = ranks.get(topic, {}).get(document, {})
            names, best = " ".join(by_run), min(by_run.values(), default=None)
            yield topic, document, names, best, self.judged.get((topic, document), 0)

    def run_rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield the rows of pool_runs.csv: topic, document, run, rank."""
        ranks: Any = self.plan.pool.ranks if self.plan.pool else {}
        for topic, document in self.pairs:
            for run, rank in ranks.get(topic, {}).get(document, {}).items():
                yield topic, document, run, rank

    def gold_rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield the rows of gold.csv."""
        for answer in sorted(self.gold, key=_gold_key):
            gold = answer.gold
            right = None if answer.is_right is None else int(answer.is_right)
            known = (gold.topic, gold.document, gold.relevance)
            yield answer.participant, *known, answer.answer, right, gold.reason

    def all_qrels(self) -> Iterator[str]:
        """Yield the lines of all judgements, the earlier ones with the new."""
        for topic, grades in self.judgements.items():
            for document in sorted(grades):
                yield f"{topic} 0 {document} {grades[document]}\n"

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield the pool, the gold answers, and all judgements where there were earlier ones."""
        named: list[tuple[str, Sequence[Column], Iterator[tuple[Cell, ...]]]]
        named = [(POOL_FILE, POOL_COLUMNS, self.pool_rows())]
        gold = (PARTICIPANT, _TOPIC, *GOLD_COLUMNS)
        named += [(GOLD_FILE, gold, self.gold_rows())] if self.plan.gold else []
        for name, columns, rows in named:
            yield name, as_csv(Sheet(name, "", names_of(columns), tuple(rows)))
        if self.plan.judged:
            yield ALL_QRELS, "".join(self.all_qrels())


_COUNTED = ("whole number", "0, 1, …")
_TOPIC, _DOCUMENT = Column("topic", "id of the topic"), Column("document", "id of the document")
POOL_COLUMNS = (
    *(_TOPIC, _DOCUMENT),
    Column(
        *("runs", "the runs among whose first documents it is"),
        allowed="separated by spaces; may be empty",
        twin=POOL_RUNS_FILE,
    ),
    Column("best_rank", "its best rank in a run", "whole number", "1, 2, …; may be empty"),
    Column("judged", "how many annotators judged it", *_COUNTED),
)
POOL_RUN_COLUMNS = (
    *(_TOPIC, _DOCUMENT),
    Column("run", "a run among whose first documents it is"),
    Column("rank", "its rank in that run", "whole number", "1, 2, …"),
)
GOLD_COLUMNS = (
    _DOCUMENT,
    Column("relevance", "the known grade", *_COUNTED),
    Column("answer", "the annotator's grade", "whole number", "empty: cannot be judged"),
    Column("right", "whether both are relevant, or both not", "whole number", "0, 1, or empty"),
    Column("reason", "why the grade is known", allowed="may be empty"),
)


def _gold_key(answer: GoldAnswer) -> tuple[str, str, str]:
    return answer.participant, answer.gold.topic, answer.gold.document


def names_of(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the names of columns."""
    return tuple(column.name for column in columns)
