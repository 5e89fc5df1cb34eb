"""Scoring runs and merging judgements, from files to tables."""
