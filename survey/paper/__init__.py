"""The MNRO paper again: its tables, figures and claims, recomputed beside the print."""
