"""Answers of people and of a machine, drawn around a truth."""

import numpy as np

PEOPLE = ("ada", "bea", "cyd", "dan")


def labelled(seed, units=200, right=0.85, machine=None, levels=2, people=PEOPLE, relevant=0.4):
    """Draw the answers of people who are right with a chance, and of a machine."""
    chance = np.random.default_rng(seed)
    truth = chance.random(units) < relevant if levels == 2 else chance.integers(0, levels, units)
    truth = truth.astype(int)

    def answers(share):
        known = chance.random(units) < share
        return dict(enumerate(np.where(known, truth, chance.integers(0, levels, units)).tolist()))

    return {name: answers(right) for name in people}, answers(right if machine is None else machine)


def topics_of(units, topics):
    return {unit: f"topic {unit % topics}" for unit in range(units)}
