"""The order of the documents that a run returned for a topic."""

from collections.abc import Mapping


def ranking(scores: Mapping[str, float]) -> list[str]:
    """Return the documents by score, highest first; equal scores by docid, the last one first.

    The docids are compared character by character ("d9" comes before "d10"), and the rank
    column is ignored: the order of trec_eval (``comp_sim_docno``). Scores are compared in
    double precision, as trec_eval does from version 10.

    Source: trec_eval, form_res_rels.c.
    """
    return sorted(scores, key=lambda document: (scores[document], document), reverse=True)
