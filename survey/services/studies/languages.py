"""The languages of participants' pages: English, and those with a catalogue.

A catalogue (``survey/translations/el/LC_MESSAGES/messages.mo``) holds the
translations of what participants read: the pages' sentences and the presets' texts.
"""

import gettext
from functools import cache
from pathlib import Path

ENGLISH = "en"
TRANSLATIONS_FOLDER = Path(__file__).parents[2] / "translations"
# Folders with catalogues of the sentences that kinds of question from outside bring.
OTHER_FOLDERS: dict[Path, None] = {}


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of the available languages, English first."""
    return (
        ENGLISH,
        *sorted(path.parts[-3] for path in TRANSLATIONS_FOLDER.glob("*/LC_MESSAGES/*.mo")),
    )


@cache
def language_names() -> dict[str, str]:
    """Return the languages' own names by their codes: {"el": "Ελληνικά"}."""
    from babel import Locale  # imported here: --help and Tab would wait for it

    locales = {code: Locale.parse(code) for code in languages()}
    return {code: str(locale.get_display_name()).capitalize() for code, locale in locales.items()}


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return a language's catalogue; without a catalogue texts are returned untranslated.

    Sentences that it lacks are looked up in those of OTHER_FOLDERS.
    """
    own, *others = (
        gettext.translation("messages", folder, [language], fallback=True)
        for folder in (TRANSLATIONS_FOLDER, *OTHER_FOLDERS)
    )
    for other in others:
        own.add_fallback(other)
    return own
