"""Clusterings in short, and at random, for the tests."""

from hypothesis import strategies as st

from survey.core.collections.clusterings import members

BIRDS = ("b1", "b2", "b3", "b4", "b5", "b6")


def clusters(**groups):
    """clusters(bird="b1 b2", unknown="x"): document → clusters."""
    found = {}
    for name, documents in groups.items():
        for document in documents.split():
            found.setdefault(document, set()).update({name} - {"unknown"})
    return {document: frozenset(names) for document, names in found.items()}


def partition(word):
    """partition("aab"): documents 0, 1 in cluster a, 2 in b."""
    return {str(place): frozenset(letter) for place, letter in enumerate(word)}


def groups_of(found):
    """The groups of documents and the unknown ones, whatever the clusters are called."""
    groups = sorted(sorted(group) for group in members(found).values())
    return groups, sorted(document for document, names in found.items() if not names)


def renamed(found, mark="new "):
    """The same clusters under other names, which also sort the other way round."""
    names = sorted(members(found))
    other = {name: f"{mark}{len(names) - place:03}" for place, name in enumerate(names)}
    return {document: frozenset(other[one] for one in held) for document, held in found.items()}


CLUSTERINGS = st.dictionaries(
    st.sampled_from("01234567"), st.frozensets(st.sampled_from("abcd"), max_size=2), max_size=8
)
"""Overlapping clusters, unknown documents, and documents that an assessor does not have."""
