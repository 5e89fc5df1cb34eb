"""The texts of presets: translate them, and extract them for translators."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

import yaml

from survey.core.studies.plan import texts_of
from survey.core.tasks import DEFAULT, TASKS
from survey.services.studies.languages import catalogue

FIELD_TEXTS = ("label", "help", "options", "screen_out")  # of a personal field


def translated(values: Mapping[str, Any], language: str) -> dict[str, Any]:
    """Return a preset's values with their texts in that language.

    Texts missing in the catalogue stay English; placeholders like {lists} are not filled in.
    """
    translate = catalogue(language).gettext
    return _with_texts(values, lambda text: _by_paragraph(text, translate))


def extract(
    source: BinaryIO, *_: object, **__: object
) -> Iterator[tuple[int, None, str, list[str]]]:
    """Yield the texts of a preset's file, paragraph by paragraph, as Babel's extractors do."""
    content = source.read().decode()
    paragraphs: list[str] = []

    def collect(paragraph: str) -> str:
        paragraphs.append(paragraph)
        return paragraph

    _with_texts(yaml.safe_load(content), lambda text: _by_paragraph(text, collect))
    for paragraph in paragraphs:
        yield _line_of(paragraph, content), None, paragraph, []


def _with_texts(values: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    kind = TASKS[values.get("kind", DEFAULT)].plan
    names = [name for name in texts_of(kind) if name in values]
    changed = {**values, **{name: change(values[name]) for name in names}}
    if "personal_fields" in values:
        fields = values["personal_fields"]
        changed["personal_fields"] = [_field_with_texts(field, change) for field in fields]
    return changed


def _field_with_texts(field: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    texts = {name: field[name] for name in FIELD_TEXTS if name in field}
    return {
        **field,
        **{
            name: change(text) if isinstance(text, str) else [change(option) for option in text]
            for name, text in texts.items()
        },
    }


def _by_paragraph(text: str, change: Callable[[str], str]) -> str:
    """Change each paragraph, joined to a line; return the text as it is if none changes."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    changed = [change(paragraph) if paragraph else "" for paragraph in paragraphs]
    return text if changed == paragraphs else "\n\n".join(changed)


def _line_of(paragraph: str, content: str) -> int:
    first_words = r"\s+".join(map(re.escape, paragraph.split()[:4]))
    match = re.search(first_words, content)
    return content.count("\n", 0, match.start()) + 1 if match else 1
