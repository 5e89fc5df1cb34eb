"""Surveys that compare measures of ranked search results with human judgement."""

__version__ = "0.2.0"
