"""Studies: plans and presets, life, languages, recruitment."""
