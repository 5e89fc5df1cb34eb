"""Random names and codes, and codes derived under the server key."""

import hashlib
import hmac
import secrets

# Crockford's alphabet: no I, L, O, U, so that a code survives being read aloud.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
MISREAD = str.maketrans("ILO", "110")


def random_code(length: int) -> str:
    """Draw a code of so many characters, five random bits each."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def new_public_id() -> str:
    """Draw the id under which a participant stands in exports."""
    return f"P-{random_code(8)}"


def new_receipt() -> str:
    """Draw the code that the last page shows as a receipt."""
    return f"{random_code(4)}-{random_code(4)}"


def resume_code(secret_key: str, public_id: str) -> str:
    """Return the code (70 bits) that continues a survey on another device.

    Derived, not stored: the database holds only its hash.
    """
    mac = hmac.digest(secret_key.encode(), f"resume:{public_id}".encode(), "sha256")
    letters = "".join(ALPHABET[byte % 32] for byte in mac[:14])
    return "-".join((letters[:5], letters[5:10], letters[10:]))


def hash_code(code: str) -> str:
    """Return the SHA-256 of a code as typed: case, spaces, dashes and misread letters forgiven."""
    plain = "".join(code.upper().translate(MISREAD).split()).replace("-", "")
    return hashlib.sha256(plain.encode()).hexdigest()


def hash_token(token: str) -> str:
    """Return the SHA-256 of a random token, for storing and looking it up."""
    return hashlib.sha256(token.encode()).hexdigest()


def submission_key(secret_key: str, presentation: str, revision: int) -> str:
    """Return the key of the answer that would follow this revision of a presentation.

    ``presentation``: what it is called for good; the number of a row that was erased may
    become another's. The key says which state of the answer a form was filled in on, so
    that a repeated POST stores nothing twice and a forgotten second tab overwrites nothing.
    """
    message = f"submission:{presentation}:{revision}".encode()
    return f"{revision}-{hmac.digest(secret_key.encode(), message, 'sha256')[:16].hex()}"


def revision_of(secret_key: str, presentation: str, key: str) -> int | None:
    """Return the revision that a submission key was made for; None for a foreign key."""
    number, _, _ = key.partition("-")
    if not (number.isascii() and number.isdecimal() and len(number) < 7):
        return None
    expected = submission_key(secret_key, presentation, int(number))
    return int(number) if hmac.compare_digest(expected.encode(), key.encode()) else None


def test_run_token(secret_key: str, slug: str) -> str:
    """Return the token that marks whoever begins with it as test data."""
    return hmac.digest(secret_key.encode(), f"test:{slug}".encode(), "sha256")[:16].hex()


def is_test_run_token(secret_key: str, slug: str, token: str) -> bool:
    """Tell whether a token is the study's own for test runs."""
    return hmac.compare_digest(test_run_token(secret_key, slug).encode(), token.encode())
