"""What researchers type to prove who they are."""

from wtforms import HiddenField, PasswordField, StringField
from wtforms.validators import DataRequired, EqualTo, Length

from survey.services.researchers import LONGEST_PASSWORD, SHORTEST_PASSWORD
from survey.web.forms import Form

FRESH = {"autocomplete": "new-password"}


class SignInForm(Form):
    """Name and password."""

    name = StringField(
        "Name",
        validators=[DataRequired("Type your name."), Length(max=64)],
        render_kw={"autocomplete": "username"},
    )
    password = PasswordField(
        "Password",
        validators=[DataRequired("Type your password."), Length(max=1000)],
        render_kw={"autocomplete": "current-password"},
    )
    next = HiddenField()


class ConfirmForm(Form):
    """The password once more."""

    password = PasswordField(
        "Password",
        validators=[DataRequired("Type your password."), Length(max=1000)],
        render_kw={"autocomplete": "current-password"},
    )
    next = HiddenField()


class PasswordForm(Form):
    """A new password, twice."""

    password = PasswordField(
        "New password",
        validators=[
            DataRequired("Choose a password."),
            Length(
                SHORTEST_PASSWORD,
                LONGEST_PASSWORD,
                f"Choose a password of {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters.",
            ),
        ],
        render_kw=FRESH,
    )
    again = PasswordField(
        "The same again",
        validators=[EqualTo("password", "The two passwords differ.")],
        render_kw=FRESH,
    )
