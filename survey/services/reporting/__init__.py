"""An analysis for readers: tables for a paper, figures, one page of HTML.

sheets: a table, and how it is written in LaTeX, Markdown and CSV · tables: the tables of
an analysis · report: the page and the folder.
"""
