"""What a participant is shown: ranked lists, their orders, and the blinding.

rankings: weak orders · questions: lists with their columns · positions: the seeded
stream · generators, discriminative: lists that are drawn · own_lists, trec: a
researcher's own, from files · faults, personal, plan: all that a study fixes, and
what can be wrong with it · words: its texts · blinding: labels and orders per
participant · digests: the study in 64 characters.
"""
