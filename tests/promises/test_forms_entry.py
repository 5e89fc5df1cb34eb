"""Promise 5: the entry page costs the same however many have taken part."""

from time import perf_counter

import numpy as np
import pytest

from survey.services.participation import participants
from tests.builders import an_open_study
from tests.slots import add_finished, cost_of

KINDS = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


@pytest.mark.trial
def test_the_entry_page_costs_the_same_with_a_million_participants(client, session, measured):
    times: dict[int, list[float]] = {30: [], 1_000_000: []}
    costs = []
    for finished in times:
        study = an_open_study(session, f"study-{finished}", participants=2_000_000)
        add_finished(session, study, finished)
        costs.append(cost_of(session, lambda study=study: participants.free_slots(session, study)))
        session.rollback()
    assert costs[1] <= 1.5 * costs[0] + 5
    for _ in range(60):
        for finished, seconds in times.items():
            begin = perf_counter()
            assert client.get(f"/s/study-{finished}").status_code == 200
            seconds.append(perf_counter() - begin)
    few, many = (1_000 * float(np.median(seconds)) for seconds in times.values())
    kind = KINDS[session.get_bind().dialect.name]
    measured(
        f"{kind}: the entry page of a study in which 1,000,000 have finished took "
        f"{many:.1f} ms (median of 60), where 30 have {few:.1f} ms; counting its slots took "
        f"{costs[1]} steps or blocks of the database instead of {costs[0]}."
    )
