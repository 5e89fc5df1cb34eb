"""Several studies of the same pairs: what they say together, each pair in a sentence and a row.

Studies, called sites, either ask the same questions or have questions of their own. The mean of the
sites' differences holds for sites like these; with questions of their own, for the kind as well.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.agreement import MeanTests
from survey.core.agreement.credits import Credits
from survey.core.agreement.differences import Pair
from survey.core.agreement.headlines import AnswerRow
from survey.core.statistics.pooling import (
    FEWEST_FOR_KIND,
    FEWEST_SITES,
    difference_of_two,
    mean_of_sites,
    pooled,
    pooled_shared_questions,
)
from survey.core.statistics.significance import (
    LEVEL,
    Interval,
    MeanTest,
    holm,
    p_text,
    rounded,
    t_quantile,
)
from survey.core.studies.fields import list_words

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
Figures = dict[str, Any]


@dataclass(frozen=True)
class PairOfSite:
    """What one study says of a pair: the mean difference of its responses, and how sure it is.

    ``these``, ``kind``: standard error and degrees of freedom over people, and over people and
    questions; ``by_question``: the mean of each question, or of each topic where these are known;
    ``beyond_clicks``: the difference without what random clicking gives, None where that gives
    nothing. ``has_ties``: whether one of the two ties lists that the other orders; ``balanced``:
    then the mean of the questions in which neither ties more, and of what is beyond orders at
    random, None without such.
    """

    pair: Pair
    mean: float
    these: tuple[float, float]
    kind: tuple[float, float] | None
    by_question: Mapping[str, float]
    beyond_clicks: float | None = None
    has_ties: bool = False
    balanced: tuple[float, float] | None = None

    @classmethod
    def of(
        cls,
        pair: Pair,
        tests: MeanTests,
        d: NDArray[np.float64],
        credits: Credits,
        topics: Mapping[int, str] | None = None,
    ) -> "PairOfSite | None":
        """Return what responses with the values d, (K,), say; None with fewer than two people."""
        people = tests.participants
        if tests.mean is None or people.n < 2:
            return None
        sums: dict[str, list[float]] = {}
        rows = zip(credits.questions.tolist(), credits.counts.tolist(), d.tolist(), strict=True)
        for number, count, value in rows:
            if count:
                both = sums.setdefault((topics or {}).get(number, str(number)), [0.0, 0.0])
                both[0], both[1] = both[0] + count * value, both[1] + count
        means = {name: total / count for name, (total, count) in sums.items()}
        return cls(pair, tests.mean, _error(people), _error_of_kind(tests), means)

    def error(self, *, of_kind: bool) -> tuple[float, float]:
        """Return standard error and degrees of freedom; raises ValueError without those."""
        error = self.kind if of_kind else self.these
        if error is None:
            raise ValueError("it takes two people, two questions, and answers enough of both")
        return error

    def interval(self, *, of_kind: bool) -> Interval:
        """Return the 95 % interval of this study by itself."""
        se, df = self.error(of_kind=of_kind)
        reach = t_quantile(0.975, df) * se
        return max(-1.0, self.mean - reach), min(1.0, self.mean + reach)


def _error(test: MeanTest) -> tuple[float, float]:
    """Return standard error and degrees of freedom; an error of 0 where there is no spread."""
    return (test.se or 0.0), (test.df or test.n - 1)


def _error_of_kind(tests: MeanTests) -> tuple[float, float] | None:
    """Return those over people and questions; the error is never below that of responses alone."""
    of_kind = tests.components
    if of_kind.se is None or of_kind.df is None:
        return (0.0, 1.0) if of_kind.se_independent == 0 else None
    return max(of_kind.se, of_kind.se_independent or 0.0), of_kind.df


@dataclass(frozen=True)
class Site:
    """A study: its name, how many people and questions it has, and each pair.

    ``digest``: of the frozen study; ``title``: as its people read it.
    """

    name: str
    title: str
    digest: str
    people: int
    questions: int
    pairs: Sequence[PairOfSite]


@dataclass(frozen=True)
class PooledPair:
    """A pair in all studies; ``is_shared``: whether they ask the same questions.

    ``p_holm``, ``p_kind_holm``: of sites like these, and of questions of this kind as well,
    corrected for ``comparisons`` pairs; None where nothing is tested.
    """

    pair: Pair
    sites: Sequence[tuple[Site, PairOfSite]]
    is_shared: bool
    seed: int
    comparisons: int = 1
    p_holm: float | None = None
    p_kind_holm: float | None = None

    @property
    def number(self) -> int:
        """How many studies there are."""
        return len(self.sites)

    @cached_property
    def differences(self) -> list[float]:
        """The difference of each study."""
        return [of_pair.mean for _, of_pair in self.sites]

    @cached_property
    def figures(self) -> Figures:
        """All figures of three sites or more; of two, by how much they differ."""
        errors = [of_pair.error(of_kind=not self.is_shared) for _, of_pair in self.sites]
        se = [error for error, _ in errors]
        if self.number < FEWEST_SITES:
            figures = difference_of_two(self.differences, se, [df for _, df in errors])
            return _within(figures, 2.0)  # two differences differ by 200 points at most
        return _within(pooled(differences=self.differences, se=se, seed=self.seed))

    @cached_property
    def kind(self) -> Figures | None:
        """The figures of questions of this kind, of four sites or more with the same questions."""
        if not self.is_shared or self.number < FEWEST_FOR_KIND:
            return None
        names = dict.fromkeys(name for _, of_pair in self.sites for name in of_pair.by_question)
        if len(names) < 2:
            return None
        table = [[of_pair.by_question.get(name) for name in names] for _, of_pair in self.sites]
        figures = pooled_shared_questions(table=table)
        return _within({"mean": figures["mean"], **figures["kind"]})

    @property
    def mean(self) -> float:
        """The mean of the studies."""
        return math.fsum(self.differences) / self.number

    @property
    def ahead(self) -> Pair:
        """The pair with the one first that is ahead."""
        return self.pair if self.mean >= 0 else Pair(*self.pair[::-1])

    @cached_property
    def random_clicks(self) -> bool:
        """Whether the lead may be what random clicking gives, identical orders included."""
        beyond = [of_pair.beyond_clicks for _, of_pair in self.sites]
        known = [lead for lead in beyond if lead is not None]
        if self.number < FEWEST_SITES or len(known) < self.number:
            return False
        test = mean_of_sites(known)
        p = test["p"] if test["p"] is not None else float(test["mean"] * self.mean <= 0)
        return test["mean"] * self.mean <= 0 or p >= LEVEL

    @property
    def scope(self) -> str:
        """For what it is decided who is ahead: kind, these, or none."""
        if self.p_holm is None or self.p_holm >= LEVEL or self.random_clicks or not self.mean:
            return "none"
        if not self.is_shared:
            return "kind"
        return "kind" if self.p_kind_holm is not None and self.p_kind_holm < LEVEL else "these"

    @property
    def may_be_ties(self) -> bool:
        """Whether the lead may be for showing no ties, and not for the order."""
        of_pairs = [of_pair for _, of_pair in self.sites]
        if not any(of_pair.has_ties for of_pair in of_pairs):
            return False
        balanced = [of_pair.balanced for of_pair in of_pairs if of_pair.balanced]
        if len(balanced) < max(self.number, FEWEST_SITES):
            return True
        mean, beyond = (mean_of_sites(values) for values in zip(*balanced, strict=True))
        same_sign = mean["mean"] * self.mean > 0 and beyond["mean"] * self.mean > 0
        return not (same_sign and beyond["p"] is not None and beyond["p"] < LEVEL)

    @property
    def without(self) -> list[str]:
        """The sites without which the lead is not the same one's."""
        return [
            site.name
            for (site, _), other in zip(self.sites, self.figures["leave_one_out"], strict=True)
            if other["mean"] * self.mean <= 0
        ]

    def ends(self, interval: Interval | None, decimals: int = 1) -> str:
        """Return an interval in points of the one that is ahead: "9.1 to 26.9"."""
        if interval is None:
            return ""
        sign = 1 if self.mean >= 0 else -1
        low, high = sorted(100 * sign * end for end in interval)
        return f"{rounded(low, decimals)} to {rounded(high, decimals)}"

    def sentence(self, start: str) -> str:
        """Return what the studies say; ``start``: how many studies, people and questions."""
        if self.number < FEWEST_SITES:
            return f"{start}: {self._of_two}"
        first, second = self.ahead
        points = f"{_points(abs(self.mean))} at sites like these"
        of_kind = ""
        if not self.is_shared:
            points += ", for questions of this kind"
        elif self.kind and self.kind["ci95"]:
            of_kind = f"; for questions of this kind {self.ends(self.kind['ci95'])}"
        if interval := self.figures["ci95"]:
            points += f" (95 % interval {self.ends(interval)}{self._reason})"
        else:
            points += f" ({self.figures['why']})"
        if self.scope == "none":
            statement = (
                f"it is not decided whether {first} or {second} is ahead; the difference, "
                f"{self.ahead.title}, is {points}"
            )
        else:
            statement = f"{first} is ahead of {second} by {points}"
        sentences = [f"{start}: {statement}{of_kind}.", *self._more]
        return " ".join(sentences)

    @property
    def _reason(self) -> str:
        """Why nothing is decided although the pair's own interval leaves 0 out."""
        low, high = self.figures["ci95"]
        if self.scope != "none" or low * high <= 0:
            return ""
        if self.random_clicks:
            return "; what random clicking gives with identical orders explains it"
        return f" by itself; {p_text(self.p_holm)}, corrected for {self.comparisons} comparisons"

    @property
    def _more(self) -> Iterator[str]:
        if prediction := self.figures["prediction95"]:
            yield f"A new site may find {self.ends(prediction, 0)}."
        if self.mean and self.without:
            yield f"Without {' or '.join(self.without)} the sign is not the same."
        elif self.mean:
            yield "Without any one site the sign is the same."
        if self.scope != "none" and self.may_be_ties:
            yield "Whether for its order or for showing no ties stays open."

    @property
    def _of_two(self) -> str:
        leads = [
            f"{_points(of_pair.mean)} in {site.name} (95 % interval "
            f"{_ends(of_pair.interval(of_kind=not self.is_shared))})"
            for site, of_pair in self.sites
        ]
        interval = self.figures["ci95"]
        by = f" (95 % interval {_ends(interval)})" if interval else ""
        first, second = (site.name for site, _ in self.sites)
        return (
            f"{self.pair.title} is {list_words(leads)}. {first} less {second}: "
            f"{_points(self.figures['difference'])}{by}. Two studies have no verdict together: it "
            "takes three."
        )

    @property
    def row(self) -> AnswerRow:
        """The pair below a headline."""
        first, second = self.ahead
        points = rounded(100 * abs(self.mean), 0)
        lead = f"{'+' * (points != '0')}{points} point{'s' * (points != '1')}"
        if self.number < FEWEST_SITES:
            return AnswerRow(first, f"over {second}:", f"{lead}.", "No verdict of two studies.")
        agreeing = sum(mean * self.mean > 0 for mean in self.differences)
        interval = self.ends(self.figures["ci95"], 0)
        status = {
            "none": f"Not decided ({p_text(self.p_holm)}).",
            "these": "Only for these questions." if self.kind else "",
            "kind": "",
        }[self.scope]
        if self.scope != "none" and self.may_be_ties:
            status = f"{status} It may be for showing no ties.".strip()
        ahead = f"Ahead in {agreeing} of {self.number} studies." if self.mean else ""
        rest = [ahead, status]
        if interval:
            rest.insert(0, f"({interval}).")
        else:
            lead += "."
        return AnswerRow(first, f"over {second}:", lead, " ".join(filter(None, rest)))

    def as_json(self) -> Figures:
        """Return all figures; differences are those of the pair's first less its second."""
        of_kind = not self.is_shared
        studies = []
        for site, of_pair in self.sites:
            se, df = of_pair.error(of_kind=of_kind)
            interval = [*of_pair.interval(of_kind=of_kind)]
            row = {"site": site.name, "mean": of_pair.mean, "se": se, "df": df, "ci95": interval}
            studies.append(row)
        figures = {name: _plain(value) for name, value in self.figures.items()}
        tested = self.number >= FEWEST_SITES
        kind = {name: _plain(value) for name, value in (self.kind or {}).items()}
        return {
            "pair": str(self.pair),
            **figures,
            **({"p_holm": self.p_holm} if tested else {}),
            **({"kind": {**kind, "p_holm": self.p_kind_holm}} if kind else {}),
            **({"verdict": {"scope": self.scope}} if tested else {}),
            "studies": studies,
        }


