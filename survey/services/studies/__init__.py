"""Studies: plans, life, access, checks, recruitment."""
