"""Where simulations run: in processes of this machine, or on a cluster."""

import logging
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from survey import __version__
from survey.services.errors import SurveyError

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
    have another version of the survey, or none: their figures need not be ours.
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
        _require_this_version(client.run(_version_there), address)
        yield client.get_executor()


def _version_there() -> str:
    """Return the version of the survey that a worker has; workers run this."""
    try:
        from survey import __version__ as found
    except ImportError:
        return ""
    return found


def _require_this_version(found: dict[str, str], address: str) -> None:
    if not found:
        raise SurveyError(f"The Dask cluster at {address} has no workers; start `dask worker`.")
    for worker, version in found.items():
        if version != __version__:
            raise SurveyError(
                f"The Dask worker {worker} has {f'survey {version}' if version else 'no survey'}; "
                f"survey {__version__} is needed on every worker."
            )
