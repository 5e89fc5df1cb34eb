"""Texts of documents as pages show them: words of the query, the part that holds most of them."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator
from functools import lru_cache
from html import unescape

EXCERPT = 240  # characters
# Accents that are no letters of their own, as in Arabic or Hindi; Python counts none to a word.
ACCENTS = "".join(
    chr(code)
    for code in (*range(0x300, 0x3100), *range(0xFE20, 0xFE30))
    if unicodedata.category(chr(code))[0] == "M"
)
WORD = re.compile(rf"[\w{ACCENTS}]+")
TAG = re.compile(r"<[^>]*>")
BREAK = re.compile(r"</?(?:p|br|h[1-6]|ul|ol|li|table|tr|caption|blockquote|pre)\b[^>]*>")
CELL_END = re.compile(r"</t[hd]>")


def text_of_html(html: str) -> str:
    """Return the text of reduced HTML, or of its beginning, a line for each block and row."""
    one_line = " ".join(html.split())
    text = TAG.sub("", CELL_END.sub(" ", BREAK.sub("\n", one_line)))
    text = text.partition("<")[0]  # of a tag that is cut off
    lines = (" ".join(line.split()) for line in unescape(text).split("\n"))
    return "\n".join(line for line in lines if line)


@lru_cache(maxsize=50_000)
def folded(word: str) -> str:
    """Return a word as it is compared: without case and accents."""
    letters = unicodedata.normalize("NFD", word.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()


def words_of(text: str | None) -> frozenset[str]:
    """Return the different words of a query, folded."""
    return frozenset(folded(word) for word in WORD.findall(text or ""))


def split_at_words(text: str, words: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text, and whether a part is one of these words.

    Whole words count, whatever their case and accents; ``words``: folded.
    """
    end = 0
    for match in WORD.finditer(text) if words else ():
        if folded(match[0]) in words:
            if match.start() > end:
                yield text[end : match.start()], False
            yield match[0], True
            end = match.end()
    if end < len(text):
        yield text[end:], False


def excerpt(text: str, words: Collection[str], length: int = EXCERPT) -> str:
    """Return the first ``length`` characters of a text that hold the most different words.

    They begin where the text does, or at one of the words, as late as all of these are in it: a
    page may show a few lines only. ``words``: folded. An ellipsis replaces what is left out before
    and after.
    """
    text = " ".join(text.split())
    start = _best_start(text, words, length)
    part = cut_at_word(text[start : start + length + 1], length)
    return f"… {part}" if start else part


def cut_at_word(text: str, length: int) -> str:
    """Return the first characters of a text, to the end of a word, with an ellipsis if it is cut.

    A single word that is longer is cut within.
    """
    if len(text) <= length:
        return text
    if not (text[length - 1].isalnum() and text[length].isalnum()):
        return f"{text[:length].rstrip()} …"
    end = text.rfind(" ", 0, length)
    return f"{text[: end if end > length // 2 else length]} …"


def _best_start(text: str, words: Collection[str], length: int) -> int:
    """Return where the first window begins that holds the most different words."""
    if not words or len(text) <= length:
        return 0
    matches = [
        (match.start(), match.end(), word)
        for match in WORD.finditer(text)
        if (word := folded(match[0])) in words
    ]
    best, start = len({word for _, end, word in matches if end <= length}), 0
    counts: Counter[str] = Counter()  # of the words in the window
    first = 0
    for last, (_, end, word) in enumerate(matches):
        counts[word] += 1
        while first < last and (end - matches[first][0] > length or counts[matches[first][2]] > 1):
            counts[matches[first][2]] -= 1
            first += 1
        if (count := len(+counts)) > best:
            best, start = count, matches[first][0]
    return start
