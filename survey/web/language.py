"""The language of a page: English, or the study's language on its participants' pages.

``gettext`` and ``ngettext`` translate a sentence into it and fill in its %(parts)s. A sentence
that is written where there is no request (in a service, in a class) is ``marked`` there and
translated where it is shown, or it is lazy.
"""

from functools import lru_cache
from typing import Any

from flask import Flask, g, has_app_context, request
from flask_babel.speaklater import LazyString
from markupsafe import Markup

from survey.services.studies.languages import ENGLISH, catalogue, languages


def init_app(app: Flask) -> None:
    """Let templates translate sentences into the language of the page."""
    # WTForms' own messages would need catalogues of their own, so no form uses them.
    app.config["WTF_I18N_ENABLED"] = False
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.newstyle_gettext = True  # type: ignore[attr-defined] # by the extension
    # These replace Jinja's own, which look up the page's context for every sentence.
    app.add_template_global(_html_gettext, "_")
    app.add_template_global(_html_gettext, "gettext")
    app.add_template_global(_html_ngettext, "ngettext")
    app.add_template_global(page_language)


def _html_gettext(sentence: str, /, **parts: object) -> Markup:
    """Translate a sentence of a template, and escape its parts unless they are HTML."""
    translation = _html_translation(page_language(), sentence)
    return translation % parts if parts else translation


@lru_cache(maxsize=5000)
def _html_translation(language: str, sentence: str) -> Markup:
    translation = Markup(catalogue(language).gettext(sentence))  # noqa: S704 # nosec B704 # our own sentence
    return translation if "%(" in translation else translation % {}


def _html_ngettext(singular: str, plural: str, number: int, /, **parts: object) -> Markup:
    translation = catalogue(page_language()).ngettext(singular, plural, number)
    return Markup(translation) % {"num": number, **parts}  # noqa: S704 # nosec B704 # our own sentence


def set_language(language: str) -> None:
    """Answer this request in a language, or in English if it has no catalogue."""
    g.language = language if language in languages() else ENGLISH


def set_browser_language() -> None:
    """Answer a request that belongs to no study in the language that its browser prefers."""
    if "language" not in g:
        set_language(request.accept_languages.best_match(languages()) or ENGLISH)


def page_language() -> str:
    """Return the code of the language in which this request is answered, like "el"."""
    return str(g.get("language", ENGLISH)) if has_app_context() else ENGLISH


def gettext(sentence: str, **parts: object) -> str:
    """Translate a sentence into the page's language."""
    translation = catalogue(page_language()).gettext(sentence)
    return translation % parts if parts else translation


def ngettext(singular: str, plural: str, number: int, **parts: object) -> str:
    """Translate a sentence whose form depends on a number."""
    translation = catalogue(page_language()).ngettext(singular, plural, number)
    return translation % {"num": number, **parts}


def lazy_gettext(sentence: str) -> Any:
    """Return a sentence that is translated when it is shown.

    Pages take it as HTML, so it has no %(parts)s.
    """
    return LazyString(gettext, sentence)
