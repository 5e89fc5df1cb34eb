"""Test collections: runs, judgements, evaluation, and what several assessors say."""
