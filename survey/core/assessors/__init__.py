"""Judgements by several assessors: labels merged into weights, clusterings compared and joined.

lines: assessors' files, line by line, and what is wrong in them · labels, choices: who chose
which document for a topic, and how far the assessors agree (MiAlbum) · clusterings: which
documents belong together · pairs, comparison: how far two clusterings agree, and why not ·
gold: one clustering from two or three (ImageCLEF 2008).
"""
