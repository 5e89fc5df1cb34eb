"""What all forms share: errors that are sentences, each leading to its control."""

import weakref
from typing import Any

from flask import request
from flask_wtf import FlaskForm
from werkzeug.datastructures import CombinedMultiDict, MultiDict
from wtforms import Field, FileField, SelectChoice

from survey.services.studies.languages import language_names
from survey.web.language import lazy_gettext

EXPIRED = lazy_gettext(
    "The page had been open for too long. Please send it once more. If that does not help, "
    "allow this site to set its cookie."
)


def language_choices() -> list[SelectChoice]:
    """Return the languages that pages can speak, each named, and marked, in itself."""
    return [
        SelectChoice(code, name, render_kw={"lang": code})
        for code, name in language_names().items()
    ]


class Form(FlaskForm):  # type: ignore[misc] # Flask-WTF has no type hints
    """A form whose only errors are sentences for the person who fills it in."""

    class Meta(FlaskForm.Meta):  # type: ignore[misc] # Flask-WTF has no type hints
        """How what was sent becomes a form."""

        def bind_field(self, form: FlaskForm, unbound_field: Any, options: Any) -> Field:
            """Let fields know their form without keeping it: both go when the page is done.

            Else they wait for Python to look for such pairs, and everybody for it: 50 ms.
            """
            # The fields in a list of fields are bound by one that knows its form this way.
            is_known = isinstance(form, weakref.ProxyType)
            return unbound_field.bind(form=form if is_known else weakref.proxy(form), **options)

        def wrap_formdata(self, form: FlaskForm, formdata: Any) -> Any:
            """Read texts, and files where the form has a field for files.

            Flask-WTF would put a file in the place of a text as well, and take JSON, which no
            browser sends: its values need not be texts, and it may be nested without end.
            """
            if formdata is None or isinstance(formdata, MultiDict):
                return formdata
            if request.method != "POST":
                return None
            names = [field.name for field in form if isinstance(field, FileField)]
            files = {name: request.files.getlist(name) for name in names}
            return CombinedMultiDict((MultiDict(files), request.form)) or None

    @property
    def problems(self) -> list[tuple[str, str]]:
        """(id of the control, sentence) for the first error of each field, in their order.

        The id is empty where there is no control to go to.
        """
        return [
            ("", str(EXPIRED))
            if field.name == "csrf_token"
            else (self.target(field), str(field.errors[0]))
            for field in self
            if field.errors
        ]

    def target(self, field: Field) -> str:
        """Return the id of the control to which an error of the field leads."""
        return str(field.name)
