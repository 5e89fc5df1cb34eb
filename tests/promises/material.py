"""What a generated request is made of, and how it travels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from reprlib import Repr
from typing import Any
from urllib.parse import urlencode

from tests.promises.seemly import AFile, Fields, Value

FORM = "application/x-www-form-urlencoded"
SHORTLY = Repr()
SHORTLY.maxother = 60  # bytes are others


@dataclass(frozen=True, repr=False)
class Material:
    """What a request is made of, whichever form it is sent to.

    ``kind``: how the fields travel, or "raw" for ``body`` as it is. ``changes``: (which of the
    form's fields, values in its place). ``length``: what the header says of the body's length.
    """

    kind: str = "form"
    changes: Sequence[tuple[int, Sequence[bytes]]] = ()
    extra: Mapping[str, bytes] = field(default_factory=dict)
    body: bytes = b""
    content_type: str = ""
    path: bytes = b""
    query: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    length: str | None = None

    def __repr__(self) -> str:
        """Tell long values by their ends: hypothesis refuses to print megabytes."""
        parts = {one.name: getattr(self, one.name) for one in fields(self)}
        told = (f"{name}={SHORTLY.repr(part)}" for name, part in parts.items() if part)
        return f"Material({', '.join(told)})"

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        printer.text(repr(self))  # instead of the call that hypothesis made it by

    def filled(self, fields: Fields) -> list[tuple[str, bytes | AFile]]:
        """Fill in a form: mostly as it should be, with some values changed."""
        sent = {name: [_as_sent(one) for one in values] for name, values in fields.items()}
        names = list(sent)
        for number, given in self.changes if names else ():
            changed = names[number % len(names)]
            file = next((one for one in sent[changed] if isinstance(one, AFile)), None)
            sent[changed] = [AFile(file.name, one) if file else one for one in given]
        return [
            *((name, value) for name, values in sent.items() for value in values),
            *self.extra.items(),
        ]

    def encoded(self, fields: Fields) -> tuple[bytes, str]:
        """Return the body and its content type; files travel in parts only."""
        if self.kind == "raw":
            return self.body, self.content_type
        sent = self.filled(fields)
        if self.kind == "multipart" or any(isinstance(value, AFile) for _, value in sent):
            return b"".join((*map(_part, sent), b"--x--\r\n")), "multipart/form-data; boundary=x"
        return urlencode(sent).encode(), self.content_type or FORM


def _as_sent(value: Value) -> bytes | AFile:
    return value.encode() if isinstance(value, str) else value


def _part(sent: tuple[str, bytes | AFile]) -> bytes:
    name, value = sent
    head = f'--x\r\nContent-Disposition: form-data; name="{name}"'
    if isinstance(value, AFile):
        head, value = f'{head}; filename="{value.name}"', value.content
    return head.encode() + b"\r\n\r\n" + value + b"\r\n"
