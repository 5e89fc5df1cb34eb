"""The participant's pages under load, beside oTree; and what one page costs."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.speed.part import Finding, Growth, Part
from benchmarks.speed.rush import servers
from benchmarks.speed.rush.cost import Costs, costs
from benchmarks.speed.rush.people import Bare, OTree, Ours
from benchmarks.speed.rush.trials import Trial, class_of, rush
from benchmarks.speed.timing import ratios

AT_ONCE = 32
CLASS = 300
THINKING = (5.0, 10.0)
# Enough to come that nobody runs out of people within a rush.
OUR_PEOPLE, THEIR_PEOPLE, BARE_PEOPLE = 1000, 160, 2500
PEOPLE = 40  # whose pages are looked at in process
SIX = ("AP", "NMRR", "MNRO", "RR", "P@5", "nDCG@10")


@dataclass(frozen=True)
class Before:
    """What a page cost before this benchmark was there, measured by it on the machine it ran on."""

    milliseconds: float
    queries: int
    writes: int


SAID = (
    "A page is an answer that is sent and the page it leads to: the POST, and the GET that it "
    "redirects to, timed together from the click. Each participant has a connection, a cookie, "
    "a form token and (ours) a submission key read from the page before.",
    "oTree runs as `otree prodserver` starts it: one process, SQLite on the disk as it opens it. "
    "Its pages show the same table of five lists and three columns, and have one field.",
    "Ours runs as `survey serve` starts it: two processes of Waitress, SQLite with a write-ahead "
    "log and a sync before each acknowledgement. The people are played on the same two processors.",
    f"Those without a pause send the next answer as soon as a page has come: all that the server "
    f"can do. The {CLASS} who read are behind one internet address; they come, read and answer, "
    f"thinking {THINKING[0]:g} to {THINKING[1]:g} seconds before each page, and who is done makes "
    "room for the next. The pages before the first question are not counted.",
)


def run(*, rounds: int = 3, beside: int = 5, seconds: float = 12.0, minutes: float = 5.0) -> Part:
    """Measure; ``beside``: rounds beside oTree; ``minutes``: of the class, 0 to leave it out."""
    ours, theirs, bare = [], [], []
    page = costs(1).page
    for _ in range(beside):
        with _folder() as folder, servers.otree(folder, THEIR_PEOPLE) as place:
            theirs.append(rush(place, OTree(place.home), THEIR_PEOPLE, AT_ONCE, seconds))
        with _folder() as folder:
            with servers.ours(folder) as place:
                ours.append(rush(place, Ours(place.home), OUR_PEOPLE, AT_ONCE, seconds))
            ours[-1].stored = servers.answers_stored(folder)
        with _folder() as folder, servers.bare(folder, page) as place:
            bare.append(rush(place, Bare(place.home), BARE_PEOPLE, AT_ONCE, seconds))
    return Part(
        name="pages",
        title="The participant's pages",
        findings=[
            *_side_by_side(ours, theirs),
            *_limit(bare, ours, theirs),
            *(_class(minutes) if minutes else ()),
            *_behind_nginx(ours, seconds),
            *_costs([costs(PEOPLE) for _ in range(rounds)]),
        ],
        growth=list(_growths(rounds)),
        said=SAID,
        versions={"otree": "6.0.15", "nginx": servers.nginx_version() or "not installed"},
    )


def _side_by_side(ours: Sequence[Trial], theirs: Sequence[Trial]) -> Iterator[Finding]:
    crowd = f"{AT_ONCE} participants without a pause"
    rates, their_rates = [one.rate for one in ours], [one.rate for one in theirs]
    yield Finding(
        f"{crowd}: pages a second, against oTree's",
        ratios(rates, their_rates),
        "×",
        target="≥ 8",
        note="two processes beside its one; a page: an answer sent, and the page it leads to",
        headline=True,
    )
    yield Finding(f"{crowd}: oTree", their_rates, "pages a second")
    yield from _told(f"{crowd}: ours", ours, "≤ 100")


def _limit(
    bare: Sequence[Trial], ours: Sequence[Trial], theirs: Sequence[Trial]
) -> Iterator[Finding]:
    """What the server, Flask and the disk allow at most."""
    rates = [trial.rate for trial in bare]
    what = "the same of an application that only stores a row and returns a fixed page"
    yield Finding(what, rates, "pages a second", note="on our server, with the same sync")
    yield Finding(f"{what}: against oTree's", ratios(rates, [one.rate for one in theirs]), "×")
    yield Finding(
        f"{AT_ONCE} participants without a pause: pages a second, against that application's",
        ratios([one.rate for one in ours], rates),
        "×",
        target="≥ 0.55",
        headline=True,
    )


def _told(what: str, trials: Sequence[Trial], limit: str) -> Iterator[Finding]:
    playing = ", ".join(f"{one.generator:.0%}" for one in trials)
    yield Finding(
        what,
        [one.rate for one in trials],
        "pages a second",
        note=f"playing the people took {playing} of a processor",
    )
    yield Finding(
        f"{what}, p99 of a page",
        [one.p99 for one in trials],
        "ms",
        target=limit,
        headline=bool(limit),
    )
    yield Finding(
        f"{what}, answers acknowledged",
        [one.answers for one in trials],
        "",
        note="each 2xx or 3xx: a run ends at the first error",
    )
    yield Finding(
        f"{what}, acknowledged answers missing or stored twice",
        [abs(one.stored - one.answers) for one in trials],
        "",
        target="≤ 0",
    )


def _class(minutes: float) -> Iterator[Finding]:
    with _folder() as folder:
        with servers.ours(folder) as place:
            trial = class_of(place, Ours(place.home), CLASS, 60 * minutes, THINKING)
        trial.stored = servers.answers_stored(folder)
    yield from _told(f"{CLASS} people who read, for {minutes:g} minutes", [trial], "≤ 250")


def _behind_nginx(ours: Sequence[Trial], seconds: float) -> Iterator[Finding]:
    if servers.nginx_version() is None:
        return
    trials = []
    for _ in ours:
        with _folder() as folder, servers.postgresql() as uri:
            with (
                servers.ours(folder, uri, proxies=1) as behind,
                servers.nginx(folder, behind) as place,
            ):
                trials.append(rush(place, Ours(place.home), OUR_PEOPLE, AT_ONCE, seconds))
            trials[-1].stored = servers.answers_stored(folder, uri)
    what = f"{AT_ONCE} without a pause: nginx, two processes, PostgreSQL"
    yield from _told(what, trials, "")
    rates = ratios([one.rate for one in trials], [one.rate for one in ours])
    yield Finding(f"{what}: pages a second, against SQLite without nginx", rates, "×", "≥ 0.8")


def _costs(found: Sequence[Costs]) -> Iterator[Finding]:
    for method, what, most, before in (
        ("GET", "A question shown (GET)", "≤ 3", Before(5.7, 6, 0)),
        ("POST", "An answer stored (POST)", "≤ 4", Before(6.9, 11, 4)),
    ):
        spent = [median(one.milliseconds[method]) for one in found]
        note = f"before this benchmark was there: {before.milliseconds:g}"
        yield Finding(f"{what}, processor time in process", spent, "ms", note=note)
        asked = [max(found[0].queries[method])]
        yield Finding(f"{what}, queries", asked, "", most, note=f"before: {before.queries}")
        written = [max(found[0].writes[method])]
        yield Finding(f"{what}, writes", written, "", note=f"before: {before.writes}")
    yield Finding("A question's page", [len(found[0].page) / 1000], "kB", note="before: 11.2")
    compressed = [found[0].bytes_compressed / 1000]
    yield Finding("A question's page, compressed", compressed, "kB", note="before: 2.95")


def _growths(rounds: int) -> Iterator[Growth]:
    """Look at each size once a round; the quickest round counts, as nothing but noise is slower."""
    crowds = (1_000, 10_000, 100_000)
    looked: dict[str, dict[int, Callable[[], Costs]]] = {
        "lists": {size: partial(costs, PEOPLE, lists=size) for size in (3, 5, 10)},
        "measures": {size: partial(costs, PEOPLE, measures=SIX[:size]) for size in (2, 3, 6)},
        "questions": {size: partial(costs, PEOPLE, questions=size) for size in (10, 25, 50)},
        "participants in the database": {size: partial(costs, PEOPLE, size) for size in crowds},
    }
    for grows, sizes in looked.items():
        taken = [[_a_page(look()) for look in sizes.values()] for _ in range(rounds)]
        values = [min(one) for one in zip(*taken, strict=True)]
        what = "an answer and the page it leads to, processor time in process"
        yield Growth(what, grows, [*sizes], values, "ms")


def _a_page(found: Costs) -> float:
    return sum(median(found.milliseconds[method]) for method in ("GET", "POST"))


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="survey-") as name:
        yield Path(name)
