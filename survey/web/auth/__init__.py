"""Researchers' sign-in: /research/sign-in, /research/welcome/TOKEN, /research/account."""

from survey.web.auth import account, pages

__all__ = ["account", "pages"]
