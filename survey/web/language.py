"""The language of a page: English, or the study's on its participants' pages.

``gettext`` and ``ngettext`` say a sentence in it; its %(parts)s are filled in. Sentences
that are written where there is no page (in a service, in a class) are ``marked`` or lazy.
"""

from functools import lru_cache
from typing import Any

from flask import Flask, g, has_app_context, request
from flask_babel.speaklater import LazyString
from markupsafe import Markup

from survey.services.studies.languages import ENGLISH, catalogue, languages


def init_app(app: Flask) -> None:
    """Let pages and messages speak the language of the study they belong to."""
    # WTForms' own messages would need catalogues of their own, so no form uses them.
    app.config["WTF_I18N_ENABLED"] = False
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.newstyle_gettext = True  # type: ignore[attr-defined] # by the extension
    # Instead of Jinja's own, which look at the page's context for every sentence.
    app.add_template_global(_as_html, "_")
    app.add_template_global(_as_html, "gettext")
    app.add_template_global(_number_as_html, "ngettext")
    app.add_template_global(page_language)


def _as_html(sentence: str, /, **parts: object) -> Markup:
    """Say a sentence of a template; what is not HTML in its parts is escaped."""
    said = _said(page_language(), sentence)
    return said % parts if parts else said


@lru_cache(maxsize=5000)
def _said(language: str, sentence: str) -> Markup:
    """Say a sentence, with its parts still to come if it has any."""
    said = Markup(catalogue(language).gettext(sentence))  # noqa: S704 # nosec B704 # our own sentence
    return said if "%(" in said else said % {}


def _number_as_html(one: str, more: str, number: int, /, **parts: object) -> Markup:
    said = catalogue(page_language()).ngettext(one, more, number)
    return Markup(said) % {"num": number, **parts}  # noqa: S704 # nosec B704 # our own sentence


def speak(language: str) -> None:
    """Answer this request in a language, or in English where that has no catalogue."""
    g.language = language if language in languages() else ENGLISH


def speak_as_asked() -> None:
    """Answer a request that is about no study in the language that its browser asks for."""
    if "language" not in g:
        speak(request.accept_languages.best_match(languages()) or ENGLISH)


def page_language() -> str:
    """Return the language of this page."""
    return str(g.get("language", ENGLISH)) if has_app_context() else ENGLISH


def gettext(sentence: str, **parts: object) -> str:
    """Say a sentence in the page's language."""
    said = catalogue(page_language()).gettext(sentence)
    return said % parts if parts else said


def ngettext(one: str, more: str, number: int, **parts: object) -> str:
    """Say a sentence whose form depends on a number in the page's language."""
    return catalogue(page_language()).ngettext(one, more, number) % {"num": number, **parts}


def lazy_gettext(sentence: str) -> Any:
    """Return what says a sentence when it is shown; pages take it as HTML, so it has no parts."""
    return LazyString(gettext, sentence)
