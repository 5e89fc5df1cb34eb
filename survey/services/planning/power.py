"""Simulated power: read a grid of studies, simulate it on any executor, put it in words."""

import logging
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, permutations, product
from math import comb
from multiprocessing import get_context
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
import scipy

from survey import __version__
from survey.core.agreement.differences import Correction, Pair
from survey.core.agreement.fewest import why_nothing_of_the_kind
from survey.core.agreement.power_model import (
    RANDOM_BALANCED,
    RANDOM_TYPES,
    Chunk,
    PlannedStudy,
    Power,
    QuestionTypes,
    Tally,
    chunks,
    cost_of,
    count_question_types,
    decided_share,
    distinct_types,
    estimated_shares,
    smallest_lead,
    sum_power,
    tally,
)
from survey.core.statistics.significance import LEVEL
from survey.core.studies.fields import MOST_QUESTIONS, Fault, PlanError, list_words
from survey.core.studies.plan import Plan
from survey.core.studies.questions import rankings_of
from survey.core.studies.rankings import CONTRADICTING, IDENTICAL, TIES_ONLY
from survey.errors import SurveyError
from survey.services.planning.power_fields import FIELDS, NO_POOL, PEOPLE, Choice, Numbers, usual_of

if TYPE_CHECKING:
    from survey.services.analysis.results import PastVotes

BALANCED = "balanced"
SHARE_FIELDS = (
    "decided",
    "between_questions",
    "between_participants",
    "dropouts",
    "random_clickers",
)
DEFAULTS = {name: usual_of(rule) for name, rule in FIELDS.items()}

# The work of an executor's task, about a twentieth of a second: sending it to a cluster's
# worker and back takes some milliseconds.
COST_OF_A_TASK = 1_000_000

ENOUGH = 0.8  # the power that studies are usually planned for


class GridError(PlanError):
    """An invalid grid, with every fault in ``faults``."""


@dataclass(frozen=True)
class Grid:
    """Planned studies, by difference, participants and questions, and how to simulate them.

    ``texts``: the fields as they were typed.
    """

    studies: tuple[PlannedStudy, ...]
    replicates: int
    seed: int
    texts: Mapping[str, str]

    @property
    def cost(self) -> int:
        """Work of simulating the grid, in the unit of ``simulate_power``'s progress."""
        return sum(map(cost_of, _alike(self.studies))) * self.replicates

    @property
    def search_cost(self) -> int:
        """About the work of ``find_ways``, in the same unit."""
        return 3 * WAY_COST * len(_smallest(self.studies))


def read_grid(fields: Mapping[str, str], question_types: QuestionTypes | None = None) -> Grid:
    """Parse texts like "20,30,50" to a grid; missing fields are as in ``DEFAULTS``.

    ``pool`` may be "none". ``question_types``: of a study's questions, in place of a generator's.
    Raises GridError with every fault and its field.
    """
    texts = {name: fields.get(name, usual).strip() for name, usual in DEFAULTS.items()}
    if "decided" not in fields and texts["measures"] in ("2", "4", "5", "6"):
        texts["decided"] = f"{decided_share(int(texts['measures'])):.2f}"
    faults: list[Fault] = []
    values: dict[str, list[float]] = {}
    for name, rule in FIELDS.items():
        if isinstance(rule, Numbers):
            try:
                values[name] = rule.parse(name, texts[name])
            except ValueError as error:
                faults.append(Fault((name,), str(error)))
    faults = faults or list(_disagreements(values))
    faults += _choice_faults(texts)
    if faults:
        raise GridError(faults)
    usual = (
        RANDOM_TYPES if texts["generator"] == "random" else distinct_types(int(texts["measures"]))
    )
    try:
        studies = tuple(
            _studies(values, question_types or usual, primary=texts["primary"] == "yes")
        )
    except ValueError as error:  # too few answers for the pool; all else fits by now
        raise GridError([Fault(("pool",), str(error))]) from error
    return Grid(studies, int(values["replicates"][0]), int(values["seed"][0]), texts)


