"""Simulated participants with planted preferences, who answer through the real pages."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np

from survey.core.agreement.counts import OTHER
from survey.core.stimuli.plan import Plan
from survey.services.bots import Bot
from survey.services.errors import SurveyError

AT_ONCE = 4


@dataclass(frozen=True)
class Preference:
    """How likely a bot is to vote for each measure, or for an order of its own (OTHER)."""

    shares: Mapping[str, float]

    @classmethod
    def parse(cls, text: str | None, measures: Sequence[str]) -> "Preference":
        """Read ``MNRO=.5,NMRR=.3,AP=.1,OTHER=.1``; without a text all measures are alike.

        Raises SurveyError for an unknown name and for shares that do not sum to 1.
        """
        if text is None:
            return cls({**dict.fromkeys(measures, 0.9 / len(measures)), OTHER: 0.1})
        shares = {}
        known = {name.lower(): name for name in (*measures, OTHER)}
        for part in text.split(","):
            written, _, number = part.partition("=")
            name = known.get(written.strip().lower())
            if name is None:
                raise SurveyError(
                    f"{part.strip()!r} found in the preference; "
                    f"{', '.join(known.values())} can be preferred, like MNRO=.5"
                )
            try:
                shares[name] = float(number)
            except ValueError:
                raise SurveyError(
                    f"{part.strip()!r} found in the preference; write a share like {name}=.5"
                ) from None
        if min(shares.values()) < 0 or not abs(sum(shares.values()) - 1) <= 1e-6:
            raise SurveyError(
                f"The preference {text!r} sums to {sum(shares.values()):g}; "
                "shares from 0 to 1 that sum to 1 are needed."
            )
        return cls(shares)

    def draw(self, chance: np.random.Generator) -> str:
        """Draw a measure, or OTHER."""
        total = sum(self.shares.values())  # 1 but for what was rounded when it was typed
        return str(
            chance.choice(list(self.shares), p=[share / total for share in self.shares.values()])
        )


def simulate(
    entry: str,
    plan: Plan,
    participants: int,
    preference: Preference,
    seed: int,
    on_finished: Callable[[], object] = lambda: None,
) -> None:
    """Send so many bots through the survey at the address ``entry``.

    Each has a stream of its own from ``seed``, so the votes do not depend on who
    comes first: the same seed gives the same Table 4. ``on_finished`` is called
    after each. Raises SurveyError when a page does not lead on.
    """
    streams = np.random.SeedSequence(seed).spawn(participants)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = [
            pool.submit(Bot(entry, plan, preference, np.random.default_rng(stream)).take_part)
            for stream in streams
        ]
        try:
            for run in as_completed(runs):
                run.result()
                on_finished()
        except BaseException:  # a bot that failed, or Ctrl-C: let no further one begin
            pool.shutdown(cancel_futures=True)
            raise
