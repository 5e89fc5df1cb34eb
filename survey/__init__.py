"""Surveys that compare measures of ranked search results with human judgement."""

__version__ = "0.1.0"