def _choice_faults(texts: Mapping[str, str]) -> Iterator[Fault]:
    for name, rule in FIELDS.items():
        if isinstance(rule, Choice) and texts[name] not in rule.allowed:
            allowed = " or ".join(rule.allowed)
            yield Fault((name,), f"{name} is {texts[name][:40]!r}; {allowed} is allowed")
    if texts["generator"] == "random" and texts["measures"] != "3":
        yield Fault(
            ("generator",),
            "the random questions are those of AP, NMRR and MNRO; plan a draft's own questions "
            "with --study, or take the generator discriminative",
        )


def grid_texts(plan: Plan, pair: Pair) -> dict[str, str]:
    """Return the fields of the grid that a study's plan decides.

    Participants in an arm without methods are not counted. ``pair``: the two measures of
    ``compared_in``. Raises SurveyError where people do not order lists, or never see methods.
    """
    voted = _plan_with_votes(plan)
    texts = {
        "participants": str(voted.voters),
        "questions": str(voted.counted),
        "pool": str(voted.questions) if voted.counted < voted.questions else NO_POOL,
        "measures": str(len(voted.measures)),
        "decided": f"{decided_share(len(voted.measures)):.2f}",
        "primary": "yes" if voted.primary in (str(pair), str(Pair(*pair[::-1]))) else "no",
    }
    if voted.smallest_difference:
        texts["difference"] = f"{voted.smallest_difference / 100:.2f}"
    return texts


def compared_in(
    plan: Plan, questions: Sequence[Any], text: str | None
) -> tuple[Pair, QuestionTypes]:
    """Return the pair of ``find_pair``, and the types of a study's questions for it.

    Without a ``text`` the primary pair, where the plan names one. Raises SurveyError as
    ``grid_texts`` and ``find_pair`` do.
    """
    voted = _plan_with_votes(plan)
    pair = find_pair(voted.measures, text or voted.primary or None)
    return pair, count_question_types(rankings_of(questions), pair)


def without_methods(plan: Plan) -> str:
    """Return a sentence on the participants whose arm shows no methods; empty where all see some.

    Raises SurveyError as ``grid_texts``.
    """
    others = plan.participants - _plan_with_votes(plan).voters
    if not others:
        return ""
    return (
        f"{others} of the {plan.participants} participants are in an arm that "
        "shows no methods, so they have no votes."
    )


class VotedPlan(Protocol):
    """What the power of a study needs of the plan of a kind that ``has_power``."""

    participants: int
    questions: int
    measures: tuple[str, ...]
    primary: str
    smallest_difference: int | None

    @property
    def counted(self) -> int:
        """How many of a participant's answers count."""

    @property
    def voters(self) -> int:
        """How many of the participants are shown methods."""


def _plan_with_votes(plan: Plan) -> VotedPlan:
    from survey.core.kinds import KINDS, kind_of  # simulating without a study needs no kind

    voted: Any = plan
    if not kind_of(plan).has_power:
        voting = list_words([repr(kind.name) for kind in KINDS.values() if kind.has_power])
        raise SurveyError(
            f"Power is simulated of votes for columns, so of studies of kind {voting}; this study "
            f"is of kind {plan.kind!r}."
        )
    if not voted.voters:
        raise SurveyError("This study never shows methods, so it has no votes to simulate.")
    return voted  # type: ignore[no-any-return]


def find_pair(measures: Sequence[str], text: str | None) -> Pair:
    """Return the pair that a text like "MNRO-NMRR" names; without a text the first of all.

    Raises SurveyError.
    """
    known = [Pair(*both) for both in permutations(reversed(measures), 2)]
    for pair in known:
        if text in (None, str(pair)):
            return pair
    raise SurveyError(f"The measures are {', '.join(measures)}; a pair is like {known[0]}.")


