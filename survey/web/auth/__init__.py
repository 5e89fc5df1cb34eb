"""Researchers' sign-in: /research/sign-in, /research/welcome/TOKEN, /research/account."""

from survey.web.auth.pages import account_blueprint, sign_in_blueprint

BLUEPRINTS = (sign_in_blueprint, account_blueprint)
