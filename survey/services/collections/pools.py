"""Pools of documents to judge: read from runs or from a file, as fields of a labelling plan."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from survey.core.collections.labels import sorted_topics
from survey.core.collections.pools import DEEPEST_POOL as DEEPEST_POOL
from survey.core.collections.pools import (
    RANDOM,
    StudyPool,
    counted,
    first_documents,
)
from survey.core.collections.runs import (
    RUN_LINE,
    names_of_runs,
    read_judgements,
    read_run,
    read_values,
    sort_of,
)
from survey.core.given_tables import Columns, heading_names, table_in
from survey.core.preflight import Warned
from survey.core.studies.fields import list_words
from survey.core.studies.run_lists import TextFile
from survey.core.text_input import FaultyFilesError, FileFaults, lines_of, parse_whole, shortened
from survey.services.exchange.input_files import BundleError, SourceFiles

USUAL_DEPTH = 20
PAIR_LINE = "topic document"
PAIRS = Columns(
    ("topic", "document"),
    (),
    {
        **dict.fromkeys(("topic_id", "query_id", "query-id", "qid"), "topic"),
        **dict.fromkeys(("docno", "doc_id", "docid", "corpus-id"), "document"),
    },
    bare=("topic", "document"),
)
GOLD = Columns(
    ("topic", "document", "relevance"),
    ("reason",),
    {**PAIRS.others, **dict.fromkeys(("rel", "score", "rating", "grade", "label"), "relevance")},
)


@dataclass(frozen=True)
class PooledFields:
    """The fields of a labelling plan that files of a pool decide, and what is to be known of them.

    ``sentences``: how large the pool is, for the researcher.
    """

    fields: Mapping[str, Any]
    sentences: tuple[str, ...]
    warnings: tuple[Warned, ...] = ()


def pool_fields(
    *,
    runs: Sequence[TextFile] = (),
    pool_file: TextFile | None = None,
    depth: int | None = None,
    order: str = RANDOM,
    topics: Collection[str] = (),
    known_topics: Collection[str] = (),
    judged: TextFile | None = None,
    gold: TextFile | None = None,
) -> PooledFields:
    """Return the fields of a plan whose annotators judge a pool; of other settings none.

    ``order``: in which annotators meet the documents: random, fusion or likeness. ``runs``: whose
    first ``depth`` documents (USUAL_DEPTH by default) are pooled, or ``pool_file``: a table of
    topic and document, judgements or a run. ``topics``: those to be asked, by default
    all of ``known_topics`` (of a file of topics) that have a pool, or simply all. ``judged``:
    earlier judgements; ``gold``: a table of topic, document, relevance and reason. Raises
    FaultyFilesError with what is wrong with the files.
    """
    fields: dict[str, Any] = {}
    sentences: list[str] = []
    pairs: Collection[tuple[str, str]] = ()
    if runs or pool_file:
        pool, left_out = _pool(runs, pool_file, depth, order, topics, known_topics)
        fields = {"pool": asdict(pool), "topics": pool.topics}
        sentences, pairs = [pool.sentence, *left_out], pool.pairs
    if judged is not None:
        faults = FileFaults()
        fields["judged"] = read = read_judgements(judged.name, lines_of(judged.text), faults)
        faults.raise_any()
        known = {(topic, document) for topic, grades in read.items() for document in grades}
        sentences += [f"{judged.name}: {len(known & {*pairs}):,} pooled documents are judged."]
    warnings: list[Warned] = []
    if gold is not None:
        fields["gold"] = rows = read_gold_file(gold)
        pooled = sum((row["topic"], row["document"]) in pairs for row in rows)
        if pooled:
            text = f"{gold.name}: {pooled:,} of its {len(rows):,} documents are in the pool. They "
            text += "are shown as gold documents only, and are in no judgements"
            warnings.append(Warned("gold-in-pool", gold.name, text, pooled, len(rows)))
    return PooledFields(fields, tuple(sentences), tuple(warnings))


def _pool(
    runs: Sequence[TextFile],
    pool_file: TextFile | None,
    depth: int | None,
    order: str,
    topics: Collection[str],
    known_topics: Collection[str],
) -> tuple[StudyPool, list[str]]:
    """Return the pool of the topics to be asked, and a sentence where others are left out."""
    named = [*runs, *([pool_file] if pool_file else [])]
    read = pool_of_runs(runs, depth or USUAL_DEPTH) if runs else {}
    documents = {} if pool_file is None else read_pool_file(pool_file, depth)
    sources = tuple((file.name, file.sha256) for file in named)
    pool = StudyPool(order, depth or (USUAL_DEPTH if runs else None), read, documents, sources)
    asked, left_out = _chosen_topics(pool, topics, known_topics)
    pool = StudyPool(
        *(pool.order, pool.depth),
        {name: _of_topics(first, asked) for name, first in read.items()},
        *(_of_topics(documents, asked), sources),
    )
    return pool, [left_out] * bool(left_out)


def pool_of_runs(runs: Sequence[TextFile], depth: int) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the first documents of each run by topic; raises FaultyFilesError."""
    if not 1 <= depth <= DEEPEST_POOL:
        raise FaultyFilesError([f"a pool of depth {depth}: 1 to {DEEPEST_POOL} are allowed"])
    names = names_of_runs(
        [run.name for run in runs],
        lambda index: lines_of(runs[index].text),
        [run.run for run in runs],
    )
    faults = FileFaults()
    read = {
        name: read_run(run.name, lines_of(run.text), faults)
        for name, run in zip(names, runs, strict=True)
    }
    faults.raise_any()
    return first_documents(read, depth)