def texts_from(votes: "PastVotes", text: str | None) -> dict[str, str]:
    """Return the fields of the grid that a past study's votes on a pair estimate.

    Raises SurveyError where they are too few.
    """
    try:
        shares = estimated_shares(votes.credits, find_pair(votes.measures, text))
    except ValueError as error:
        raise SurveyError(f"These answers show no spreads: {error}.") from error
    rates = {**shares, "dropouts": votes.unfinished}
    return {name: f"{share:.3f}" for name, share in rates.items()}


def _disagreements(values: Mapping[str, Sequence[float]]) -> Iterable[Fault]:
    fewest, decided = int(min(values["questions"])), values["decided"][0]
    if values["pool"] and max(values["pool"]) <= fewest:
        yield Fault(
            ("pool",),
            f"pool is {max(values['pool'])}; it must hold more than the {fewest} questions that "
            f"each participant answers, or be {NO_POOL}",
        )
    if max(values["difference"]) > decided:
        yield Fault(
            ("difference",),
            f"difference is {max(values['difference']):g}; where a share of {decided:g} of the "
            f"responses decides between two measures, it can be {decided:g} at most",
        )


def _studies(
    values: Mapping[str, Sequence[Any]], question_types: QuestionTypes, *, primary: bool
) -> Iterator[PlannedStudy]:
    shares = {name: values[name][0] for name in SHARE_FIELDS}
    names = ("difference", "participants", "questions")
    for difference, people, asked in product(*(values[name] for name in names)):
        for questions in (asked, *(pool for pool in values["pool"] if pool > asked)):
            yield PlannedStudy(
                people,
                asked,
                questions,
                difference,
                **shares,
                question_types=question_types,
                primary=primary,
            )


def simulate_power(
    studies: Sequence[PlannedStudy],
    *,
    seed: int,
    replicates: int,
    executor: Executor | None = None,
    equality: bool = True,
    on_progress: Callable[[int], object] = lambda _: None,
) -> tuple[Power, ...]:
    """Simulate each study's power, in this process or on an executor.

    The figures are the same for every executor and number of workers: threads, processes
    or a Dask cluster's ``Client(...).get_executor()``. ``on_progress`` is called with the
    cost of each finished part; the costs add up to those of the studies (``cost_of``).
    """
    work = [
        chunk for group in _alike(studies) for chunk in chunks(group, replicates, equality=equality)
    ]
    tasks = list(_tasks(work))
    by_study: dict[PlannedStudy, list[Tally]] = {study: [] for study in studies}
    with nullcontext(executor) if executor else ThreadPoolExecutor(1) as pool:
        # After an error or Ctrl-C, map starts no further task.
        for task, done in zip(tasks, pool.map(partial(_tallies, seed), tasks), strict=True):
            for study, study_tally in done:
                by_study[study].append(study_tally)
            on_progress(sum(chunk.cost for chunk in task))
    return tuple(sum_power(study, by_study[study], equality=equality) for study in studies)


# What a page about a plan shows: differences in points, and about the answers to simulate, so that
# it takes no longer than a few seconds.
DIFFERENCES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
USUAL_DIFFERENCE = 0.1
PLAN_COST = 10_000_000
PLAN_SEED = 1
PLAN_REPLICATES = (100, 500)


