"""The languages in which a survey can be held: English, and those with a catalogue.

A catalogue (``survey/translations/el/LC_MESSAGES/messages.mo``) holds all that
participants read: the pages' sentences and the presets' texts.
"""

import gettext
from functools import cache
from pathlib import Path

ENGLISH = "en"
FOLDER = Path(__file__).parents[2] / "translations"


@cache
def languages() -> tuple[str, ...]:
    """Return the languages there are, English first."""
    return (ENGLISH, *sorted(found.parts[-3] for found in FOLDER.glob("*/LC_MESSAGES/*.mo")))


@cache
def language_names() -> dict[str, str]:
    """Return the languages there are by the name each has for itself."""
    from babel import Locale  # here, because the command's help and Tab do without it

    known = {code: Locale.parse(code) for code in languages()}
    return {code: str(locale.get_display_name()).capitalize() for code, locale in known.items()}


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return a language's catalogue; English, and what has none, is its own translation."""
    return gettext.translation("messages", FOLDER, [language], fallback=True)
