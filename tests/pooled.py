"""A small text collection in files, with runs whose first documents are pooled and judged."""

import gzip
import json
import random
from string import ascii_lowercase

GRADES = [
    {"value": 0, "name": "Not relevant"},
    {"value": 1, "name": "Partly relevant"},
    {"value": 2, "name": "Relevant"},
]


def a_text_collection(folder, topics=3, runs=2, documents=30, returned=20, seed=1):
    """Write corpus.jsonl.gz, queries.jsonl, qrels.txt and runs to a folder; return the runs' paths.

    Of each topic's documents the first tenth have grade 2, the next tenth 1. Runs rank by the grade
    and chance, each worse than the one before it. The corpus has documents that no run returns.
    """
    chance = random.Random(seed)
    corpus, queries, qrels = [], [], []
    lines = {f"run-{letter}": [] for letter in ascii_lowercase[:runs]}
    for number in range(topics):
        topic = str(301 + number)
        about = {"description": f"Pages on subject {topic}.", "narrative": "Adverts do not count."}
        queries.append({"topic": topic, "text": f"subject {topic}", **about})
        grades = {}
        for place in range(documents):
            document = f"doc-{topic}-{place}"
            grades[document] = 2 if place < documents / 10 else 1 if place < documents / 5 else 0
            words = f"Subject {topic}, part {place}. " * (1 + place % 7)
            corpus.append({"_id": document, "title": f"Page {place} of {topic}", "text": words})
        qrels += [f"{topic} 0 {document} {grade}" for document, grade in grades.items()]
        for noise, run in enumerate(lines, 1):
            scores = {each: grade + chance.gauss(0, noise / 2) for each, grade in grades.items()}
            first = sorted(scores, key=scores.get, reverse=True)[:returned]
            lines[run] += [
                f"{topic} Q0 {document} {rank} {100 - rank} {run}"
                for rank, document in enumerate(first, 1)
            ]
    corpus += [{"_id": f"other-{each}", "title": "Other", "text": "?"} for each in range(50)]
    packed = gzip.compress("".join(json.dumps(each) + "\n" for each in corpus).encode(), mtime=0)
    (folder / "corpus.jsonl.gz").write_bytes(packed)
    (folder / "queries.jsonl").write_text("".join(json.dumps(each) + "\n" for each in queries))
    (folder / "qrels.txt").write_text("\n".join(qrels) + "\n")
    for run, of_run in lines.items():
        (folder / f"{run}.run").write_text("\n".join(of_run) + "\n")
    return [folder / f"{run}.run" for run in lines]


def pooling(folder, runs, depth=5):
    """The options of `survey study new` for these files."""
    return (
        *("--kind", "labelling", "--run", *runs, "--pool-depth", depth),
        *("--items", folder / "corpus.jsonl.gz", "--topics-file", folder / "queries.jsonl"),
    )
