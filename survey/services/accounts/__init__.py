"""Researchers' accounts and sign-ins, and their roles in studies."""
