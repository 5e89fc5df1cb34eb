"""Judgements by several assessors, for ``survey assess``.

files: read and written · judgements: labels merged, clusterings compared and joined ·
label_sheets, cluster_sheets: what comes out, as files, tables, JSON and sentences.
"""
