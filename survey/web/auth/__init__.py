"""Researchers' sign-in: /research/sign-in, /research/welcome/TOKEN, /research/account."""

from survey.web.auth import pages

__all__ = ["pages"]
