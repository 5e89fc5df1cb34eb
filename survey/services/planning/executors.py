"""Where simulations run: in processes of this machine, or on a cluster."""

import logging
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pkgutil import resolve_name
from typing import Any

import numpy as np

from survey import __version__
from survey.errors import SurveyError

PATIENCE = 10  # seconds for a scheduler to answer


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
            address, timeout=PATIENCE, set_as_default=False
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
            _require(package, version, versions, address)
        yield client.get_executor()


def _require(package: str, version: str, versions: Mapping[str, object], address: str) -> None:
    """Raise SurveyError unless every worker has this version; ``versions``: theirs, or errors."""
    if not versions:
        raise SurveyError(f"The Dask cluster at {address} has no workers; start `dask worker`.")
    for worker, theirs in versions.items():
        if theirs != version:
            has = f"{package} {theirs}" if isinstance(theirs, str) else f"no {package}"
            raise SurveyError(
                f"The Dask worker {worker} has {has}; {package} {version} is needed on every "
                "worker, so that figures are the same."
            )
