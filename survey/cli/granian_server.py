"""The production server: granian, which ends at the first signal whatever follows.

Apart from ``serve``, because the class needs granian, for which --help would wait.
"""

from typing import Any

from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server import Server


class ProductionServer(Server):  # type: ignore[misc,valid-type] # which class it is depends on Python
    """Serve the application with ``workers`` processes until SIGINT or SIGTERM."""

    def __init__(self, host: str, port: int, workers: int) -> None:
        super().__init__(
            "survey.app:create_served_app",
            factory=True,
            interface=Interfaces.WSGI,
            address=host,
            port=port,
            workers=workers,
            # More threads would not help: writers in one process wait for each other.
            blocking_threads=1,
            respawn_failed_workers=True,
            respawn_interval=0.1,
            workers_kill_timeout=10,
            websockets=False,
            log_level=LogLevels.warning,
        )

    def signal_handler_interrupt(self, *args: Any, **kwargs: Any) -> None:
        """Handle the first signal and ignore the others.

        A second signal during the first would wait forever for a lock that the first holds.
        It happens: `make run` repeats SIGTERM to processes that already got it, and people
        press Ctrl-C twice.
        """
        if not self.interrupt_signal:
            super().signal_handler_interrupt(*args, **kwargs)
