"""What the votes support: credits, counts, and who took part."""
