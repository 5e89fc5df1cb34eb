"""Judgements and runs of a test collection: read, ranked, scored, and compared."""