def simulate_plan(plan: Plan, questions: Sequence[Any]) -> tuple[Pair, tuple[Power, ...]]:
    """Simulate which differences a study finds, with its plan's numbers and its own questions.

    Return the two measures, the primary pair where there is one, and the power of each difference.

    The differences are ``DIFFERENCES`` and the smallest that matters, as far as they can occur.
    Raises GridError for a study that is too small.
    """
    pair, question_types = compared_in(plan, questions, None)
    texts = grid_texts(plan, pair)
    texts["participants"] = str(min(int(texts["participants"]), int(PEOPLE.highest)))
    asked = {float(texts.pop("difference", USUAL_DIFFERENCE)), *DIFFERENCES}
    grid = read_grid({**texts, "difference": "0"}, question_types)
    [base] = [each for each in grid.studies if each.questions == plan.questions]
    studies = [replace(base, difference=share) for share in sorted(asked) if share <= base.decided]
    fewest, most = PLAN_REPLICATES
    replicates = PLAN_COST // sum(map(cost_of, _alike(studies)))
    return pair, simulate_power(
        studies, seed=PLAN_SEED, replicates=min(max(replicates, fewest), most), equality=False
    )


def _alike(studies: Sequence[PlannedStudy]) -> list[tuple[PlannedStudy, ...]]:
    """Group the studies that differ in δ alone, since they share their random numbers."""
    groups: dict[PlannedStudy, list[PlannedStudy]] = {}
    for study in dict.fromkeys(studies):
        groups.setdefault(replace(study, difference=0.0), []).append(study)
    return [tuple(group) for group in groups.values()]


def _tasks(work: Sequence[Chunk]) -> Iterator[list[Chunk]]:
    """Group chunks into tasks that are worth sending to another process."""
    together: list[Chunk] = []
    for chunk in work:
        together.append(chunk)
        if sum(each.cost for each in together) >= COST_OF_A_TASK:
            yield together
            together = []
    if together:
        yield together


def _tallies(seed: int, task: Sequence[Chunk]) -> list[tuple[PlannedStudy, Tally]]:
    return [pair for chunk in task for pair in zip(chunk.studies, tally(chunk, seed), strict=True)]


PARTICIPANTS, POOL, EACH = "participants", "participants with a pool", "questions for each"
# Ways to enough power are searched with fewer runs: the sizes are approximate anyway. The largest
# study has the fewest, unless these do not show whether its power is enough.
SEARCHED, GLANCED = 500, 100
MOST_ANSWERS = 20_000
WAY_COST = 3_000_000  # answers that the search for a way simulates, about
CLOSE_POWER = 0.02

Planned = TypeVar("Planned", bound=PlannedStudy)
Simulate = Callable[[PlannedStudy, int], Power]


class Way(NamedTuple):
    """What gives a study enough power: ``more`` participants, these with a pool, or questions.

    ``result``: about the smallest such study where it is ``enough``, else the largest tried.
    """

    more: str
    result: Power
    enough: bool


