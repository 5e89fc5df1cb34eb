"""The presets' texts: where in a preset they stand, and what they are in another language."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

import yaml

from survey.core.studies.plan import TEXTS
from survey.services.studies.languages import catalogue

FIELD_TEXTS = ("label", "help", "options", "screen_out")  # of a personal field


def translated(values: Mapping[str, Any], language: str) -> dict[str, Any]:
    """Return a preset's values with their texts in that language.

    What the language's catalogue lacks stays as it is; {lists} and the like are kept.
    """
    say = catalogue(language).gettext
    return _with_texts(values, lambda text: _by_paragraph(text, say))


def extract(
    source: BinaryIO, *_: object, **__: object
) -> Iterator[tuple[int, None, str, list[str]]]:
    """Yield the texts of a preset's file, paragraph by paragraph, as Babel's extractors do."""
    content = source.read().decode()
    found: list[str] = []

    def note(paragraph: str) -> str:
        found.append(paragraph)
        return paragraph

    _with_texts(yaml.safe_load(content), lambda text: _by_paragraph(text, note))
    for paragraph in found:
        yield _line_of(paragraph, content), None, paragraph, []


def _with_texts(values: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    made = {**values, **{name: change(values[name]) for name in TEXTS if name in values}}
    if "personal_fields" in values:
        made["personal_fields"] = [_field(one, change) for one in values["personal_fields"]]
    return made


def _field(field: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    texts = {name: field[name] for name in FIELD_TEXTS if name in field}
    return {
        **field,
        **{
            name: change(text) if isinstance(text, str) else [change(one) for one in text]
            for name, text in texts.items()
        },
    }


def _by_paragraph(text: str, change: Callable[[str], str]) -> str:
    """Change each paragraph, which is read as one line; what does not change is kept as it is."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    changed = [change(paragraph) if paragraph else "" for paragraph in paragraphs]
    return text if changed == paragraphs else "\n\n".join(changed)


def _line_of(paragraph: str, content: str) -> int:
    beginning = r"\s+".join(map(re.escape, paragraph.split()[:4]))
    found = re.search(beginning, content)
    return content.count("\n", 0, found.start()) + 1 if found else 1
