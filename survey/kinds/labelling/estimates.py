"""What few people's labels and many of a machine's say together of a pool and its runs."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from survey.core.collections.evaluation import evaluate
from survey.core.collections.runs import GroundTruth
from survey.core.measures import measure_named
from survey.core.statistics.beside_people import prediction_powered_mean, relevant_count
from survey.kinds.labelling.plan import TOPICS, LabellingPlan
from survey.kinds.labelling.pool_results import RUN_MEASURES, PoolResults
from survey.services.machines.estimates import Counts, Estimate, Estimates, gaps

FEWEST_TOPICS = 3  # for an interval
NO_ANSWER = "no answer"  # the stratum of what the machine could not read or refused
PER_TOPIC = "relevant documents of a topic"

Pair = tuple[str, str]  # topic, document
Grades = Mapping[Pair, int]
Judged = Mapping[str, Mapping[str, int]]  # topic → document → grade


class LabelEstimates:
    """The estimates of a sampled pool; ``asked``, ``machine``: pairs, and the machine's grades.

    A document is relevant from the plan's ``relevant_from`` on, by the grade that annotators' are
    merged to.
    """

    def __init__(self, pool: PoolResults, asked: frozenset[Pair], machine: Grades) -> None:
        self._pool, self._machine = pool, machine
        self._plan: LabellingPlan = pool.plan
        self._sampled = self._plan.sampled or frozenset()
        self._all = self._plan.population
        self._asked = {*self._all} & asked
        self._people = {
            (topic, document): grade
            for topic, grades in pool.new_judgements.items()
            for document, grade in grades.items()
            if (topic, document) in self._sampled
        }
        self._counts = Counts(
            sum(pool.judged.get(pair, 0) for pair in self._sampled),
            sum(pair in machine for pair in self._all),
        )

    def estimates(self) -> Estimates:
        """Return the share of relevant documents, or of topics the means of runs."""
        return self._of_topics() if TOPICS in (self._plan.sample or ()) else self._of_documents()

    def _is_relevant(self, grade: int) -> int:
        return int(grade >= self._plan.relevant_from)

    def _of_documents(self) -> Estimates:
        sizes = "documents", len(self._sampled), len(self._people)
        missing = gaps(*sizes, len(self._asked), len(self._all))
        title = "share of relevant documents"
        strata: dict[str, list[int]] = {}
        for pair in self._all:
            row = strata.setdefault(self._stratum(pair), [0, 0, 0])
            row[0] += 1
            if pair in self._people:
                row[1] += 1
                row[2] += self._is_relevant(self._people[pair])
        names = sorted(strata)
        pool, judged, relevant = zip(*(strata[name] for name in names), strict=True)
        figures: dict[str, Any] = {"missing": [*missing, "no drawn document is judged"]}
        if self._people:
            counts: dict[str, Any] = {"pool": pool, "judged": judged, "relevant": relevant}
            figures = relevant_count(**counts, strata="; ".join(names))
            figures = {**figures, "missing": [*missing, *figures["missing"]]}
        # A stratum's share is what the machine's answer predicts.
        shares = {name: strata[name][2] / max(1, strata[name][1]) for name in names}
        values = (
            [self._is_relevant(grade) for grade in self._people.values()],
            [shares[self._stratum(pair)] for pair in self._people],
        )
        estimate = Estimate("relevant", title, figures, self._counts, values)
        return Estimates(*sizes, len(self._all), [estimate])

    def _stratum(self, pair: Pair) -> str:
        return str(self._machine[pair]) if pair in self._machine else NO_ANSWER

    def _of_topics(self) -> Estimates:
        topics = self._plan.population_topics
        wanting = {topic for topic, _ in self._sampled - self._people.keys()}
        drawn = {topic for topic, _ in self._sampled}
        answered = [place for place, each in enumerate(topics) if each in drawn - wanting]
        asked = {*topics} - {topic for topic, _ in {*self._all} - self._asked}
        missing = gaps("topics", len(drawn), len(answered), len(asked), len(topics))
        by_people, by_machine = self._per_topic(self._people), self._per_topic(self._machine)
        made = []
        for name, title, f, y in self._means(topics, by_machine, by_people):
            people = [y[place] for place in answered]
            figures: dict[str, Any] = {
                "missing": [*missing, f"{FEWEST_TOPICS} judged topics are needed for an interval"]
            }
            if len(answered) >= FEWEST_TOPICS:
                figures = prediction_powered_mean(labelled=answered, people=people, machine=f)
                figures["missing"] = [*missing, *figures["missing"]]
            values = people, [f[place] for place in answered]
            made.append(Estimate(name, title, figures, self._counts, values, percent=False))
        return Estimates("topics", len(drawn), len(answered), len(topics), made)

    def _means(
        self, topics: Sequence[str], machine: Judged, people: Judged
    ) -> Iterator[tuple[str, str, Sequence[float], Sequence[float]]]:
        """Yield name, title and values for each topic, by the machine and by people.

        First the number of relevant documents, then each run and each two runs in each measure.
        """
        f, y = (
            [float(sum(map(self._is_relevant, of.get(topic, {}).values()))) for topic in topics]
            for of in (machine, people)
        )
        yield "relevant", PER_TOPIC, f, y
        by_machine, by_people = (self._values(of, topics) for of in (machine, people))
        for measure in RUN_MEASURES:
            for run in self._pool.orders:
                key = run, measure
                yield f"{measure} {run}", f"{measure} of {run}", by_machine[key], by_people[key]
            for first, second in combinations(self._pool.orders, 2):
                f, y = (
                    [a - b for a, b in zip(of[first, measure], of[second, measure], strict=True)]
                    for of in (by_machine, by_people)
                )
                yield f"{measure} {first}-{second}", f"{measure}, {first} less {second}", f, y

    def _values(
        self, judgements: Judged, topics: Sequence[str]
    ) -> dict[tuple[str, str], list[float]]:
        """Return each run's value in each measure for each topic, 0 where nothing is relevant."""
        if not self._pool.orders:
            return {}
        measures = [measure_named(name) for name in RUN_MEASURES]
        truth = GroundTruth(judgements)
        found = evaluate(truth, self._pool.orders, measures, **self._pool.reading)
        values = {}
        for run, by_measure in found.values.items():
            for measure, of_queries in by_measure.items():
                known = dict(zip(found.queries, map(float, of_queries), strict=True))
                values[run, measure] = [known.get(topic, 0.0) for topic in topics]
        return values

    @staticmethod
    def _per_topic(grades: Grades) -> dict[str, dict[str, int]]:
        topics: dict[str, dict[str, int]] = {}
        for (topic, document), grade in grades.items():
            topics.setdefault(topic, {})[document] = grade
        return topics
