"""What a participant is shown: ranked lists, their orders, and the blinding.

rankings: weak orders · questions: lists with their columns · generators: where
lists come from · own_lists, trec: a researcher's own, from files · plan: all that a
study fixes · blinding: labels and orders per participant · digests: the study in 64
characters.
"""
