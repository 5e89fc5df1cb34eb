"""Whether everyone can use the pages: every page in every state, in a real browser."""
