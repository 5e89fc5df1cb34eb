"""The results of several studies together, as those of one study are shown and written."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from survey import __version__
from survey.core.agreement.headlines import (
    NEW_QUESTIONS,
    NOT_DECIDED,
    THESE_QUESTIONS,
    AnswerRow,
    Chip,
)
from survey.core.agreement.pooled_sites import (
    PairOfSite,
    PooledPair,
    Site,
    number_word,
    pooled_pairs,
)
from survey.core.statistics.pooling import DRAWS, FEWEST_FOR_KIND, FEWEST_SITES, ZERO_SE
from survey.core.statistics.significance import Interval, rounded
from survey.core.studies.fields import list_words
from survey.figures.answers import forest
from survey.figures.exhibit import Exhibit
from survey.services.analysis.results import Block, Listing, Prose, Results, Section, Sentence
from survey.services.analysis.sheets import Cell, P, Sheet, Worded, as_csv, count_of

POOLED_FILE = "pooled.csv"
COLUMNS = (
    *("pair", "first", "second", "what", "site", "people", "estimate", "se", "df"),
    *("low", "high", "p", "p_holm"),
)
ONCE = "Someone who took part in two of the studies cannot be recognised, and counts as two people."


@dataclass(frozen=True, kw_only=True)
class Pooling(Results):
    """Several studies of the same pairs.

    ``people``: of all sites, as ``site:P-…``; ``is_shared``: whether all ask the same questions;
    ``seed``: from the digests; ``design_differences``: what differs between the studies' plans.
    """

    guide = "pool-studies"

    sites: Sequence[Site]
    people: Sequence[str]
    is_shared: bool
    seed: int
    design_differences: Sequence[str] = ()

    @cached_property
    def pairs(self) -> tuple[PooledPair, ...]:
        """Every pair, that with the largest lead first."""
        pairs = pooled_pairs(self.sites, is_shared=self.is_shared, seed=self.seed)
        return tuple(sorted(pairs, key=lambda pair: -round(abs(pair.mean), 9)))

    @property
    def participants(self) -> Collection[str]:
        """See ``Results``."""
        return self.people

    @property
    def site_pairs(self) -> Sequence[PairOfSite]:
        """See ``Results``; what is pooled is not pooled again."""
        return ()

    @property
    def questions(self) -> str:
        """The questions in words."""
        numbers = {site.questions for site in self.sites}
        most = max(numbers)
        if self.is_shared:
            return f"the same {most} questions" if most > 1 else "the same question"
        if len(numbers) == 1:
            return f"{count_of(most, 'question')} of their own each"
        return "questions of their own"

    @property
    def start(self) -> str:
        """How many studies, people and questions there are."""
        studies = number_word(len(self.sites)).capitalize()
        people = count_of(len(self.people), "person", "people")
        return f"{studies} studies, {people}, {self.questions}"

    @property
    def sentence(self) -> str:
        """The sentence to quote, of the pair with the largest lead."""
        return self.pairs[0].sentence(self.start)

    @property
    def headline(self) -> str:
        """See ``Results``."""
        return self.sentence

    @property
    def has_verdict(self) -> bool:
        """Whether there are studies enough for a verdict."""
        return len(self.sites) >= FEWEST_SITES

    @property
    def chip(self) -> Chip:
        """See ``Results``: what holds most widely."""
        if not self.has_verdict:
            return Chip(NOT_DECIDED, "open", "It takes three studies.")
        for scope, text in (("kind", NEW_QUESTIONS), ("these", THESE_QUESTIONS)):
            if holds := [pair for pair in self.pairs if pair.scope == scope]:
                number = f", for {len(holds)} of {len(self.pairs)} leads"
                of_leads = number * (len(self.pairs) > 1)
                return Chip(text, "holds", f"At sites like these{of_leads}.")
        return Chip(NOT_DECIDED, "open")

    @property
    def rows(self) -> list[AnswerRow]:
        """See ``Results``: each pair."""
        return [pair.row for pair in self.pairs]

    @property
    def rows_note(self) -> str:
        """See ``Results``."""
        return "Lead in points: of 100 answers; 95 % intervals, each for its pair alone."

    @property
    def sentences(self) -> list[Sentence]:
        """See ``Results``: what the studies say of each pair."""
        return [
            Sentence(pair.sentence(self.start), pair.ahead.title, pair.scope != "none")
            for pair in self.pairs
        ]

    @property
    def counts(self) -> str:
        """See ``Results``."""
        studies = count_of(len(self.sites), "study", "studies")
        return f"{studies} · {count_of(len(self.people), 'participant')}"

    @property
    def caption(self) -> str:
        """See ``Results``."""
        return self.lead.note if self.lead else ""

    @property
    def method(self) -> str:
        """See ``Results``."""
        over = "people" if self.is_shared else "people and questions"
        interval = f"A study's interval is over {over}."
        if not self.has_verdict:
            return f"Difference between the studies: Welch's t. {interval}"
        has_kind = len(self.sites) >= FEWEST_FOR_KIND
        sentences = [
            "Test: mean of the studies' differences, each of the same weight, t with studies − 1 "
            f"degrees of freedom; correction: Holm. Pairs: {len(self.pairs)}.",
            interval,
            "Questions of this kind: components of variance of the means of each study and "
            "question."
            if self.is_shared and has_kind
            else "",
            "Heterogeneity: REML, with Hartung and Knapp's interval, and the Q-profile.",
            "A new site: confidence distribution of τ² (Nagashima, Noma and Furukawa 2019), "
            f"{DRAWS:,} draws, seed {self.seed}."
            if has_kind
            else f"It takes {number_word(FEWEST_FOR_KIND)} studies to predict a new site.",
        ]
        return " ".join(filter(None, sentences))

    @property
    def remarks(self) -> list[str]:
        """See ``Results``."""
        differ = "; ".join(self.design_differences)
        remarks = [ONCE, f"The studies differ: {differ}." if differ else ""]
        pooled = {pair.pair for pair in self.pairs}
        every = dict.fromkeys(pair.pair for site in self.sites for pair in site.pairs)
        if rest := [pair.title for pair in every if pair not in pooled]:
            remarks.append(
                f"Not pooled: {list_words(rest)}. It takes answers of two people in every study."
            )
        if unweighted := [pair for pair in self.pairs if pair.figures.get("why") == ZERO_SE]:
            titles = list_words([pair.ahead.title for pair in unweighted])
            remarks.append(f"{titles}: not weighted, and no new site predicted, as {ZERO_SE}.")
        return [*filter(None, remarks)]

    @property
    def methods(self) -> str:
        """See ``Results``."""
        digests = ", ".join(dict.fromkeys(site.digest for site in self.sites))
        sentences = [
            f"{self.start}. {self.left_out_words}",
            *([self.simulated] if self.simulated else []),
            self.method,
            *self.remarks,
            f"Digests of the frozen studies (SHA-256): {digests}.",
            f"Computed with ranking-survey {__version__}.",
        ]
        return " ".join(sentences)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """See ``Results``."""
        return [("Studies", ", ".join(site.name for site in self.sites))]

    def as_json(self) -> dict[str, Any]:
        """See ``Results``."""
        return {
            "sentence": self.sentence,
            "same_questions": self.is_shared,
            "seed": self.seed,
            "design_differences": [*self.design_differences],
            "n": {"sites": len(self.sites), "participants": len(self.people)},
            "sites": [
                {
                    "site": site.name,
                    "title": site.title,
                    "digest": site.digest,
                    "participants": site.people,
                    "questions": site.questions,
                }
                for site in self.sites
            ],
            "pairs": [
                {
                    **pair.as_json(),
                    "sentence": pair.sentence(self.start),
                    "may_be_ties": pair.may_be_ties,
                    "random_clicks": pair.random_clicks,
                }
                for pair in self.pairs
            ],
        }

    def own_exhibits(self) -> Iterator[Exhibit]:
        """See ``Results``: a forest plot of each pair."""
        for number, pair in enumerate(self.pairs, 1):
            yield _forest(pair, "forest" if number == 1 else f"forest-{number}")

    def own_sheets(self) -> Iterator[Sheet]:
        """See ``Results``."""
        yield self._studies
        if self.has_verdict:
            yield self._means
            yield self._heterogeneity
            yield self._without_each
        yield self._by_study

    def files(self) -> Iterator[tuple[str, str]]:
        """See ``Results``: every figure, a row each."""
        rows = tuple(row for pair in self.pairs for row in _tidy(pair))
        yield POOLED_FILE, as_csv(Sheet("pooled", "Pooled studies", COLUMNS, rows))

    @property
    def files_note(self) -> str:
        """See ``Results``."""
        return f"all numbers as {POOLED_FILE}"

    @cached_property
    def sections(self) -> list[Section]:
        """See ``Results``."""
        numbers = ["leads", "heterogeneity", "without-each", "sites"]
        others = [exhibit.name for exhibit in self.exhibits[1:]]
        blocks: list[Block] = [*self.figures(*others), *self.listings(*numbers)]
        method: list[Block] = [Prose(self.method, is_small=False), *map(Prose, self.remarks)]
        spread = f"{len(self.pairs)} pairs, {len(self.sites)} studies each"
        return [
            self.verdicts_section(),
            Section(
                "studies",
                "The studies",
                "Studies",
                [Listing(self.sheet_of["studies"])],
                self.counts,
                "people",
            ),
            Section("numbers", "All numbers of each pair", "Numbers", blocks, spread),
            Section(
                "computed",
                "How this was computed",
                "Method",
                method,
                "tests and intervals",
                "checks",
            ),
        ]

    @property
    def _studies(self) -> Sheet:
        rows = tuple(
            (site.name, site.title, site.people, site.questions, site.digest[:12])
            for site in self.sites
        )
        columns = ("study", "title", "people", "questions", "digest")
        return Sheet("studies", "The studies", columns, rows, ONCE, part="people")

    @property
    def _means(self) -> Sheet:
        columns: tuple[str, ...] = ("pair", "lead", "95 % interval", "p", "a new site")
        if self.is_shared:
            columns += ("questions of this kind", "p, of this kind")
        rows: list[tuple[Cell, ...]] = []
        for pair in self.pairs:
            kind = pair.kind or {}
            row: tuple[Cell, ...] = (
                *(_name(pair), 100 * abs(pair.mean), pair.ends(pair.figures["ci95"]) or None),
                *(_p(pair.p_holm), pair.ends(pair.figures["prediction95"]) or None),
            )
            of_kind = pair.ends(kind.get("ci95")) or None, _p(pair.p_kind_holm)
            rows.append((*row, *(of_kind if self.is_shared else ())))
        note = f"{self.rows_note} p: corrected for {len(self.pairs)} pairs (Holm)."
        title = "Leads at sites like these, in points"
        return Sheet("leads", title, columns, tuple(rows), note, decimals=1)

    @property
    def _heterogeneity(self) -> Sheet:
        rows: list[tuple[Cell, ...]] = []
        for pair in self.pairs:
            figures = pair.figures
            weighted = figures["weighted"] or {}
            tau = figures["tau2_ci95"]
            sign = 1 if pair.mean >= 0 else -1
            rows.append(
                (
                    _name(pair),
                    100 * sign * weighted["mean"] if weighted else None,
                    pair.ends(weighted.get("ci95")) or None,
                    None if figures["tau2_reml"] is None else 100 * figures["tau2_reml"] ** 0.5,
                    None if tau is None else " to ".join(rounded(100 * end**0.5) for end in tau),
                    *(figures["Q"], _p(figures["Q_p"])),
                    None if figures["I2_Q"] is None else 100 * figures["I2_Q"],
                )
            )
        return Sheet(
            name="heterogeneity",
            title="How unlike the studies are",
            columns=("pair", "weighted", "95 % of it", "τ", "95 % of τ", "Q", "p", "I², %"),
            rows=tuple(rows),
            note="Weighted: the lead by REML, with the interval of Hartung and Knapp; τ: the "
            "standard deviation of the true leads between studies, in points.",
            decimals=1,
        )

    @property
    def _without_each(self) -> Sheet:
        rows = tuple(
            (_name(pair), site.name, 100 * sign * other["mean"], pair.ends(other["ci95"]) or None)
            for pair in self.pairs
            for sign in (1 if pair.mean >= 0 else -1,)
            for (site, _), other in zip(pair.sites, pair.figures["leave_one_out"], strict=True)
        )
        columns = ("pair", "without", "lead", "95 % interval")
        return Sheet("without-each", "With one study left out", columns, rows, decimals=1)

    @property
    def _by_study(self) -> Sheet:
        rows = tuple(
            (
                *(_name(pair), site.name, site.people),
                100 * of_pair.mean * (1 if pair.mean >= 0 else -1),
                pair.ends(of_pair.interval(of_kind=not self.is_shared)),
            )
            for pair in self.pairs
            for site, of_pair in pair.sites
        )
        columns = ("pair", "study", "people", "lead", "95 % interval")
        return Sheet("sites", "Each study by itself", columns, rows, decimals=1)


def _name(pair: PooledPair) -> Worded:
    return Worded("-".join(pair.ahead), pair.ahead.title)


def _p(p: float | None) -> P | None:
    return None if p is None else P(p)


def _forest(pair: PooledPair, name: str) -> Exhibit:
    """Return a pair's forest plot: each study, their mean, and what is said beyond it."""
    sign = 1 if pair.mean >= 0 else -1
    rows: list[tuple[str, str, float | None, Interval | None]] = [
        (
            "site",
            f"{site.name} ({site.people})",
            sign * of_pair.mean,
            _turned(of_pair.interval(of_kind=not pair.is_shared), sign),
        )
        for site, of_pair in pair.sites
    ]
    if pair.p_holm is not None or pair.number >= FEWEST_SITES:
        figures = pair.figures
        rows.append(("mean", "sites like these", abs(pair.mean), _turned(figures["ci95"], sign)))
        if weighted := figures["weighted"]:
            ends = _turned(weighted["ci95"], sign)
            rows.append(("weighted", "weighted (REML)", sign * weighted["mean"], ends))
        if pair.kind:
            rows.append(("kind", "questions of this kind", None, _turned(pair.kind["ci95"], sign)))
        if figures["prediction95"]:
            rows.append(("new", "a new site", None, _turned(figures["prediction95"], sign)))
    return forest(name, pair.ahead, rows)


