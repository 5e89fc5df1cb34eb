"""Sheets and whole analyses as tables on the terminal."""

import click

from survey.cli.printing import heading, say
from survey.cli.tables import print_table
from survey.services.analysis import Analysis
from survey.services.reporting.counts_tables import flags_sheet
from survey.services.reporting.sheets import Sheet, text_of
from survey.services.reporting.tables import tables_of


def print_sheet(sheet: Sheet) -> None:
    """Print a table with its note."""
    rows = [[text_of(cell, sheet.decimals) for cell in row] for row in sheet.rows]
    print_table(sheet.title, sheet.columns, rows)
    if sheet.note:
        say(sheet.note)
        click.echo()


def print_analysis(result: Analysis) -> None:
    """Print what the votes support, then every table behind it, and the quality flags."""
    click.echo()
    heading("What the votes support")
    for one in result.verdicts:
        say(one.sentence, "- ", "  ")
    click.echo()
    for sheet in tables_of(result):
        print_sheet(sheet)
    if result.flags:
        print_sheet(flags_sheet(result))
