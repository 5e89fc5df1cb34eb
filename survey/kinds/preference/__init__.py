"""The kind "preference": say which of two lists is better."""
