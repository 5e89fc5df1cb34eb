"""Sections 5.2 and 5.4 of the MNRO paper in small, on real images: handwritten digits."""
