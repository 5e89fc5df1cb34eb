"""Runs that groups send to a collection: their limits, feedback, receipts and final scores.

What a group reads follows from ``core.collections.secret``. Nothing is shown of single topics, and
no fault or wait depends on secret judgements.
"""

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any

from sqlalchemy.orm import Session

from survey import __version__
from survey.core.collections.runs import Judgements, Run
from survey.core.collections.secret import (
    DECIMALS,
    MOST_DOCUMENTS,
    RunValues,
    feedback,
    read_complete_run,
    shown_mean,
    starred,
    values_of,
)
from survey.core.given_tables import text_in, unpacked
from survey.core.measures import Measure, measure_named
from survey.core.preflight import share_judged
from survey.core.text_input import FaultyFilesError
from survey.db import queries
from survey.db.engine import begin_reading
from survey.db.models import CollectionGroup, StoredCollection, Submission, now
from survey.db.models.collections import MOST_SUBMISSIONS
from survey.errors import NotAllowedError, SurveyError
from survey.services.analysis.sheets import Sheet, Starred
from survey.services.collections.receipts import Receipt, sign
from survey.services.collections.secret import find_collection, is_closed
from survey.tokens import hash_token

LARGEST_FILE = 1_000_000  # bytes of a run as it is sent, gzipped or not
LARGEST_RUN = 20_000_000  # bytes of a run, unpacked
MOST_FAULTY = 50  # runs of a day that a group may send with faults
THE_RUN = "the run"
LIMITS = {
    "submissions": MOST_SUBMISSIONS,
    "documents": MOST_DOCUMENTS,
    "megabytes": LARGEST_FILE // 1_000_000,
}
"""What the page says of a run."""


@dataclass(frozen=True)
class Task:
    """What scoring a run needs of a collection, read before, so that no lock is held meanwhile."""

    topics: Sequence[str]
    number_open: int
    measures: Sequence[Measure]
    judgements: Judgements
    baselines: Mapping[str, RunValues]

    @classmethod
    def of(cls, collection: StoredCollection) -> "Task":
        """Read the task of a collection."""
        return cls(
            topics=(*collection.open_topics, *collection.final_topics),
            number_open=len(collection.open_topics),
            measures=[measure_named(name) for name in collection.measures],
            judgements=collection.judgements,
            baselines=collection.baselines,
        )

    def open_values(self, scores: RunValues) -> dict[str, Sequence[float]]:
        """Return a run's values for the open topics."""
        return {name: values[: self.number_open] for name, values in scores.items()}

    def final_values(self, scores: RunValues) -> dict[str, Sequence[float]]:
        """Return a run's values for the final topics."""
        return {name: values[self.number_open :] for name, values in scores.items()}

    def share_judged(self, run: Run) -> float:
        """Return which share of the first documents for open topics is judged, as it is shown."""
        first = {topic: run[topic] for topic in self.topics[: self.number_open]}
        judged, total = share_judged(self.judgements, first)
        return round(judged / total, 2)


def submit(session: Session, instance: Path, name: str, token: str, content: bytes) -> Receipt:
    """Score a run that a group sends, and return its signed receipt with the feedback.

    A run that the group sent before gets its receipt again. Raises NotFoundError for an unknown
    collection, NotAllowedError for a wrong token and beyond the limits, and SurveyError for a run
    that cannot be read, which is not counted as a submission.
    """
    group_id, task, earlier, refusal = _read_task(session, name, token)
    try:
        text = unpacked(content, THE_RUN, LARGEST_RUN)
        digest = sha256(text).hexdigest()
        if digest in earlier:
            return earlier[digest]
        if refusal:
            raise NotAllowedError(refusal)
        run = read_complete_run(THE_RUN, text_in(text, THE_RUN, LARGEST_RUN), task.topics)
    except FaultyFilesError as error:
        _count_faulty(session, group_id)
        sentences = [f"{fault[0].upper()}{fault[1:].rstrip('.?')}." for fault in error.faults]
        raise SurveyError("\n".join([*sentences, "No submission is used up."])) from None
    scores = values_of(task.judgements, task.topics, task.measures, run)
    stars = _stars(task, scores)
    group = queries.locked(session, CollectionGroup, id=group_id)
    collection = find_collection(session, name)
    if refusal := _refusal(collection, group):
        raise NotAllowedError(refusal)
    shown = _feedback(task, scores, group.submissions, stars)
    is_new = any(value["is_new"] for value in shown)
    number, day = len(group.submissions) + 1, now().date()
    receipt = sign(
        instance,
        {
            "collection": collection.name,
            "digest": collection.digest,
            "group": group.name,
            "run_sha256": digest,
            "number": number,
            "day": day.isoformat(),
            "shown": shown,
            "judged_at_10": task.share_judged(run) if is_new else None,
            "version": __version__,
        },
    )
    session.add(
        Submission(
            group_id=group_id,
            number=number,
            day=day,
            run_sha256=digest,
            scores=scores,
            receipt=receipt,
        )
    )
    session.commit()
    return receipt


def _read_task(
    session: Session, name: str, token: str
) -> tuple[int, Task, Mapping[str, Receipt], str]:
    """Return a token's group, its task and receipts by run, and why no more runs are taken.

    Nothing stays locked: others need not wait while a run is read and scored.
    """
    session.rollback()
    try:
        begin_reading(session)
        collection = find_collection(session, name)
        group = _group_of(collection, token)
        _refuse_many_faults(group)
        earlier = {sent.run_sha256: sent.receipt for sent in group.submissions}
        return group.id, Task.of(collection), earlier, _refusal(collection, group)
    finally:
        session.rollback()


