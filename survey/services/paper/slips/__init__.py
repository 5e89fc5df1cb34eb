"""Printing slips of the paper: where it contradicts itself, its sources or its own figures."""