def _turned(interval: Interval | None, sign: int) -> Interval | None:
    if interval is None:
        return None
    low, high = sorted(sign * end for end in interval)
    return low, high


def _tidy(pair: PooledPair) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows of a pair in pooled.csv: differences of its first less its second."""
    names, overall = (str(pair.pair), *pair.pair), pair.figures
    people = sum(site.people for site, _ in pair.sites)

    def row(
        what: str, figures: Mapping[str, Any], site: str | None = None, number: int = people
    ) -> tuple[Cell, ...]:
        numbers = (figures.get(name) for name in ("estimate", "se", "df"))
        low, high = figures.get("ci95") or (None, None)
        p = figures.get("p"), figures.get("p_holm")
        return (*names, what, site, number, *numbers, low, high, *p)

    for site, of_pair in pair.sites:
        se, df = of_pair.error(of_kind=not pair.is_shared)
        ends = of_pair.interval(of_kind=not pair.is_shared)
        figures = {"estimate": of_pair.mean, "se": se, "df": df, "ci95": ends}
        yield row("site", figures, site.name, site.people)
    if pair.number < FEWEST_SITES:
        yield row("difference", {**overall, "estimate": overall["difference"]})
        return
    yield row("mean", {**overall, "estimate": pair.mean, "p_holm": pair.p_holm})
    for (site, _), other in zip(pair.sites, overall["leave_one_out"], strict=True):
        rest = {"estimate": other["mean"], "ci95": other["ci95"]}
        yield row("without", rest, site.name, people - site.people)
    if weighted := overall["weighted"]:
        rest = {"estimate": weighted["mean"], "se": weighted["hksj_se"], "ci95": weighted["ci95"]}
        yield row("weighted", rest)
        of_tau = {
            "estimate": overall["tau2_reml"],
            "ci95": overall["tau2_ci95"],
            "p": overall["Q_p"],
        }
        yield row("tau2", of_tau)
    if (kind := pair.kind) and kind["variance"] is not None:
        rest = {"estimate": kind["mean"], "se": kind["variance"] ** 0.5, "p_holm": pair.p_kind_holm}
        yield row("kind", {**kind, **rest})
    if overall["prediction95"]:
        yield row("new site", {"ci95": overall["prediction95"]})
