"""Handing a study out, and taking one in: the bundle.

content: a study as plain records · tables: the files with their columns · codebook:
what each column means · export: from the database to a zip · reading: from a zip or
folder to records · replicate: everything recomputed · intake: a bundle as a study that
is only looked at · analysing: the analysis of a bundle, or of a folder made elsewhere
(foreign).
"""
