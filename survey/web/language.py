"""The language of a page: English, or the study's on its participants' pages.

``gettext`` and ``ngettext`` say a sentence in it; its %(parts)s are filled in. Sentences
that are written where there is no page (in a service, in a class) are ``marked`` or lazy.
"""

from typing import Any

import flask_babel
from flask import Flask, g

from survey.services.languages import ENGLISH, FOLDER, languages


def init_app(app: Flask) -> None:
    """Let pages and messages speak the language of the study they belong to."""
    # WTForms' own messages would need catalogues of their own, so no form uses them.
    app.config["WTF_I18N_ENABLED"] = False
    flask_babel.Babel(
        app, default_translation_directories=str(FOLDER), locale_selector=page_language
    )
    app.add_template_global(page_language)


def speak(language: str) -> None:
    """Answer this request in a language, or in English where that has no catalogue."""
    g.language = language
    flask_babel.refresh()


def page_language() -> str:
    """Return the language of this page."""
    wanted = str(g.get("language", ENGLISH))
    return wanted if wanted in languages() else ENGLISH


def gettext(sentence: str, **parts: object) -> str:
    """Say a sentence in the page's language."""
    return str(flask_babel.gettext(sentence, **parts))


def ngettext(one: str, more: str, number: int, **parts: object) -> str:
    """Say a sentence whose form depends on a number in the page's language."""
    return str(flask_babel.ngettext(one, more, number, **parts))


def lazy_gettext(sentence: str) -> Any:
    """Return what says a sentence when it is shown; pages take it as HTML, so it has no parts."""
    return flask_babel.lazy_gettext(sentence)
