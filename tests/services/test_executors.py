"""Simulations on a Dask cluster: two workers here, any number elsewhere."""

import logging
import sys
from collections.abc import Iterator

import pytest

from survey.core.agreement.power_model import PlannedStudy
from survey.errors import SurveyError
from survey.services.planning import power
from survey.services.planning.power import simulate_power

pytestmark = pytest.mark.slow

STUDIES = (PlannedStudy(12, 6, 6, 0.1), PlannedStudy(12, 6, 20, 0.2))


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a cluster with two workers, each a process."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
    ) as local:
        local.wait_for_workers(2)
        yield local.scheduler_address


def test_a_cluster_gives_the_figures_that_one_process_gives(scheduler):
    done = []
    with power.cluster(scheduler) as pool:
        on_cluster = simulate_power(
            STUDIES, seed=3, replicates=2_000, executor=pool, on_progress=done.append
        )
    assert on_cluster == simulate_power(STUDIES, seed=3, replicates=2_000)
    assert sum(done) == 2_000 * 2 * sum(study.answers for study in STUDIES)


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(power, "SCHEDULER_SECONDS", 0.2)
    with (
        pytest.raises(SurveyError, match=r"No Dask scheduler answers at 'tcp://127.0.0.1:9'"),
        power.cluster("tcp://127.0.0.1:9"),
    ):
        pass


def test_workers_with_another_version_are_refused(scheduler, monkeypatch):
    monkeypatch.setattr(power, "__version__", "99")
    with (
        pytest.raises(SurveyError, match=r"has survey [\d.]+\S*; survey 99 is needed on every"),
        power.cluster(scheduler),
    ):
        pass


def test_workers_with_another_numpy_are_refused(scheduler, monkeypatch):
    monkeypatch.setattr(power.np, "__version__", "1.0")
    with (
        pytest.raises(SurveyError, match=r"has numpy [\d.]+; numpy 1.0 is needed on every worker"),
        power.cluster(scheduler),
    ):
        pass


def test_workers_without_the_survey_are_refused(scheduler, monkeypatch):
    from distributed import Client

    def forget():
        sys.modules["survey"] = None

    def remember():
        del sys.modules["survey"]

    with Client(scheduler, set_as_default=False) as client:
        client.run(forget)
        with (
            pytest.raises(SurveyError, match=r"has no survey; survey \S+ is needed on every"),
            power.cluster(scheduler),
        ):
            pass
        client.run(remember)


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(SurveyError, match=r"pip install 'ranking-survey\[dask\]'"),
        power.cluster("tcp://127.0.0.1:9"),
    ):
        pass


def test_a_cluster_without_workers_is_no_help():
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL) as empty,
        pytest.raises(SurveyError, match="has no workers; start `dask worker`"),
        power.cluster(empty.scheduler_address),
    ):
        pass
