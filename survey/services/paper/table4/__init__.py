"""Table 4: the recount, the tests over its sets, and what its claims are worth."""
