"""Judgements of other programs: from their exports to assessors' files."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from survey.core.text_input import Json, csv_line, escaped
from survey.errors import SurveyError
from survey.services.collections.assessment import check_targets, write_texts
from survey.services.collections.tool_exports import (
    TOOLS,
    ReadingOptions,
    ToolJudgements,
    left_out_counts,
    model_file,
    read_exports,
)
from survey.services.exchange.input_files import MACHINES_FOLDER, read_file

LEFT_OUT, PRIVATE, TOPICS = "left_out.csv", "private.csv", "topics.csv"
ASSESSOR_FILE = re.compile(r"A[0-9]+\.txt")


def read_judgements_of(
    paths: Sequence[Path], tool: str, options: ReadingOptions, folder: Path, *, replace: bool
) -> tuple[ToolJudgements, list[Path]]:
    """Read a tool's files and write assessors' files; return the judgements, and what was written.

    Raises FaultyFilesError with every fault, and SurveyError for files that are there already.
    """
    judgements = read_exports([read_file(path) for path in paths], tool, options)
    texts = {folder / name: "".join(lines) for name, lines in _files_of(judgements)}
    check_targets(texts, paths, replace=replace)
    # Of an earlier reading with more assessors; A*.txt would take these files too.
    stale = [path for path in folder.glob("A*.txt") if ASSESSOR_FILE.fullmatch(path.name)]
    stale = [path for path in stale if path not in texts]
    if stale and not replace:
        raise SurveyError(f"{stale[0]} is there already; --force removes it.")
    for path in stale:
        path.unlink()
    write_texts(texts, [folder / LEFT_OUT, folder / PRIVATE])
    return judgements, [*texts]


def _files_of(judgements: ToolJudgements) -> Iterator[tuple[str, Iterable[str]]]:
    for name, judged in judgements.assessors.items():
        yield f"{name}.txt", _trec_lines(judged)
    models: dict[str, str] = {}
    for model, judged in judgements.machines.items():
        name = f"{MACHINES_FOLDER}/{model_file(model)}"
        if name in models:
            raise SurveyError(
                f"The models {models[name]!r} and {model!r} would share {name}; rename one."
            )
        models[name] = model
        yield name, _trec_lines(judged)
    yield TOPICS, _csv_lines(("topic", "text"), judgements.topics.items())
    yield LEFT_OUT, _csv_lines(("where", "why"), judgements.left_out)
    yield PRIVATE, _csv_lines(("assessor", "name"), judgements.private.items())


def _trec_lines(judged: Iterable[tuple[str, str, int]]) -> Iterator[str]:
    return (f"{topic} 0 {document} {grade}\n" for topic, document, grade in judged)


def _csv_lines(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [csv_line(heading), *(csv_line(map(escaped, row)) for row in rows)]


def judgements_json(judgements: ToolJudgements) -> dict[str, Json]:
    """Return what was read, without the assessors' names."""
    return {
        "assessors": {name: len(judged) for name, judged in judgements.assessors.items()},
        "machines": {model: len(judged) for model, judged in judgements.machines.items()},
        "fields": judgements.fields,
        "topics": judgements.topics,
        "grades": judgements.grades,
        "left_out": dict(left_out_counts(judgements)),
    }


def judgements_sentences(judgements: ToolJudgements, tool: str, folder: Path) -> Iterator[str]:
    """Yield what was read, what each grade became, what was left out, and what to do next."""
    people, topics = len(judgements.assessors), len(judgements.topics)
    count = sum(map(len, judgements.assessors.values()))
    yield (
        f"{TOOLS[tool].title}: {_counted(count, 'judgement')} by {_counted(people, 'assessor')} "
        f"on {_counted(topics, 'topic')}."
    )
    yield f"Read as {'; '.join(f'{name}: {text}' for name, text in judgements.fields.items())}."
    for text, grade in sorted(judgements.grades.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {text} → {grade} ({_counted(judgements.counts[text], 'judgement')})"
    renamed = {name: text for name, text in judgements.topics.items() if name != text}
    if renamed:
        name, text = next(iter(renamed.items()))
        yield f"Topics got names, like {name} for “{text[:60]}”: {TOPICS} has all."
    for model, judged in judgements.machines.items():
        file = folder / MACHINES_FOLDER / model_file(model)
        yield (
            f"{_counted(len(judged), 'answer')} of the model {model} in {file}, for "
            "`survey judge STUDY --file`."
        )
    left_out = [f"{why} ({count})" for why, count in left_out_counts(judgements).items()]
    yield f"Left out: {', '.join(left_out) or 'nothing'}."
    yield (
        f"{PRIVATE} says who A1 is, and {LEFT_OUT} may name people too: only you can read them. Do "
        "not publish them."
    )
    if people > 1:
        yield f"Next: `survey assess merge {folder}/A*.txt --to FOLDER --pooled`."


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count != 1 else ''}"
