"""Longer runs whose results are committed: what they show is checked in part by the tests."""
