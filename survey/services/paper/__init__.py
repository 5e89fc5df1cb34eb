"""The MNRO paper's tables, recomputed beside what it printed."""