def find_ways(grid: Grid, powers: Sequence[Power], executor: Executor | None = None) -> list[Way]:
    """Find what gives the smallest study of a grid ``ENOUGH`` power, for each difference.

    ``powers``: of the grid's studies, which are not simulated again: fewer runs would give a study
    a second power beside its own.
    """
    simulated = dict(zip(grid.studies, powers, strict=True))

    def simulate(study: PlannedStudy, replicates: int) -> Power:
        return (
            simulated.get(study)
            or simulate_power(
                [study], seed=grid.seed, replicates=replicates, executor=executor, equality=False
            )[0]
        )

    ways = []
    for start in _smallest(grid.studies):
        asked = start.per_participant
        people = int(max(start.participants, min(PEOPLE.highest, MOST_ANSWERS // asked)))
        pool = max(study.questions for study in grid.studies if study.per_participant == asked)
        ways.append(_way(PARTICIPANTS, start, ("participants",), people, simulate))
        if pool > start.questions:
            pooled = replace(start, questions=pool)
            ways.append(_way(POOL, pooled, ("participants",), people, simulate))
        questions = max(start.questions, MOST_QUESTIONS)
        ways.append(_way(EACH, start, ("per_participant", "questions"), questions, simulate))
    return ways


def _smallest(studies: Sequence[Planned]) -> list[Planned]:
    """Return the smallest study, with each difference that is not 0."""
    sizes = [(each.participants, each.per_participant, each.questions) for each in studies]
    return [
        study
        for study, size in zip(studies, sizes, strict=True)
        if size == min(sizes) and study.difference
    ]


def _way(
    more: str, start: PlannedStudy, sizes: tuple[str, ...], most: int, simulate: Simulate
) -> Way:
    """Search the least of ``sizes`` with enough power, by interpolating the power's probit."""

    def study_of(size: int) -> PlannedStudy:
        changed: dict[str, Any] = dict.fromkeys(sizes, size)
        return replace(start, **changed)

    least = getattr(start, sizes[0])
    highest = simulate(study_of(most), GLANCED)
    if highest.interval[0] < ENOUGH < highest.interval[1]:
        highest = simulate(study_of(most), SEARCHED)
    lowest = simulate(study_of(least), SEARCHED)
    if least == most or highest.interval[1] < ENOUGH or lowest.power >= ENOUGH:
        best = lowest if lowest.power >= ENOUGH else highest
        return Way(more, best, best.power >= ENOUGH)
    (low, below), (high, above), best = (least, _excess(lowest)), (most, _excess(highest)), highest
    while high - low > 1 and abs(best.power - ENOUGH) > CLOSE_POWER:
        part = min(max(-below / max(above - below, 0.1), 0.1), 0.9)
        size = min(max(round(low * (high / low) ** part), low + 1), high - 1)
        result = simulate(study_of(size), SEARCHED)
        if result.power < ENOUGH - CLOSE_POWER:
            low, below = size, _excess(result)
        else:
            high, above, best = size, _excess(result), result
    return Way(more, best, best.power >= ENOUGH - CLOSE_POWER)


def _excess(result: Power) -> float:
    """Return how far a power is above ``ENOUGH``, in standard deviations."""
    reached, wanted = scipy.special.ndtri([min(max(result.power, 0.002), 0.998), ENOUGH])
    return float(reached - wanted)


def side_by_side(powers: Sequence[Power]) -> list[list[Power]]:
    """Group powers by study; a study's list has its differences in order."""
    rows: dict[tuple[int, int, int], list[Power]] = {}
    for result in powers:
        study = (result.participants, result.per_participant, result.questions)
        rows.setdefault(study, []).append(result)
    return list(rows.values())


def power_rows(powers: Sequence[Power]) -> list[dict[str, Any]]:
    """Return a row of the CSV file for each study."""
    return [
        {
            "design": result.design,
            "participants": result.participants,
            "per_participant": result.per_participant,
            "questions": result.questions,
            "answers": result.answers,
            "difference": result.difference,
            "replicates": result.replicates,
            "power": result.power,
            "power_low": result.interval[0],
            "power_high": result.interval[1],
            "power_for_order": result.for_order,
            "power_equal": result.equal,
            "half_width": result.half_width,
        }
        for result in powers
    ]


def power_json(grid: Grid, powers: Sequence[Power], ways: Sequence[Way]) -> dict[str, Any]:
    """Return the grid's settings, the powers and what gives enough power as JSON values."""
    return {
        "alpha": LEVEL,
        **{name: float(grid.texts[name]) for name in SHARE_FIELDS},
        "measures": powers[0].measures,
        "contrasts": _contrasts(powers[0]),
        "replicates": grid.replicates,
        "seed": grid.seed,
        "primary": powers[0].primary,
        "studies": [
            {**row, "why": why} if (why := why_nothing(result)) else row
            for row, result in zip(power_rows(powers), powers, strict=True)
        ],
        "enough": [
            {
                "power": ENOUGH,
                "more": way.more,
                "reached": way.enough,
                **power_rows([way.result])[0],
            }
            for way in ways
        ],
    }


def _contrasts(study: PlannedStudy) -> dict[str, float]:
    """Return the shares of the questions in which the two orders contradict, and so on.

    ``BALANCED``: of all questions, those that contradict and in which neither ties more lists.
    """
    counts: Counter[str] = Counter()
    for question_type, count in study.question_types:
        counts[question_type.contrast] += count
        if question_type.contrast == CONTRADICTING and question_type.balanced:
            counts[BALANCED] += count
    every = sum(count for _, count in study.question_types)
    return {name: count / every for name, count in counts.items()}


def command(texts: Mapping[str, str]) -> str:
    """Return the command line that simulates the same grid."""
    plain = {name: text.replace(" ", "") for name, text in texts.items()}
    options = (
        f" --{name.replace('_', '-')} {text}"
        for name, text in plain.items()
        if text != DEFAULTS[name]
    )
    return "survey power" + "".join(options)


NOT_COVERED = (
    "Differences are in questions in which the two orders differ; identical orders show none, so "
    "that the difference over all questions is smaller. Where one measure only breaks ties of the "
    "other, the difference is taken to be the same.",
    "Further measures are taken to be liked as much as the two on average: then the correction "
    "for all pairs costs most.",
    "The share that decides and the spread between questions come from the ten questions of the "
    "MNRO paper. The spread between participants is an assumption; the paper does not print it. "
    "A past study of yours tells both: survey power --from-bundle.",
    "Planned looks at results: one or two cost a point of power at most, four about two points.",
)


def reading(result: Power) -> str:
    """Return the sentence on a study's power, for a preregistration too."""
    who = f"With {result.participants} participants answering {asked(result)} questions"
    how_often = f"in {power_percent(result)} of studies ({margin(result)})"
    corrected = correction_of(result)
    if not result.difference:
        return (
            f"{who}, the verdict prefers a measure {how_often} although there is no difference, "
            f"for questions of this kind, {corrected}."
        )
    too_few = why_nothing(result)
    sentence = (
        f"{who}, the verdict finds a difference of {points(result.difference)} {how_often}, "
        f"for questions of this kind, {corrected}.{f' {too_few}' if too_few else ''}"
    )
    if result.for_order < result.power:
        sentence += (
            f" In {100 * result.for_order:.0f} % it says that the preference is for the order, and "
            "not only for showing no ties."
        )
    return (
        f"{sentence} Without a difference it calls the two equal to within "
        f"{points(result.difference)} in {100 * (result.equal or 0.0):.0f} %."
    )


def why_nothing(study: PlannedStudy) -> str:
    """Return why a study is too small for any verdict on questions of this kind; else ""."""
    reasons = why_nothing_of_the_kind(study.participants, study.questions)
    return " ".join(f"{reason[0].upper()}{reason[1:]}." for reason in reasons)


def correction_of(study: PlannedStudy) -> Correction:
    """Return for what the p of the two measures is corrected."""
    pairs = comb(study.measures, 2)
    return Correction(1, "yes") if study.primary else Correction(pairs)


def what_decides(study: PlannedStudy, pair: Pair | None = None) -> str:
    """Return the sentence on how many of a study's questions can decide between the two orders.

    ``pair``: the names of the compared measures, where they are known.
    """
    shares = _contrasts(study)
    contradicting, ties_only, identical = (
        f"{100 * shares.get(name, 0):.0f} %" for name in (CONTRADICTING, TIES_ONLY, IDENTICAL)
    )
    orders = f"The orders of {pair.first} and {pair.second}" if pair else "The two measures' orders"
    return (
        f"{orders} contradict each other in {contradicting} of the questions; in {ties_only} one "
        f"only breaks ties of the other, in {identical} they are identical. "
        f"{_for_order(study, shares)}{_of_others(study)}"
    )


def _of_others(study: PlannedStudy) -> str:
    """Return what random questions can say of AP and another measure."""
    if study.question_types != RANDOM_TYPES:
        return ""
    of_pairs = (
        f"{list_words(names)} do so in {100 * share:.0f} % (about {study.questions * share:.0f})"
        for names, share in RANDOM_BALANCED.items()
    )
    return f" (So it is for MNRO and NMRR; {list_words([*of_pairs])}.)"


def _for_order(study: PlannedStudy, shares: Mapping[str, float]) -> str:
    """Return what the questions can say on whether a lead is for the order."""
    share = shares.get(BALANCED, 0.0)
    if share + shares.get(IDENTICAL, 0.0) > 1 - 1e-9:
        return "Where they contradict each other both tie as many lists: a lead is for the order."
    if not share:
        return "In none do both tie as many lists, so what a lead is for stays open."
    number = round(study.questions * share)
    text = (
        f"In {100 * share:.0f} % (about {number} of {study.questions}) they contradict each other"
    )
    answered = study.per_participant / study.questions
    smallest = smallest_lead(study.participants, number, answered)
    if smallest is None:
        return f"{text} and tie as many lists: too few to show whether a lead is for the order."
    return (
        f"{text} and tie as many lists: these show in most such studies that a lead is for the "
        f"order if it is {points(smallest)} or more there."
    )


def smallest_found(powers: Sequence[Power], matters: int | None) -> str:
    """Return the sentence on the smallest difference that a plan has enough power for.

    It also has the power for the smallest difference that ``matters``, in points, by default 10.
    ``powers``: in the order of their differences.
    """
    first, last = powers[0], powers[-1]
    who = f"With {first.participants} participants answering {asked(first)} questions"
    usual = matters / 100 if matters else USUAL_DIFFERENCE
    also = [each for each in powers if each.difference == usual]
    enough = 0 if first.power >= ENOUGH else _enough_difference(powers)
    if enough is None:
        sentence = f"{who}, even a difference of {points(last.difference)} is found in only"
        sentence += f" {power_percent(last)} of studies"
    else:
        what = f"about {points(enough)}" if enough else f"{points(first.difference)} or less"
        sentence = f"{who}, a difference of {what} is found in {100 * ENOUGH:.0f} % of studies"
    others = [f"one of {points(each.difference)} in {power_percent(each)}" for each in also]
    return f"{list_words([sentence, *others])}."


def _enough_difference(powers: Sequence[Power]) -> float | None:
    """Return the smallest difference with enough power, between those simulated; None above."""
    for below, above in pairwise(powers):
        if below.power < ENOUGH <= above.power:
            part = (ENOUGH - below.power) / (above.power - below.power)
            return round(below.difference + part * (above.difference - below.difference), 2)
    return None


def margin(result: Power) -> str:
    """Format the Monte Carlo error of a power in points."""
    reach = 50 * (result.interval[1] - result.interval[0])
    return f"±{reach:.0f}" if reach >= 0.5 else "less than ±1"


def asked(result: PlannedStudy) -> str:
    """Return which questions each participant answers: "all of 10", "10 of 30"."""
    answered = "all" if result.design == "all" else str(result.per_participant)
    return f"{answered} of {result.questions}"


def power_percent(result: Power) -> str:
    """Format a power in %, never rounded up to ``ENOUGH``."""
    for decimals in range(4):
        text = f"{100 * result.power:.{decimals}f}"
        if (float(text) < 100 * ENOUGH) == (result.power < ENOUGH):
            break
    return f"{text} %"


def points(share: float) -> str:
    """Format a difference of shares in points: 10 points."""
    return f"{100 * share:g} point{'' if share == 0.01 else 's'}"


def advice(powers: Sequence[Power], ways: Sequence[Way]) -> list[str]:
    """Return for each difference what gives enough power, and what helps more.

    ``powers``: of a whole grid; ``ways``: to more from its smallest study.
    """
    by_difference: dict[float, list[Way]] = {}
    for way in ways:
        by_difference.setdefault(way.result.difference, []).append(way)
    smallest = {study.difference: study for study in _smallest(powers)}
    return [
        " ".join([_how_many(smallest[difference], of), *_what_helps(smallest[difference], of)])
        for difference, of in by_difference.items()
    ]


def _how_many(start: Power, ways: Sequence[Way]) -> str:
    power = power_percent(start)
    what = f"A difference of {points(start.difference)}: {_study(start)} find it in {power}"
    if start.power >= ENOUGH:
        return f"{what}, which is enough."
    sizes = [f"about {_study(way.result)}" for way in ways if way.enough]
    sentences = [f"{what}."]
    if sizes:
        sentences.append(f"{100 * ENOUGH:.0f} % take {', or '.join(sizes)}.")
    sentences += [_not_enough(start, way) for way in ways if not way.enough]
    return " ".join(sentences)


def _not_enough(start: Power, way: Way) -> str:
    result = way.result
    if result == start:  # its power is printed already
        most = result.participants if way.more == PARTICIPANTS else result.questions
        return f"More than {most} {way.more} are not tried."
    runs = f"{margin(result)} in {result.replicates} runs"
    return f"Not enough: {_study(result)}, {power_percent(result)} ({runs})."


def _what_helps(start: Power, ways: Sequence[Way]) -> Iterator[str]:
    """Compare more participants with more questions, where both were tried, by their answers."""
    by_more = {way.more: way for way in ways}
    people, questions = by_more[PARTICIPANTS], by_more[EACH]
    if not (people.enough or questions.enough) or start in (people.result, questions.result):
        return
    answers = [way.result.answers if way.enough else float("inf") for way in (people, questions)]
    if answers[1] < answers[0]:
        yield "With these spreads more questions help more than more participants."
    elif answers[0] < answers[1]:
        yield "With these spreads more participants help more than more questions."


def _study(result: PlannedStudy) -> str:
    return (
        f"{result.participants} participants × {asked(result)} questions ({result.answers} answers)"
    )


SCHEDULER_SECONDS = 10  # seconds for a scheduler to answer


@contextmanager
def processes(workers: int) -> Iterator[Executor | None]:
    """Yield an executor of ``workers`` processes; None for 1, which is this process."""
    if workers == 1:
        yield None
        return
    # Spawned, not forked: the progress bar has a thread, and a fork would copy its locks.
    # Only this process handles Ctrl-C and ends the others; they would print tracebacks.
    no_interrupt = (signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(workers, get_context("spawn"), signal.signal, no_interrupt) as pool:
        yield pool


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Yield an executor of the Dask cluster whose scheduler has this address.

    Raises SurveyError without the package, without a scheduler at the address, and for workers
    with no or another version of the survey or of numpy, whose figures might differ.
    """
    try:
        from distributed import Client
    except ImportError:
        raise SurveyError(
            "A Dask cluster needs the extra: pip install 'ranking-survey[dask]'."
        ) from None
    # A lost scheduler is reported in one sentence below, not in pages of log.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client: Any = Client(  # type: ignore[no-untyped-call] # as Dask has it
            address, timeout=SCHEDULER_SECONDS, set_as_default=False
        )
    except (OSError, ValueError) as error:
        raise SurveyError(
            f"No Dask scheduler answers at {address!r}; its address looks like "
            "tcp://10.0.0.1:8786, and `dask scheduler` prints it."
        ) from error
    with client:
        for package, version in (("survey", __version__), ("numpy", np.__version__)):
            # Python's own function: a worker without the survey could not load one of ours.
            versions = client.run(resolve_name, f"{package}:__version__", on_error="return")
            if not versions:
                raise SurveyError(
                    f"The Dask cluster at {address} has no workers; start `dask worker`."
                )
            for worker, theirs in versions.items():
                if theirs != version:  # or the error of a worker without the package
                    has = f"{package} {theirs}" if isinstance(theirs, str) else f"no {package}"
                    raise SurveyError(
                        f"The Dask worker {worker} has {has}; {package} {version} is needed on "
                        "every worker, so that figures are the same."
                    )
        yield client.get_executor()
