"""The collection that comes along: N = 100 drawings of everyday things, 5 relevant for each query.

It is what ``survey collect`` makes of the albums that ``build.py`` writes. SOURCES.csv names each
drawing's title, author and licence.
"""
