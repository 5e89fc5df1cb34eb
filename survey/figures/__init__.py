"""Figures, drawn from their exhibits' rows: the same numbers give the same bytes."""

from survey.figures.drawing import as_svg, draw, render
from survey.figures.style import COLOURS, FORMATS, GREY

__all__ = ["COLOURS", "FORMATS", "GREY", "as_svg", "draw", "render"]
