"""Researchers and how they sign in."""
