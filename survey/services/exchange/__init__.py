"""A study's bundle, exported, read, replicated and imported; and folders made elsewhere.

tables: a study as plain records, and as tables · kind_files: what the fields of a kind add ·
list_questions: questions of ranked lists · bundle: the zip · parquet: typed tables · input_files:
from a zip or folder to rows · bundle_reader: from rows to records, their analysis, and replication
· bundle_import: a bundle as a read-only study
"""
