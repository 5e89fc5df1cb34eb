"""Two requests at once: the second runs where the first is at a chosen one of its statements."""

from collections.abc import Callable
from threading import Thread, current_thread
from typing import Any

from sqlalchemy import Engine, event

PATIENCE = 0.15  # seconds


class AtOnce:
    """Runs two functions; ``reached``: whether the first came as far as the statement chosen."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.reached = engine, False

    def run(
        self,
        first: Callable[[], Any],
        second: Callable[[], Any],
        at: int,
        patience: float = PATIENCE,
    ) -> tuple[Any, Any]:
        """Return what both return; the second begins before statement ``at`` of the first, from 1.

        The first goes on when the second is done, or has taken ``patience`` seconds, since it may
        wait for a lock of the first. An exception is returned, too.
        """
        results: dict[str, Any] = {}
        meanwhile = Thread(target=_run_into, args=(results, "second", second))
        running, statements = current_thread(), 0

        def begin_the_second(*_: object) -> None:
            nonlocal statements
            if current_thread() is running:
                statements += 1
                if statements == at:
                    self.reached = True
                    meanwhile.start()
                    meanwhile.join(patience)

        self.reached = False
        event.listen(self.engine, "before_cursor_execute", begin_the_second)
        try:
            _run_into(results, "first", first)
        finally:
            event.remove(self.engine, "before_cursor_execute", begin_the_second)
        if not self.reached:
            meanwhile.start()
        meanwhile.join()
        return results["first"], results["second"]


def _run_into(results: dict[str, Any], name: str, function: Callable[[], Any]) -> None:
    try:
        results[name] = function()
    except Exception as error:
        results[name] = error
