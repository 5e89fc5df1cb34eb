"""Documents' keywords with their weights, how alike two documents are by them, and what follows.

MiAlbum's Eqs. 8–12 are lost as images: the similarity and what is made of it are our reading.
"""

from collections.abc import Iterable, Mapping
from math import fsum

from survey.core.collections.runs import GroundTruth
from survey.core.given_tables import Columns, table_in
from survey.core.text_input import FaultyFilesError, FileFaults, shortened

Keywords = Mapping[str, Mapping[str, float]]
"""Document → keyword → the share of annotators who chose it, above 0 and up to 1."""

NEWLINES = "\r\n"
KEYWORD_COLUMNS = Columns(("document", "keyword", "weight"))


def read_keywords(file: str, lines: Iterable[str], faults: FileFaults) -> Keywords:
    """Read a table of KEYWORD_COLUMNS; each invalid row adds a sentence to ``faults``."""
    documents: dict[str, dict[str, float]] = {}
    try:
        table = table_in(
            "".join(f"{line.rstrip(NEWLINES)}\n" for line in lines), file, KEYWORD_COLUMNS
        )
    except FaultyFilesError as error:
        faults.extend(error.faults)
        return documents
    for row in table.rows:
        document, keyword, weight = row["document"], row["keyword"], row.number_in("weight")
        place = f"{file}, row {row.number}"
        empty = [name for name in KEYWORD_COLUMNS.needed if not row[name]]
        if empty:
            faults.add(f"{place}, column {empty[0]}: nothing found; a value is needed")
        elif weight is None or not 0 < weight <= 1:
            allowed = "a share above 0 and up to 1 is allowed"
            faults.add(f"{place}: weight {shortened(row['weight'])} found; {allowed}")
        elif keyword in documents.setdefault(document, {}):
            again = f"document {shortened(document)} with {shortened(keyword)} found again"
            faults.add(f"{place}: {again}; once is allowed")
        else:
            documents[document][keyword] = weight
    faults.columns_not_read[file] = table.columns_not_read
    return documents


def similarity(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Return the weighted Jaccard index of two documents' keyword weights, in [0, 1].

    s = Σ min(w_k, v_k) / Σ max(w_k, v_k) over all keywords, an absent one having weight 0: 1 for
    equal weights, 0 without a common keyword.

    Source: ours, for MiAlbum's Eqs. 8–9, which are lost.
    """
    either = sorted(first.keys() | second.keys())
    pairs = [(first.get(keyword, 0.0), second.get(keyword, 0.0)) for keyword in either]
    total = fsum(max(pair) for pair in pairs)
    return fsum(min(pair) for pair in pairs) / total if total else 0.0


def truth_by_keywords(keywords: Keywords, topics: Iterable[str]) -> GroundTruth:
    """Return what is relevant to each topic that is a document, weighted by the similarity to it.

    Documents that share a keyword with the topic's are relevant; the document itself is left out.
    """
    holders: dict[str, list[str]] = {}
    for document, words in keywords.items():
        for keyword in words:
            holders.setdefault(keyword, []).append(document)
    weights: dict[str, dict[str, float]] = {}
    for topic in topics:
        if topic in keywords:
            own = keywords[topic]
            alike = {each for word in own for each in holders[word]} - {topic}
            weights[topic] = {each: similarity(own, keywords[each]) for each in sorted(alike)}
    judgements = {topic: dict.fromkeys(shares, 1) for topic, shares in weights.items()}
    return GroundTruth(judgements, weights)
