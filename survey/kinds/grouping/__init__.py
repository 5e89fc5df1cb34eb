"""The kind "grouping": put a topic's relevant documents into groups that one names (sub-topics).

Two first assessors group all topics; a third those on which the two do not sufficiently agree
(Arni et al. 2008, Sections 4.2 to 4.3.4). What an assessor does is a row of steps; the answer
says that a topic is done.
"""
