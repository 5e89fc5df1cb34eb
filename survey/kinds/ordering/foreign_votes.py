"""Votes from elsewhere: which measures each answer credits, without the orderings behind them.

Without orderings it is not known which measures order lists alike, so neither what random clicks
would give nor how near people's orderings are can be computed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from survey.core.agreement.agreement import PairTests, corrected_tests, explained, with_holm
from survey.core.agreement.credits import OTHER, Credits, answered_questions, tally_values, whole
from survey.core.agreement.differences import Pair, differences, pairs
from survey.core.agreement.headlines import (
    VOTE_WORDS,
    AnswerRow,
    Chip,
    Row,
    answer_rows,
    chip,
    headline,
)
from survey.core.agreement.verdicts import (
    RULES_NOW,
    VERDICT_RULES,
    Verdict,
    decide,
    interval_in_points,
    population_start,
    rests_on,
    undecided_difference,
)
from survey.core.measures import MEASURES
from survey.core.statistics.significance import LEVEL, rounded
from survey.errors import SurveyError
from survey.services.analysis.results import Results, Sentence
from survey.services.analysis.sheets import Cell, Sheet, count_of
from survey.services.analysis.study_results import (
    AnalysisOptions,
    Exclusions,
    LeftOut,
    counted_mask,
)
from survey.services.exchange.input_files import (
    BundleError,
    CsvRow,
    Faults,
    Files,
    read_foreign_rows,
)

VOTES_FILE = "votes.csv"
HEADINGS = (("participant", "question", "measure", "credited"),)
FEWEST_MEASURES = 2
NOT_COMPUTED = (
    "Not computed, as votes alone do not say how measures order the lists: what random clicks "
    "would give, which matters where two measures order lists alike; how near people's own "
    "orderings are; labels, columns and times."
)

Answer = tuple[str, int, tuple[bool, ...]]
"""Participant, question, and which measures are credited."""


@dataclass(frozen=True)
class VoteResults(Results):
    """What votes say of measures; ``answers``: of the participants who count."""

    guide = "statistics#the-sentences"

    measures: tuple[str, ...]
    answers: Sequence[Answer]

    @cached_property
    def participants(self) -> list[str]:
        """The participants with an answer that counts."""
        return [*dict.fromkeys(person for person, _, _ in self.answers)]

    @cached_property
    def credits(self) -> Credits:
        """Which measures each distinct answer credits."""
        credits, values = tally_values(self.answers, self.measures)
        shape = len(values), len(self.measures)
        return replace(credits, credited=np.array(values, dtype=bool).reshape(shape))

    @cached_property
    def numbers_answered(self) -> list[int]:
        """The questions with an answer."""
        return answered_questions(self.credits.ballots)

    @cached_property
    def tests(self) -> dict[Pair, PairTests]:
        """The difference of every two measures, tested; corrected for all pairs."""
        asked = len(self.numbers_answered)
        of_pairs = [
            PairTests.of_pair(differences(self.credits, pair), self.credits, asked)
            for pair in pairs(self.measures)
        ]
        corrected = corrected_tests(of_pairs, self.measures)
        questions = with_holm([tests.questions for tests in corrected], "sign_flip_p")
        return {
            pair: replace(tests, questions=of_questions)
            for pair, tests, of_questions in zip(
                pairs(self.measures), corrected, questions, strict=True
            )
        }

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """What the votes support for every two measures."""
        return [self._verdict(pair, tests) for pair, tests in self.tests.items()]

    def _verdict(self, pair: Pair, tests: PairTests) -> Verdict:
        mean, questions = tests.mean, len(self.numbers_answered)
        if mean is None:
            return Verdict.undecided(pair, f"{pair.title} cannot be compared: there is no answer.")
        ahead, behind = pair if mean > 0 else pair[::-1]
        if decision := decide(tests):
            sentence = (
                f"{population_start(decision.population, questions)}, answers credit {ahead} more "
                f"often than {behind}, by {rounded(100 * abs(mean))} points of the responses"
                f"{rests_on(decision, mean, tests.correction, interval_in_points)}."
            )
            return Verdict(pair, decision.scope, ahead, "orders", decision.population, sentence)
        of_which = undecided_difference(tests, questions, LEVEL, interval_in_points)
        sentence = (
            f"The votes do not decide between {pair.first} and {pair.second}: the difference is "
            f"{rounded(100 * mean)} points of the responses, and {of_which}."
        )
        return Verdict.undecided(pair, sentence)

    @property
    def _rows(self) -> list[Row]:
        tests = self.tests.values()
        return [Row.of(verdict, test) for verdict, test in zip(self.verdicts, tests, strict=True)]

    @property
    def headline(self) -> str:
        """See ``Results``."""
        if not self.answers:
            return "No measure leads: no answer counts."
        return headline(self._rows, len(self.numbers_answered), VOTE_WORDS)

    @property
    def chip(self) -> Chip | None:
        """See ``Results``."""
        return chip(self._rows) if self.answers else None

    @property
    def rows(self) -> list[AnswerRow]:
        """See ``Results``."""
        return answer_rows(self._rows, VOTE_WORDS) if self.answers else []

    @property
    def counts(self) -> str:
        """See ``Results``."""
        parts = (
            count_of(len(self.participants), "participant"),
            count_of(len(self.numbers_answered), "question"),
            count_of(len(self.answers), "answer"),
        )
        return " · ".join(parts)

    @property
    def remarks(self) -> list[str]:
        """See ``Results``."""
        return [NOT_COMPUTED]

    @property
    def sentences(self) -> list[Sentence]:
        """See ``Results``."""
        return [
            Sentence(verdict.sentence, verdict.pair.title, verdict.scope != "none")
            for verdict in self.verdicts
        ]

    def own_sheets(self) -> list[Sheet]:
        """Return the credits of each question, and each measure's share of the answers."""
        rows: list[tuple[Cell, ...]] = [(str(number), *counts) for number, counts in self._table4()]
        rows.append(("sum", *self._totals))
        columns = ("question", *self.measures, OTHER)
        credits = Sheet("table4", "Votes by question", columns, tuple(rows))
        shares: list[tuple[Cell, ...]] = [*self._shares.items()]
        note = "An answer may credit several measures. OTHER: it credits none."
        return [
            Sheet("shares", "Share of the answers", ("measure", "share"), tuple(shares), note),
            credits,
        ]

    def _table4(self) -> Iterator[tuple[int, list[float]]]:
        credits = self.credits
        none = ~credits.credited.any(axis=1)
        for number in self.numbers_answered:
            counts = credits.counts * (credits.questions == number)
            yield number, [whole(sum_) for sum_ in (*(counts @ credits.votes), counts @ none)]

    @property
    def _totals(self) -> list[float]:
        return [sum(column) for column in zip(*(row for _, row in self._table4()), strict=True)]

    @property
    def _shares(self) -> Mapping[str, float]:
        names = (*self.measures, OTHER)
        return {
            name: total / len(self.answers) for name, total in zip(names, self._totals, strict=True)
        }

    def as_json(self) -> dict[str, Any]:
        """Return the figures that votes give, under the names that those of a study have."""
        rows = [
            {"question": number, **dict(zip((*self.measures, OTHER), counts, strict=True))}
            for number, counts in self._table4()
        ]
        content = {
            VERDICT_RULES: RULES_NOW,
            "n": {
                "participants": len(self.participants),
                "questions": len(self.numbers_answered),
                "responses": len(self.answers),
            },
            "table4": {"rows": rows},
            "shares": {"of_responses": self._shares if self.answers else {}},
            "differences": [
                {
                    "pair": str(verdict.pair),
                    **asdict(tests),
                    "verdict": {"scope": verdict.scope, "sentence": verdict.sentence},
                }
                for verdict, tests in zip(self.verdicts, self.tests.values(), strict=True)
            ],
            "not_computed": NOT_COMPUTED,
            "study": self.study,
        }
        values: dict[str, Any] = explained(content)
        return values