def pooled_pairs(sites: Sequence[Site], *, is_shared: bool, seed: int) -> tuple[PooledPair, ...]:
    """Pool every pair that all sites have, p corrected for all of them (Holm)."""
    by_site = [{of_pair.pair: of_pair for of_pair in site.pairs} for site in sites]
    common = [pair for pair in by_site[0] if all(pair in pairs for pairs in by_site)]
    every = [
        PooledPair(
            pair,
            [(site, pairs[pair]) for site, pairs in zip(sites, by_site, strict=True)],
            is_shared,
            seed,
            len(common),
        )
        for pair in common
    ]
    of_means = holm([pair.figures.get("p") for pair in every])
    of_kind = holm([(pair.kind or {}).get("p") for pair in every])
    if len(sites) < FEWEST_SITES:
        return tuple(every)
    return tuple(
        replace(pair, p_holm=p, p_kind_holm=None if q is None or p is None else max(p, q))
        for pair, p, q in zip(every, of_means, of_kind, strict=True)
    )


def number_word(number: int) -> str:
    """Return a number in words up to ten."""
    return WORDS[number] if number < len(WORDS) else str(number)


def _within(figures: Figures, most: float = 1.0) -> Figures:
    """Return figures with intervals cut to what a difference can be, ``most`` to either side."""
    within: Figures = {}
    for name, value in figures.items():
        if name in ("ci95", "prediction95") and value:
            value = max(-most, value[0]), min(most, value[1])
        elif isinstance(value, dict):
            value = _within(value, most)
        elif isinstance(value, list):
            value = [_within(nested, most) for nested in value]
        within[name] = value
    return within


def _plain(value: Any) -> Any:
    return [*value] if isinstance(value, tuple) else value


def _points(share: float) -> str:
    points = rounded(100 * share)
    return f"{points} point{'s' * (points != '1.0')}"


def _ends(interval: Interval) -> str:
    return " to ".join(rounded(100 * end) for end in interval)
