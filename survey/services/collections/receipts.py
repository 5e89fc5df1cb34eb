"""Receipts of runs: JSON that is signed by a key of the instance, and their check.

The signature is Ed25519 over the receipt without it, as JSON with sorted keys and without blanks.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import Any

from survey.config import stored_key
from survey.core.text_input import Json
from survey.errors import SurveyError
from survey.services.exchange.input_files import parse_json, read_text

FORMAT = "survey receipt 1"
KEY_FILE = "receipt_key"  # in the instance folder, readable by its owner alone
TEXTS = ("collection", "digest", "group", "run_sha256", "day", "version", "public_key", "signature")
SHOWN: dict[str, type | tuple[type, ...]] = {
    "measure": str,
    "value": float,
    "is_new": bool,
    "stars": str,
    "baseline": (str, NoneType),
}
"""What is shown of a measure, with its types."""

Receipt = dict[str, Any]


def sign(instance: Path, content: Receipt) -> Receipt:
    """Return a receipt of this content with the instance's public key and signature."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # slow

    key = Ed25519PrivateKey.from_private_bytes(_private_key(instance))
    receipt = {"format": FORMAT, **content, "public_key": public_key(instance)}
    return {**receipt, "signature": key.sign(_signed_bytes(receipt)).hex()}


def public_key(instance: Path) -> str:
    """Return the instance's public key in hexadecimal digits; the key is made on first use."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(_private_key(instance))
    return key.public_key().public_bytes_raw().hex()


def _private_key(instance: Path) -> bytes:
    return bytes.fromhex(stored_key(instance / KEY_FILE))


def _signed_bytes(receipt: Receipt) -> bytes:
    unsigned = {name: value for name, value in receipt.items() if name != "signature"}
    return json.dumps(unsigned, sort_keys=True, separators=(",", ":")).encode()


def read_receipt(path: Path) -> Receipt:
    """Read a receipt; raises SurveyError for a file that is not one."""
    try:
        receipt = parse_json(read_text(path))
    except (ValueError, RecursionError):
        receipt = None
    if not isinstance(receipt, dict) or receipt.get("format") != FORMAT:
        raise SurveyError(
            f"{path} is not a receipt: one is JSON whose format is {FORMAT!r}, as "
            "`survey collection submit` saves it."
        )
    return receipt


def fault_of(receipt: Receipt, key: str | None = None) -> str:
    """Return why a receipt is not valid, "" if it is.

    ``key``: the public key of the collection's page; without it, only changes after the signature
    are noticed, not a receipt that someone signed with a key of their own.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not (all(map(_is_text, map(receipt.get, TEXTS))) and type(receipt.get("number")) is int):
        return "a field is missing or not as written"
    if not (
        _is_shown(receipt.get("shown")) and _is_text(receipt.get("judged_at_10"), (float, NoneType))
    ):
        return "the values that were shown are missing or not as written"
    own_key = str(receipt["public_key"])
    if key is not None and key.strip().lower() != own_key:
        return f"it is signed by the key {own_key}, not by the key that was named"
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(own_key))
        public.verify(bytes.fromhex(str(receipt["signature"])), _signed_bytes(receipt))
    except (ValueError, InvalidSignature):
        return "it was changed after it was signed"
    return ""


def _is_text(value: Json, types: type | tuple[type, ...] = str) -> bool:
    """Return whether a value can be printed in one line: any key may have signed anything."""
    return isinstance(value, types) and str(value).isprintable()


def _is_shown(values: Json) -> bool:
    return isinstance(values, list) and all(
        isinstance(shown, dict)
        and all(_is_text(shown.get(name), types) for name, types in SHOWN.items())
        for shown in values
    )


def receipt_text(receipt: Receipt) -> str:
    """Return a receipt as the text of its file."""
    return json.dumps(receipt, ensure_ascii=False, indent=2) + "\n"


def shown_sentences(receipt: Receipt) -> list[str]:
    """Return what a receipt shows: a sentence for each measure, and the share judged."""
    sentences = [_shown_sentence(shown) for shown in receipt["shown"]]
    if (share := receipt.get("judged_at_10")) is not None:
        sentences.append(f"Judged among the first 10 documents of each topic: {100 * share:.0f} %.")
    return sentences


def _shown_sentence(shown: Mapping[str, Any]) -> str:
    value = f"{shown['value']:.2f}".removeprefix("0")
    if not shown["is_new"]:
        return f"{shown['measure']}: not shown to be better; best: {value}."
    if shown.get("baseline") is None:
        return f"{shown['measure']}: {value}."
    better = f"{shown['stars']} against" if shown["stars"] else "not significantly better than"
    return f"{shown['measure']}: {value} ({better} the baseline {shown['baseline']})."
