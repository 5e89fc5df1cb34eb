"""Checks of settings: the server key, debugging, proxies."""

import re
from collections.abc import Sequence
from ipaddress import ip_address

from survey.services.doctor.findings import Finding, danger, ok, warning

SHORTEST_KEY = 32
FEWEST_SIGNS = 8
# What stands in keys that were copied from a page or typed for a trial.
KNOWN_WORDS = (
    *("changeme", "changethis", "replaceme", "replacethis", "yoursecret", "mysecret", "thesecret"),
    *("secretkey", "supersecret", "topsecret", "notsosecret", "password", "placeholder"),
    *("insecure", "devkey", "development", "qwerty", "0123456789", "abcdefgh"),
)

MAKE_A_KEY = "remove SURVEY_SECRET_KEY, and one is made for you"


def check_key(key: str) -> Finding:
    """Is the server key one that nobody guesses?"""
    plain = re.sub(r"[^a-z0-9]", "", key.lower())
    known = [word for word in KNOWN_WORDS if word in plain]
    if len(key) < SHORTEST_KEY:
        fault = f"it has {len(key)} characters, and {SHORTEST_KEY} random ones are needed"
    elif known:
        fault = f"it holds {known[0]!r}, which others would try"
    elif len(set(key)) < FEWEST_SIGNS:
        fault = f"it has only {len(set(key))} different characters"
    else:
        return ok("server key", "long and varied")
    return danger("server key", f"The server key can be guessed: {fault}; {MAKE_A_KEY}.")


def check_key_is_one(key: str, stored: str | None) -> Finding:
    """Is the key that is used the one that the instance folder keeps?"""
    if stored is None or stored == key:
        return ok("one key", "the key in use is the only one")
    return warning(
        "one key",
        "SURVEY_SECRET_KEY is another key than the one in the instance folder: what was handed out "
        "under the one opens nothing under the other; remove the one that is not to be used.",
    )


def check_debugging(*, debug: bool) -> Finding:
    """Is debugging off, which shows the survey's inside to whoever meets an error?"""
    if debug:
        return danger("debugging", "Debugging is switched on; unset FLASK_DEBUG.")
    return ok("debugging", "off")


def check_proxies(host: str, trusted_proxies: int) -> Finding:
    """Is there something in front that speaks HTTPS, where others can reach the server?"""
    if trusted_proxies:
        return ok("proxies", f"the headers of {trusted_proxies} in front are believed")
    if _is_loopback(host):
        return ok("proxies", "none; SURVEY_TRUSTED_PROXIES says how many stand in front")
    return warning(
        "proxies",
        f"The server listens on {host} with no proxy in front, so answers travel without HTTPS; "
        "put a proxy with HTTPS in front and say so with SURVEY_TRUSTED_PROXIES=1.",
    )


def check_measures(faults: Sequence[str]) -> Finding:
    """Could the measures that other packages bring be registered?"""
    if faults:
        told = "; ".join(faults)
        return warning("measures", f"{told[0].upper()}{told[1:]}; repair or remove the package.")
    return ok("measures", "all that other packages bring are registered")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
