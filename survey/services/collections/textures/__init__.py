"""A test collection of real photographs, cut into patches: N = 100, five relevant for each query.

It is what ``survey collect`` makes of the patches that ``build.py`` cuts. SOURCES.csv names each
photograph's author and licence.
"""
