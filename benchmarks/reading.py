"""What the calibration shows, in sentences that are made from its figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks import experiments as tried
from benchmarks import observed
from benchmarks.experiments import PAPER, POOL, SMALL, Experiment, Rate
from benchmarks.families import FALSE, FOUND, HOLM, METHODS, NOW, TASTES, Family, Tastes
from benchmarks.situations import Design, Situation, StrictOrders

Rates = Mapping[str, Rate]
Results = Sequence[tuple[Experiment | Family, Rates]]


@dataclass(frozen=True)
class Figures:
    """The rates, to be looked up."""

    results: Results

    def rate(self, part: str, design: Design, name: str, difference: float = 0.0) -> Rate:
        """Return one rate; LookupError where nothing of the kind was tried."""
        for one, found in self.results:
            if not isinstance(one.situation, Situation):
                continue
            if (one.part, one.design, one.situation.difference) == (part, design, difference):
                return found[name]
        raise LookupError(f"{part}, {design}, {difference}: not tried")

    def percent(self, part: str, design: Design, name: str, difference: float = 0.0) -> str:
        """Print one rate."""
        return percent_of(self.rate(part, design, name, difference).share)


def reading(results: Results) -> Iterator[str]:
    """Say what the tables show, in sentences made from their figures."""
    figures = Figures(results)
    yield from _judged(results)
    yield from _of_questions_and_people(figures)
    yield from _of_blind_clicks(figures)
    yield from _of_power(figures)
    yield from _of_intervals(figures)
    yield from _of_families(results)
    yield from _of_ties(results)


def _judged(results: Results) -> Iterator[str]:
    judged = [
        (one, name, rate) for one, found in results for name, rate in found.items() if rate.claim
    ]
    missed = [each for each in judged if not each[2].holds]
    sharp = sum(rate.claim in ("5 %", "95 %") for _, _, rate in judged)
    yield (
        f"{len(judged) - len(missed)} of {len(judged)} judged rates are as they should be. Of the "
        f"{sharp} that should be 5 % or 95 % exactly, {sharp / 20:.1f} would be expected to miss "
        "by chance even if all were right."
    )
    for one, name, rate in missed:
        part = one.part.split(".")[0]
        situation = f", {one.situation.name}" if isinstance(one.situation, Tastes) else ""
        yield (
            f"*Not as it should be:* {part}{situation}, {one.design}, {name}: "
            f"{with_interval(rate)}, should be {rate.claim}."
        )


def _of_questions_and_people(figures: Figures) -> Iterator[str]:
    part = tried.QUESTIONS_VARY
    for design in (PAPER, POOL, SMALL):
        two_way, flips, mcnemar, misread = (
            figures.percent(part, design, name)
            for name in (
                observed.TWO_WAY,
                observed.QUESTIONS_FLIP,
                observed.MCNEMAR,
                observed.PARTICIPANTS_T,
            )
        )
        yield (
            f"No difference over all questions, {design} (C): the two-way t rejects {two_way}, "
            f"the sign flips of questions {flips}; McNemar {mcnemar} and the participants' t "
            f"{misread}, which therefore say nothing of other questions."
        )
    people = [
        figures.percent(tried.PEOPLE_VARY, design, observed.PARTICIPANTS_T)
        for design in (PAPER, POOL, SMALL)
    ]
    yield (
        "No difference over these questions (D): the participants' t, which is for these "
        f"questions, rejects {people[0]}, {people[1]} and {people[2]} in the three designs."
    )
    yield (
        f"With {SMALL.questions} questions the exact tests over questions can never reject at 5 %: "
        f"their smallest p is 2/2^{SMALL.questions} = {2 / 2**SMALL.questions:.4f}."
    )


def _of_blind_clicks(figures: Figures) -> Iterator[str]:
    mcnemar, people, two_way, labels, said = (
        figures.percent(tried.IDENTICAL, PAPER, name)
        for name in (
            *(observed.MCNEMAR, observed.PARTICIPANTS_T),
            *(observed.TWO_WAY, observed.LABELS, observed.VERDICT),
        )
    )
    yield (
        f"Blind clicks, {PAPER} (A): identical orders alone make McNemar reject {mcnemar}, the "
        f"participants' t {people} and the two-way t {two_way}. The label permutation, which "
        f"knows what identical orders give, rejects {labels}. So the verdict demands it, and "
        f"names a preference in {said}."
    )
    two_way, people, said, tau = (
        figures.percent(tried.DISTINCT, PAPER, name)
        for name in (
            observed.TWO_WAY,
            observed.PARTICIPANTS_T,
            observed.VERDICT,
            observed.FRIEDMAN_TAU,
        )
    )
    yield (
        f"Blind clicks on distinct orders (B): the two-way t rejects {two_way} and the "
        f"participants' t {people}. Neither questions nor participants matter there, and then the "
        "two-way variance Vp + Vs - V0 is at its least steady. The verdict demands the label "
        f"permutation besides, and names a preference in {said}."
    )
    yield (
        f"Friedman's test on tau-b rejects {tau} of blind clicks even where no orders are "
        "identical: a measure whose order is like another's agrees better with whatever is "
        "ticked. It tells whose orders lie nearer to those that were given, which is no sign "
        "that anyone preferred them."
    )


def _of_power(figures: Figures) -> Iterator[str]:
    for difference in tried.DIFFERENCES:
        paper, pool, small = (
            figures.percent(tried.POWER, design, observed.TWO_WAY, difference)
            for design in (PAPER, POOL, SMALL)
        )
        yield (
            f"A difference of {100 * difference:.0f} points is found by the two-way t in {paper} "
            f"of studies with {PAPER}, {pool} with {POOL}, {small} with {SMALL}."
        )


def _of_intervals(figures: Figures) -> Iterator[str]:
    wide, here, misread = (
        figures.percent(tried.COVERAGE, PAPER, name, 0.10)
        for name in (observed.COVERS_T2, observed.COVERS_T1, observed.MISREAD)
    )
    yield (
        f"95 % intervals, {PAPER}: the two-way one covers the difference in all questions in "
        f"{wide} of studies, the participants' one that in these questions in {here}. Read as one "
        f"for all questions, the latter covers in {misread}."
    )
    rates = next(found for one, found in figures.results if one.part == tried.RECOVERY)
    lowest, highest = (end(rates, key=lambda name: rates[name].share) for end in (min, max))
    yield (
        "A preference planted with `survey simulate --prefer` is covered by the 95 % intervals of "
        f"the shares in {percent_of(rates[lowest].share)} ({lowest}) to "
        f"{percent_of(rates[highest].share)} ({highest}) of studies. An interval by t lies evenly "
        "about its share, so it is a little too short for small shares of few responses."
    )


def _of_families(results: Results) -> Iterator[str]:
    for part, what in (
        (FALSE, "Where the truth is that measures are liked equally"),
        (TASTES, "Where tastes differ and some orders are identical"),
    ):
        worst = {
            method: max(
                (found[method] for one, found in results if one.part == part),
                key=lambda rate: rate.share,
            )
            for method in METHODS
        }
        yield (
            f"{what}, some pair is wrongly preferred for questions of this kind, at worst: "
            + "; ".join(f"{method} {with_interval(rate)}" for method, rate in worst.items())
            + "."
        )
    cells = [
        (name.removeprefix(f"{NOW}: "), found[f"{HOLM}: {name.removeprefix(f'{NOW}: ')}"], rate)
        for one, found in results
        if one.part == FOUND
        for name, rate in found.items()
        if name.startswith(f"{NOW}: ")
    ]
    below = [now for _, formerly, now in cells if now.interval[1] < formerly.share]
    more = sum(now.interval[0] > formerly.share for _, formerly, now in cells)
    yield (
        f"Of {len(cells)} powers, the present test's is above that of the two-way t with Holm's "
        f"correction by more than its Monte Carlo interval in {more}, and below in {len(below)}."
    )


def _of_ties(results: Results) -> Iterator[str]:
    for one, found in results:
        if one.part == tried.TIES and isinstance(one.situation, Situation):
            told = "; ".join(f"{name} {percent_of(rate.share)}" for name, rate in found.items())
            yield f"{answering(one.situation)}, {one.design}: {told}."


def answering(situation: Situation) -> str:
    """Describe who answers which questions, where people hold orders without ties."""
    late = isinstance(situation.voters, StrictOrders) and situation.voters.late_hits
    who = "People who value late hits" if late else "Random strict orders"
    return f"{who}, {'discriminative' if situation.discriminative else 'random'} questions"


def percent_of(share: float) -> str:
    """Print a share in percent."""
    return f"{100 * share:.1f} %"


def with_interval(rate: Rate) -> str:
    """Print a rate with its Monte Carlo interval."""
    low, high = rate.interval
    return f"{percent_of(rate.share)} ({100 * low:.1f}–{100 * high:.1f})"
