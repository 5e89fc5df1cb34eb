"""The kind "labelling": mark, batch by batch, which documents are relevant to a query.

A query is a topic: a picture, a text, or both. What an annotator does is a row of steps: marks,
batches, and new rankings by the marks. The answer says that a query is done.
"""