def analyse_votes_of(files: Files, options: AnalysisOptions, why: str) -> VoteResults:
    """Analyse votes.csv; ``why``: it is not known what the study was. Raises BundleError."""
    if not options.as_planned:
        raise SurveyError(f"The analysis of {VOTES_FILE} has only the option --include-test.")
    votes: dict[tuple[str, int], dict[str, bool]] = {}
    flags: dict[str, tuple[bool, bool]] = {}
    faults = Faults()
    for row in read_foreign_rows(files, VOTES_FILE, HEADINGS, ("is_test", "excluded")):
        with faults.collect(BundleError):
            _read(row, votes, flags)
    faults.raise_any()
    names = {name for credited in votes.values() for name in credited}
    if len(names) < FEWEST_MEASURES:
        raise BundleError(
            f"{VOTES_FILE} has votes for {' '.join(names) or 'no measure'}; two are needed"
        )
    for (person, number), credited in votes.items():
        for name in sorted(names - {*credited}):
            place = f"{VOTES_FILE}, participant {person}, question {number}"
            faults.add(f"{place}: no row for {name}; each answer needs one for each measure")
    faults.raise_any()
    are_known = all(name in MEASURES for name in names)
    measures = tuple(sorted(names, key=MEASURES.sort_key if are_known else None))
    people = Exclusions(*np.array([*flags.values()], dtype=bool).T)
    counted = dict(zip(flags, counted_mask(people, options).tolist(), strict=True))
    return VoteResults(
        measures,
        [
            (person, number, tuple(credited[name] for name in measures))
            for (person, number), credited in votes.items()
            if counted[person]
        ],
        study={"why": why},
        simulated_ids=frozenset(
            name for name, (is_test, _) in flags.items() if is_test and counted[name]
        ),
        left_out=LeftOut.of(people, options),
    )


def _read(
    row: CsvRow,
    votes: dict[tuple[str, int], dict[str, bool]],
    flags: dict[str, tuple[bool, bool]],
) -> None:
    person, number, name = (
        row.text("participant"),
        row.whole_number("question"),
        row.text("measure"),
    )
    if not row.cells.get("credited"):
        raise row.fault("credited", "0 or 1 is needed")
    of_person = row.flag("is_test"), row.flag("excluded")
    if flags.setdefault(person, of_person) != of_person:
        raise row.fault("excluded", "is_test and excluded are the same in a participant's rows")
    of_answer = votes.setdefault((person, number), {})
    if name in of_answer:
        raise row.fault("measure", "each measure is allowed once in an answer")
    of_answer[name] = row.flag("credited")
