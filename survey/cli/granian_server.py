"""Granian's server, made to end when it is told so twice.

Loaded by ``survey serve`` alone: it is heavy, and no other command needs it.
"""

from typing import Any

from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server import Server


class ProductionServer(Server):  # type: ignore[misc,valid-type] # which class it is depends on Python
    """Serve the application in so many processes until SIGINT or SIGTERM."""

    def __init__(self, host: str, port: int, workers: int) -> None:
        super().__init__(
            "survey.app:create_served_app",
            factory=True,
            interface=Interfaces.WSGI,
            address=host,
            port=port,
            workers=workers,
            # One thread each: several writers in a process only wait for each other.
            blocking_threads=1,
            respawn_failed_workers=True,
            respawn_interval=0.1,
            workers_kill_timeout=10,
            websockets=False,
            log_level=LogLevels.warning,
        )

    def signal_handler_interrupt(self, *args: Any, **kwargs: Any) -> None:
        """Take the first signal only.

        A second one that came while the first is handled would wait for a lock that the
        first holds, for ever: `make run` passes SIGTERM on to those who got it already,
        and people press Ctrl-C twice.
        """
        if not self.interrupt_signal:
            super().signal_handler_interrupt(*args, **kwargs)
