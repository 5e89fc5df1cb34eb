"""Simulations in which the truth is known, and the page that says what verdicts make of them."""
