"""Figures 1 to 8: their curves from our own functions, and what the paper says of them."""
