"""What a chosen file holds, in a sentence, before a study is made of it."""

from collections.abc import Callable
from pathlib import PurePosixPath

from survey.core.collections.runs import read_judgements, read_run_and_facts, run_name
from survey.core.given_tables import text_in
from survey.core.studies.run_lists import TextFile
from survey.core.text_input import FaultyFilesError, FileFaults, lines_of
from survey.errors import SurveyError
from survey.services.analysis.sheets import count_of
from survey.services.collections import items as collection
from survey.services.collections.item_files import PICTURE_ENDING, is_table_name, is_table_of
from survey.services.collections.pictures import PictureError, make_picture
from survey.services.collections.pools import read_gold_file, read_pool_file
from survey.services.studies.plans import PlanFileError, read_lists_csv, read_plan

LARGEST_READ = 20_000_000  # bytes; a larger file is read when the study is made
LARGEST_UNPACKED = 50_000_000


def report(sort: str, name: str, content: bytes) -> tuple[str, bool]:
    """Return a sentence about a file, and whether it can be what it was chosen as.

    ``sort``: the name of the field that it was chosen in.
    """
    size = f"{len(content) / 1000:,.0f} kB" if len(content) >= 1000 else f"{len(content)} bytes"
    read = READERS.get(sort)
    if read is None or len(content) > LARGEST_READ:
        return f"{size}.", True
    try:
        return read(name, content), True
    except FaultyFilesError as error:
        faults = error.faults
    except PlanFileError as error:
        faults = error.faults
    except (SurveyError, PictureError, ValueError) as error:
        faults = tuple(str(error).splitlines())
    first, others = faults[0].removeprefix(f"{name}: "), len(faults) - 1
    more = f" And {count_of(others, 'fault')} more." if others else ""
    return f"{first}{'.' * (not first.endswith(('.', '?')))}{more}", False


def _judgements(name: str, content: bytes) -> str:
    faults = FileFaults()
    judged = read_judgements(name, lines_of(_text(name, content)), faults)
    faults.raise_any()
    grades = [grade for of_topic in judged.values() for grade in of_topic.values()]
    relevant = sum(grade > 0 for grade in grades)
    documents = count_of(len(grades), "document")
    return f"{count_of(len(judged), 'topic')}, {documents} judged, {relevant:,} relevant."


def _run(name: str, content: bytes) -> str:
    faults = FileFaults()
    run, _ = read_run_and_facts(name, lines_of(_text(name, content)), faults)
    faults.raise_any()
    lengths = [len(scores) for scores in run.values()] or [0]
    depth = f"{min(lengths)} to {max(lengths)}" if min(lengths) < max(lengths) else str(lengths[0])
    return f"Run {run_name(name)}: {count_of(len(run), 'topic')}, {depth} documents each."


def _lists(name: str, content: bytes) -> str:
    lists = read_lists_csv(_text(name, content), name)
    most = max(map(len, lists.questions))
    return f"{count_of(len(lists.questions), 'question')} of {most} lists."


def _topics(name: str, content: bytes) -> str:
    topics = collection.read_topics(content, name, collection.Intake())
    return f"{count_of(len(topics), 'topic')}, first: {topics[0].text or topics[0].topic}."


def _items(name: str, content: bytes) -> str:
    if name.lower().endswith(".zip"):
        return f"A zip of {len(content) / 1000:,.0f} kB."
    if is_table_name(name):
        if is_table_of(name, "topics"):
            return _topics(name, content)
        intake = collection.Intake()
        items = collection.read_items(content, name, intake)
        pictures = sum(item.file is not None for item in items)
        return f"{count_of(len(items), 'document')}, {pictures} of them with a picture."
    if PICTURE_ENDING.search(name):
        picture = make_picture(content)
        return f"A picture of {picture.width} × {picture.height} pixels."
    return f"{len(content) / 1000:,.0f} kB."


def _pool_file(name: str, content: bytes) -> str:
    topics = read_pool_file(TextFile(name, _text(name, content)))
    documents = count_of(sum(map(len, topics.values())), "document")
    return f"{count_of(len(topics), 'topic')}, {documents} to judge."


def _gold(name: str, content: bytes) -> str:
    rows = read_gold_file(TextFile(name, _text(name, content)))
    topics = count_of(len({row["topic"] for row in rows}), "topic")
    return f"{count_of(len(rows), 'document')} with known answers, of {topics}."


def _plan(name: str, content: bytes) -> str:
    plan = read_plan(_text(name, content), name).plan
    return f"“{plan.title}”, {count_of(plan.questions, 'question')}."


def _text(name: str, content: bytes) -> str:
    return text_in(content, PurePosixPath(name).name, LARGEST_UNPACKED)


READERS: dict[str, Callable[[str, bytes], str]] = {
    **dict.fromkeys(("judgements", "qrels", "judged"), _judgements),
    **dict.fromkeys(("runs", "pool"), _run),
    "pool_file": _pool_file,
    "gold": _gold,
    "lists": _lists,
    "topics_file": _topics,
    "topics": _topics,
    "items": _items,
    "plan": _plan,
}
