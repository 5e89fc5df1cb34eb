"""From stored answers to results: JSON, tables, report."""
