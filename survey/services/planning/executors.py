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
    """Give an executor of so many processes; None for one, which is this process itself."""
    if workers == 1:
        yield None
        return
    # Spawned, not forked: the progress bar has a thread, and a fork would copy its locks.
    # Ctrl-C is for this process, which lets the others end; they would print tracebacks.
    no_interrupt = (signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(workers, get_context("spawn"), signal.signal, no_interrupt) as pool:
        yield pool


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Give an executor of the Dask cluster whose scheduler has this address.

    Raises SurveyError without the package, without a scheduler there, and for workers that
    have another version of the survey or of numpy, or none: their figures need not be ours.
    """
    try:
        from distributed import Client
    except ImportError:
        raise SurveyError(
            "A Dask cluster needs the extra: pip install 'ranking-survey[dask]'."
        ) from None
    # What it logs of a lost scheduler, line upon line, is said in one sentence below.
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
            found = client.run(resolve_name, f"{package}:__version__", on_error="return")
            _require(package, version, found, address)
        yield client.get_executor()


def _require(package: str, version: str, found: Mapping[str, object], address: str) -> None:
    """Raise SurveyError unless all workers have this version; ``found``: theirs, or an error."""
    if not found:
        raise SurveyError(f"The Dask cluster at {address} has no workers; start `dask worker`.")
    for worker, theirs in found.items():
        if theirs != version:
            has = f"{package} {theirs}" if isinstance(theirs, str) else f"no {package}"
            raise SurveyError(
                f"The Dask worker {worker} has {has}; {package} {version} is needed on every "
                "worker, so that figures are the same."
            )