def read_pool_file(file: TextFile, depth: int | None = None) -> dict[str, tuple[str, ...]]:
    """Return the documents of each topic of a table, of judgements, or of a run (the first ones).

    Raises FaultyFilesError.
    """
    faults = FileFaults()
    lines = [*lines_of(file.text)]
    first = next((line for line in lines if line.strip()), "")
    sort = sort_of(lines[:50])
    topics: Mapping[str, Collection[str]]
    if {"topic", "document"} <= heading_names(first, PAIRS):
        topics = _pairs_of_table(file, faults)
    elif sort == "judgements":
        topics = read_judgements(file.name, lines, faults)
    elif sort == "a run" or len(first.split()) == len(RUN_LINE.split()):
        run = read_run(file.name, lines, faults)
        faults.raise_any()
        return first_documents({"": run}, depth)[""]
    elif first.lstrip().startswith("{") and '"topic' not in first:
        topics = read_judgements(file.name, lines, faults)  # a JSON object of topics
    elif len(first.split()) == len(PAIR_LINE.split()):
        once, allowed = "once is allowed", "an id is allowed"
        form = (PAIR_LINE, "document")
        topics = read_values((file.name, lines, faults), form, str, allowed=allowed, once=once)
    else:
        topics = _pairs_of_table(file, faults)
    faults.raise_any()
    return {topic: tuple(topics[topic]) for topic in sorted_topics(topics)}


def _pairs_of_table(file: TextFile, faults: FileFaults) -> dict[str, list[str]]:
    topics: dict[str, list[str]] = {}
    for row in table_in(file.text, file.name, PAIRS).rows:
        empty = next((name for name in PAIRS.needed if not row[name]), "")
        documents = topics.setdefault(row["topic"], [])
        if empty:
            faults.add(row.fault(empty, "nothing found; a value is needed"), row.number)
        elif row["document"] not in documents:
            documents.append(row["document"])
    return topics


def recompute_pool(
    pool: StudyPool, topics: Sequence[str], sources: SourceFiles | None
) -> Iterator[str]:
    """Compare a study's pool with its files; yield a sentence for each check.

    Raises BundleError where the files give other documents, or have another SHA-256.
    """
    if sources is None:
        yield "not recomputed: the pooled documents, as --run does not name their files"
        return
    try:
        if pool.runs:
            read: Mapping[str, Mapping[str, Sequence[str]]] = pool_of_runs(
                sources.runs, pool.depth or USUAL_DEPTH
            )
            known: Mapping[str, Mapping[str, Sequence[str]]] = pool.runs
        else:
            first = sources.runs[0]
            read, known = {"": read_pool_file(first, pool.depth)}, {"": pool.documents}
    except FaultyFilesError as error:
        raise BundleError(str(error)) from None
    if {*read} != {*known}:
        names = f"{list_words(sorted(read))} were read; the pool's are {list_words(sorted(known))}"
        raise BundleError(f"the runs {names}, each named by its file, or as --run NAME=FILE")
    for name, documents in known.items():
        for topic in topics:
            if tuple(documents.get(topic, ())) != tuple(read[name].get(topic, ())):
                place = f"topic {topic}{f', run {name}' if name else ''}"
                raise BundleError(f"{place}: the plan has other first documents than the file")
    yield f"the pooled documents of {counted(len(topics), 'topic')} come out of the files again"
    digests = {file.sha256 for file in sources.runs}
    for name, digest in pool.sources:
        if digest not in digests:
            fault = f"no file has the SHA-256 of the study's {name}, {digest}"
            raise BundleError(f"{fault}; the documents are the same")
    yield f"{len(pool.sources)} files have the SHA-256 that the plan gives"


def read_gold_file(file: TextFile) -> list[dict[str, Any]]:
    """Return the rows of a table of gold documents, as a plan has them; raises FaultyFilesError."""
    faults = FileFaults()
    rows = []
    for row in table_in(file.text, file.name, GOLD).rows:
        grade = parse_whole(row["relevance"].removesuffix(".0"))
        if grade is None:
            found = f"{shortened(row['relevance'])} found; a whole number is needed"
            faults.add(row.fault("relevance", found), row.number)
        for name in ("topic", "document"):
            if not row[name]:
                faults.add(row.fault(name, "nothing found; a value is needed"), row.number)
        texts = {name: row[name] for name in ("topic", "document", "reason")}
        rows.append({**texts, "relevance": grade})
    faults.raise_any()
    return rows


def _chosen_topics(
    pool: StudyPool, topics: Collection[str], known: Collection[str]
) -> tuple[list[str], str]:
    """Return the topics to be asked, and a sentence about those of the pool that are left out."""
    pooled = pool.topics
    if missing := [topic for topic in topics if topic not in pooled]:
        raise FaultyFilesError([f"topic {shortened(missing[0])} has no document in the pool"])
    if topics:
        return [*topics], ""
    asked = [topic for topic in pooled if topic in known] if known else pooled
    if not asked:
        example = f"“{pooled[0]}”" if pooled else "nothing"
        fault = f"no topic is in both: the pool has {example}, the file of topics “{min(known)}”"
        raise FaultyFilesError([fault])
    left = [topic for topic in pooled if topic not in {*asked}]
    count = f"{len(left)} topic{'s' * (len(left) != 1)}"
    where = "without a row in the file of topics"
    return asked, f"Left out: {count} {where} (first: {left[0]})." if left else ""


def _of_topics(
    documents: Mapping[str, tuple[str, ...]], topics: Collection[str]
) -> dict[str, tuple[str, ...]]:
    wanted = {*topics}
    return {topic: listed for topic, listed in documents.items() if topic in wanted}
