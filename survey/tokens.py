"""Random ids and codes, and tokens derived from the server key."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping

# Crockford's alphabet, without I, L, O, U: people misread these when they copy a code.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
# A Greek or a Cyrillic keyboard has letters that look like these, in this order.
MISREAD = str.maketrans("ILOΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТУХ", "110ABEZH1KMN0PTYXABEKMH0PCTYX")


def random_code(length: int) -> str:
    """Return a random code; each of its characters holds five bits."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def _mac(secret_key: str, message: str) -> bytes:
    return hmac.digest(secret_key.encode(), message.encode(), "sha256")


def cookie_name(secret_key: str, name: str) -> str:
    """Return a cookie's name in this instance: browsers send cookies to all ports of a host."""
    return f"{name}-{_mac(secret_key, 'names of cookies')[:4].hex()}"


def new_public_id() -> str:
    """Return a random id for a participant in exports."""
    return f"P-{random_code(8)}"


def new_receipt() -> str:
    """Return a random code that the last page shows as a receipt."""
    return f"{random_code(4)}-{random_code(4)}"


def resume_code(secret_key: str, public_id: str) -> str:
    """Return the code (70 bits) with which a participant continues on another device.

    It is derived, so that the database needs to hold its hash only.
    """
    letters = "".join(ALPHABET[byte % 32] for byte in _mac(secret_key, f"resume:{public_id}")[:14])
    return "-".join((letters[:5], letters[5:10], letters[10:]))


def plain_code(code: str) -> str:
    """Return the letters and digits of a code that was typed or pasted; misread ones are mended."""
    return "".join(sign for sign in code.upper().translate(MISREAD) if sign in ALPHABET)


def hash_code(code: str) -> str:
    """Return the SHA-256 of a code's letters and digits."""
    return hashlib.sha256(plain_code(code).encode()).hexdigest()


def hash_token(token: str) -> str:
    """Return the SHA-256 of a random token, as the database stores it."""
    return hashlib.sha256(token.encode()).hexdigest()


def submission_key(secret_key: str, presentation: str, revision: int) -> str:
    """Return the key for a form that is shown while an answer has this revision.

    With it a repeated POST is not stored twice, and a form in a forgotten tab does not
    overwrite a later answer. ``presentation``: a permanent name, not a row id, because SQLite
    reuses the ids of erased rows.
    """
    mac = _mac(secret_key, f"submission:{presentation}:{revision}")
    return f"{revision}-{mac[:16].hex()}"


def key_revision(secret_key: str, presentation: str, key: str) -> int | None:
    """Return the revision that a submission key was made for, None for a forged key."""
    number, _, _ = key.partition("-")
    if not (number.isascii() and number.isdecimal() and len(number) < 7):
        return None
    expected = submission_key(secret_key, presentation, int(number))
    return int(number) if hmac.compare_digest(expected.encode(), key.encode()) else None


def arrival_token(secret_key: str, slug: str, browser_token: str, sent: Mapping[str, str]) -> str:
    """Return the token with which a form says that a platform has signed these parameters.

    It is good for one browser, and no longer depends on the time of the platform's signature.
    """
    message = json.dumps(["arrival", slug, browser_token, sorted(sent.items())])
    return _mac(secret_key, message)[:16].hex()


def known_browser(secret_key: str, name: str, browser_id: str) -> str:
    """Return the cookie of a browser in which the researcher of this name has signed in."""
    message = json.dumps(["known browser", " ".join(name.split()).casefold(), browser_id])
    return f"{browser_id}.{_mac(secret_key, message)[:16].hex()}"


def is_known_browser(secret_key: str, name: str, cookie: str) -> bool:
    """Return whether this cookie was given to a browser of the researcher of this name."""
    expected = known_browser(secret_key, name, cookie.partition(".")[0])
    return hmac.compare_digest(expected.encode(), cookie.encode())


def test_run_token(secret_key: str, slug: str) -> str:
    """Return the token of a study's test link, whose participants are marked as test data."""
    return _mac(secret_key, f"test:{slug}")[:16].hex()


def is_test_run_token(secret_key: str, slug: str, token: str) -> bool:
    """Compare a token with the study's test-run token, in constant time."""
    return hmac.compare_digest(test_run_token(secret_key, slug).encode(), token.encode())
