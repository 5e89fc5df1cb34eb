"""What systemd is told of the server (sd_notify), where it started it as ``Type=notify``."""

import os
import re
import socket
from contextlib import suppress
from time import CLOCK_MONOTONIC, clock_gettime_ns

READY, STOPPING, LIVES = "READY=1", "STOPPING=1", "WATCHDOG=1"


def notify(*states: str) -> None:
    """Send states to the socket that systemd names, if it does."""
    address = os.environ.get("NOTIFY_SOCKET")
    if address:
        # A server serves on while systemd starts anew.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.sendto("\n".join(states).encode(), re.sub("^@", "\0", address))


def notify_reloading() -> None:
    """Say that another version replaces the server; ``READY`` says when that is done."""
    notify("RELOADING=1", f"MONOTONIC_USEC={clock_gettime_ns(CLOCK_MONOTONIC) // 1000}")
