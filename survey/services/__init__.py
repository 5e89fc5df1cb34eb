"""Use cases: plain functions that take the database session first."""
