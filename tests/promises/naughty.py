"""What nobody should send to a form, and some who do: strategies for generated requests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_from_bytes, urlencode

from hypothesis import strategies as st
from werkzeug.test import encode_multipart

KNOWN_TO_HURT = (
    *("", " ", "\0", "a\0b", "\x1b[2J", "\r\nX: y", "\x7f\x85", "\u2028", "\ufeff", "\ufffe"),
    *("\u202eabc", "\u200b\u200d", "e\u0301", "é", "🧑‍🚀" * 20, "ﷺ" * 50, "Ⅷ", "١٢", "２２", "²"),
    *("0", "-1", "1e400", "nan", "inf", "9" * 19, "9" * 5000, "0x10", "1_0", "+1", "1.0", "½"),
    *("' OR 1=1 --", '"; DROP TABLE participant; --', "%00", "%s%n", "%(x)s", "{0}", "${7*7}"),
    *("{{7*7}}", "{% raise %}", "<script>alert(1)</script>", '"><img src=x onerror=a>', "&#0;"),
    *("../../etc/passwd", "//evil.example", "javascript:1", "C:\\con", "=1+1", "own", "back"),
    *("A>B=C", "1,2,3", "[]", "{}", "null", "true", "y", "on", "x" * 501, "x" * 5000, "a: [b"),
    *("http://[", "//[", "?" * 40, "P-NOBODY00", "123", "questions.csv", "2024-13-45"),
)
LONE = (b"\xed\xa0\x80", b"\xff\xfe", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82")
TYPES = (
    *("", "text/plain", "application/json", "multipart/form-data", "nonsense", "a/b; charset=x"),
    *("multipart/form-data; boundary=", "multipart/form-data; boundary=x", "text/html; ;;=\x80"),
    *("application/x-www-form-urlencoded; charset=utf-16", "application/octet-stream"),
)
HEADERS: tuple[Mapping[str, str], ...] = (
    {},
    {"Accept-Language": "el;q=nan, *;q=-1, " + "x" * 300},
    {"Host": "evil.example:99999999"},
    {"Host": "\xff[::"},
    {"X-Forwarded-For": "1.2.3.4, ' OR 1", "X-Forwarded-Proto": "gopher", "Forwarded": "for=;"},
    {"Cookie": "survey=; survey=\xff; researcher=\x01; =; a"},
    {"Range": "bytes=9-1", "If-None-Match": '"', "If-Modified-Since": "Nevermonth"},
    {"Referer": "http://[", "Origin": "null", "Accept": ";;;", "Authorization": "Basic ===="},
    {"Transfer-Encoding": "chunked, identity", "Expect": "200-maybe", "Content-Encoding": "gzip"},
)

values = st.one_of(
    st.sampled_from(KNOWN_TO_HURT).map(lambda text: text.encode()),
    st.sampled_from(LONE),
    st.text(max_size=30).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.binary(max_size=30),
    st.tuples(st.sampled_from(KNOWN_TO_HURT), st.sampled_from((100, 3_000, 40_000))).map(
        lambda drawn: (drawn[0] * drawn[1])[:200_000].encode()
    ),
)


@dataclass(frozen=True)
class Material:
    """What a request is made of, whichever form it is sent to.

    ``kind``: how the fields travel, or "raw" for ``body`` as it is. ``changes``: (which of the
    form's fields, values in its place). ``length``: what the header says of the body's length.
    """

    kind: str
    changes: Sequence[tuple[int, Sequence[bytes]]]
    extra: Mapping[str, bytes]
    body: bytes
    content_type: str
    path: bytes
    query: bytes
    headers: Mapping[str, str]
    length: str | None

    def fields(self, form: Mapping[str, Any]) -> list[tuple[str, bytes]]:
        """Fill in a form: mostly as it should be, with some values changed."""
        filled: dict[str, list[bytes]] = {}
        for name, value in form.items():
            several = value if isinstance(value, list) else [value]
            filled[name] = [str(one).encode() for one in several]
        names = list(filled)
        for number, given in self.changes if names else ():
            filled[names[number % len(names)]] = list(given)
        sent = [(name, value) for name, several in filled.items() for value in several]
        return [*sent, *self.extra.items()]

    def encoded(self, form: Mapping[str, Any]) -> tuple[bytes, str]:
        """Return the body and its content type."""
        if self.kind == "raw":
            return self.body, self.content_type
        fields = self.fields(form)
        if self.kind == "multipart":
            parts = [(name, value.decode("latin-1")) for name, value in fields]
            boundary, body = encode_multipart(_grouped(parts))
            return body, f"multipart/form-data; boundary={boundary}"
        return urlencode(fields).encode(), self.content_type or FORM


FORM = "application/x-www-form-urlencoded"


def _grouped(parts: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in parts:
        grouped.setdefault(name, []).append(value)
    return grouped


names = st.sampled_from(("choice", "rank-A", "go", "guest", "test", "next", "csrf_token", "q", ""))
materials = st.builds(
    Material,
    kind=st.sampled_from(("form", "form", "form", "multipart", "raw")),
    changes=st.lists(
        st.tuples(st.integers(0, 60), st.lists(values, max_size=3)), min_size=0, max_size=3
    ),
    extra=st.dictionaries(names, values, max_size=2),
    body=values,
    content_type=st.just("") | st.sampled_from(TYPES),
    path=st.just(b"") | st.just(b"") | values.filter(lambda given: len(given) < 400),
    query=st.just(b"") | values.filter(lambda given: len(given) < 400),
    headers=st.just({}) | st.sampled_from(HEADERS),
    length=st.none() | st.none() | st.sampled_from(("", "-1", "abc", "5", "9" * 20)),
)


def in_a_path(value: bytes) -> str:
    """Write a value so that it can stand in an address."""
    return quote_from_bytes(value, safe="")