def _group_of(collection: StoredCollection, token: str) -> CollectionGroup:
    """Return the group of a token; every group's is compared, each in constant time."""
    sent = hash_token(token.strip())
    known = [group for group in collection.groups if hmac.compare_digest(group.token_hash, sent)]
    if not known:
        raise NotAllowedError(
            "The token is not that of a group of this collection. Check that it is complete; the "
            "organiser can make a new one."
        )
    return known[0]


def _refuse_many_faults(group: CollectionGroup) -> None:
    if group.faulty_on == now().date() and group.faulty >= MOST_FAULTY:
        raise NotAllowedError(
            f"Your group has sent {MOST_FAULTY} runs with faults today (UTC). Check the run with "
            "`survey evaluate` and the public judgements, and send it tomorrow."
        )


def _count_faulty(session: Session, group_id: int) -> None:
    group = queries.locked(session, CollectionGroup, id=group_id)
    today = now().date()
    group.faulty = group.faulty + 1 if group.faulty_on == today else 1
    group.faulty_on = today
    session.commit()


def _refusal(collection: StoredCollection, group: CollectionGroup) -> str:
    """Return why a group's next run is not taken now, "" if it is."""
    if is_closed(collection):
        return f"{collection.name} is closed and takes no more runs."
    if len(group.submissions) >= MOST_SUBMISSIONS:
        return f"Your group has used its {MOST_SUBMISSIONS} submissions."
    if group.submissions and group.submissions[-1].day >= now().date():
        return "Your group has sent its run of today. It can send the next one tomorrow (UTC)."
    return ""


def _stars(task: Task, scores: RunValues) -> dict[str, tuple[str, str]]:
    """Return for each measure the best baseline and the run's stars against it, open topics."""
    baselines = {name: task.open_values(values) for name, values in task.baselines.items()}
    topics = task.topics[: task.number_open]
    marked = starred(task.measures, {THE_RUN: task.open_values(scores)}, baselines, topics)
    return {measure: (name, stars[THE_RUN]) for measure, (name, stars) in marked.items()}


def _feedback(
    task: Task,
    scores: RunValues,
    earlier: Sequence[Submission],
    stars: Mapping[str, tuple[str, str]],
) -> list[dict[str, Any]]:
    """Return what a group reads of each measure; stars and baseline only with a new value."""
    shown = []
    for measure in task.measures:
        name = measure.name
        best = best_submission(earlier, name)
        before = task.open_values(best.scores)[name] if best else None
        value, is_new = feedback(task.open_values(scores)[name], before, measure.better)
        baseline, marks = stars.get(name, (None, "")) if is_new else (None, "")
        shown.append(
            {
                "measure": name,
                "value": value,
                "is_new": is_new,
                "stars": marks,
                "baseline": baseline,
            }
        )
    return shown


def best_submission(submissions: Sequence[Submission], measure: str) -> Submission | None:
    """Return the last submission whose value of a measure was shown as new; None without any."""
    new = [
        sent
        for sent in submissions
        for shown in sent.receipt["shown"]
        if shown["measure"] == measure and shown["is_new"]
    ]
    return new[-1] if new else None


def results_sheet(collection: StoredCollection) -> Sheet:
    """Return the means over the final topics of each group's best run.

    The best run is the one whose value of the first measure was shown last as new, so final
    topics have no part in the choice. Raises NotAllowedError before the collection is closed.
    """
    if not is_closed(collection):
        raise NotAllowedError(f"{collection.name} still takes runs.")
    task, names = Task.of(collection), collection.measures
    best = {group.name: best_submission(group.submissions, names[0]) for group in collection.groups}
    runs = {name: task.final_values(run.scores) for name, run in best.items() if run}
    baselines = {name: task.final_values(values) for name, values in task.baselines.items()}
    stars = _final_stars(json.dumps([names, runs, baselines, collection.final_topics]))
    rows: list[tuple[str | Starred, ...]] = [
        (name, *(_starred(values, of, stars.get(of, ("", {}))[1].get(name, "")) for of in names))
        for name, values in runs.items()
    ]
    rows += [
        (f"baseline {name}", *(_starred(values, of) for of in names))
        for name, values in baselines.items()
    ]
    rows.sort(key=lambda row: row[1], reverse=task.measures[0].better == "higher")
    against = " and ".join(f"{name} in {of}" for of, (name, _) in stars.items())
    return Sheet(
        "final",
        f"Means over {len(collection.final_topics)} final topics",
        ("group", *names),
        tuple(rows),
        f"Stars: better than the best baseline, {against}." if against else "",
    )


@lru_cache(maxsize=100)
def _final_stars(scores: str) -> dict[str, tuple[str, dict[str, str]]]:
    """Return the stars of final scores, which are JSON: they take a second of 20 groups."""
    names, runs, baselines, topics = json.loads(scores)
    return starred([measure_named(name) for name in names], runs, baselines, topics) if runs else {}


def baselines_sheet(collection: StoredCollection) -> Sheet:
    """Return the baselines' means over the open topics, rounded as the feedback is."""
    task = Task.of(collection)
    rows: list[tuple[str | float, ...]] = [
        (name, *(shown_mean(task.open_values(values)[of]) for of in collection.measures))
        for name, values in collection.baselines.items()
    ]
    return Sheet(
        "baselines",
        f"Means over {len(collection.open_topics)} open topics",
        ("run", *collection.measures),
        tuple(rows),
        decimals=DECIMALS,
    )


def _starred(values: RunValues, measure: str, stars: str = "") -> Starred:
    return Starred(fmean(values[measure]), stars)
