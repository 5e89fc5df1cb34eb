"""A study's bundle, exported, read, replicated and imported; and folders made elsewhere.

content: a study as plain records · csv_tables: what a CSV table is · bundle_tables,
ordering_tables, codebook, study_file: the files · bundle: the zip · parquet: typed tables ·
input_files: from a zip or folder to rows · reading, ordering_reading: from rows to records, and
their analysis · replication: recompute everything · bundle_import: a read-only study
"""
