"""Ask a machine a study's questions, go on after any interruption, and make the record of it."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from survey.core.kinds import KINDS
from survey.core.text_input import Json
from survey.errors import SurveyError
from survey.services.exchange.input_files import MACHINES_FOLDER, BundleError
from survey.services.exchange.tables import Content
from survey.services.machines.endpoint import Endpoint
from survey.services.machines.records import (
    ANSWERED,
    ANSWERS_FILE,
    FIRST,
    RECORD_FORMAT,
    REFUSED,
    REPLIES_FILE,
    SWAPPED,
    UNREADABLE,
    MachineAnswer,
    MachineRecord,
    answer_lines,
    lines_digest,
)
from survey.services.machines.requests import (
    PROMPT_VERSION,
    SYSTEM,
    Question,
    Request,
    met_plan,
    questions_for,
    request_for,
)

AT_ONCE = 4  # requests
MOST_READINGS = 3  # of a question whose reply cannot be read, or is refused
CHARACTERS_PER_TOKEN, TOKENS_PER_PICTURE, TOKENS_PER_REPLY = 4, 800, 40  # for an estimate
CACHE_FOLDER = "machines"  # in the instance folder
Key = tuple[str, int]
"""The digest of a request, and the number of the sample."""


class Settings(NamedTuple):
    """How a machine is asked; ``pool``: documents of topics, empty for the usual."""

    model: str
    samples: int = 1
    orders: Sequence[str] = (FIRST,)
    pool: Mapping[str, Sequence[str]] = {}
    simulated: str = ""

    @property
    def temperature(self) -> float:
        """0 for one sample, else 1: several samples at 0 would be the same."""
        return 0.0 if self.samples == 1 else 1.0


class Budget(NamedTuple):
    """The most requests, minutes and cost of one start; prices are for a million tokens."""

    requests: int | None = None
    minutes: float | None = None
    cost: float | None = None
    price_in: float = 0.0
    price_out: float = 0.0

    def price_of(self, tokens_in: int, tokens_out: int) -> float:
        """Return what tokens cost."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1_000_000


class Estimate(NamedTuple):
    """What a study asks of a machine, before anything is sent."""

    requests: int
    pictures: int
    texts: int
    tokens_in: int
    tokens_out: int


@dataclass
class Progress:
    """What one start has done so far."""

    done: int = 0
    failed: int = 0
    sent: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    started: float = field(default_factory=monotonic)

    def add(self, reply: Mapping[str, Any]) -> None:
        """Count a reply that came now."""
        self.sent += int(reply["tries"])
        self.tokens_in += int(reply["tokens_in"])
        self.tokens_out += int(reply["tokens_out"])

    def spent(self, budget: Budget) -> str:
        """Return which part of the budget is used up, "" for none."""
        if budget.requests is not None and self.sent >= budget.requests:
            return f"{self.sent} requests are sent, the most that --most-requests allows"
        if budget.minutes is not None and monotonic() - self.started >= budget.minutes * 60:
            return f"{budget.minutes:g} minutes are over, the most that --most-minutes allows"
        cost = budget.price_of(self.tokens_in, self.tokens_out)
        if budget.cost is not None and cost >= budget.cost:
            return f"{cost:.2f} is spent, the most that --most-cost allows"
        return ""


class ReplyCache:
    """The replies so far, in a file with a line for each, so that a start goes on after any end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._replies: dict[Key, dict[str, Any]] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    reply = json.loads(line)
                except ValueError:
                    continue  # the line that was being written when the process ended
                self._replies[reply["request"], reply["sample"]] = reply

    def get(self, key: Key) -> dict[str, Any] | None:
        """Return a reply, None where the machine was not asked yet."""
        return self._replies.get(key)

    def add(self, reply: dict[str, Any]) -> None:
        """Keep a reply, in the file before in memory."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            if file.tell() and not self._ends_with_line():
                file.write("\n")
            file.write(json.dumps(reply, ensure_ascii=False, sort_keys=True) + "\n")
        self._replies[reply["request"], reply["sample"]] = reply

    def _ends_with_line(self) -> bool:
        with self._path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) == b"\n"

    def remove(self) -> None:
        """Delete the file, once a record holds its replies."""
        self._path.unlink(missing_ok=True)


def cache_path(instance: Path, content: Content, settings: Settings) -> Path:
    """Return where the replies of a study and model are kept until their record is made."""
    name = lines_digest([settings.model, settings.simulated])[:12]
    return instance / CACHE_FOLDER / f"{content.digest[:12]}-{name}.jsonl"


class Judging:
    """The questions of a study for one machine; ``pictures``: by the SHA-256 of their files."""

    def __init__(self, content: Content, settings: Settings, pictures: Mapping[str, bytes]) -> None:
        self.content, self.settings, self.pictures = content, settings, pictures
        self.kind: Any = KINDS[content.plan.kind]
        self.plan = met_plan(content.plan)
        self.schema = self.kind.reply_schema(self.plan)
        # Now, so that no transaction has to stay open until the machine has answered.
        self.units = [*self.kind.machine_units(content, settings.pool)]

    def questions(self) -> Iterator[tuple[Question, Request]]:
        """Yield each question with its request."""
        settings = self.settings
        for question in questions_for(self.content, self.units, settings.samples, settings.orders):
            request = request_for(
                self.content, question, self.schema, settings.model, settings.temperature
            )
            yield question, request

    def estimate(self) -> tuple[Estimate, Request]:
        """Return what is asked in all, and the first request; raises SurveyError for nothing."""
        requests = pictures = characters = 0
        texts = 0
        first: Request | None = None
        for _, request in self.questions():
            first = first or request
            requests += 1
            pictures += len(request.pictures)
            texts += request.message.count('"text"') + request.message.count('"title"')
            characters += len(request.system) + len(request.message)
        if first is None:
            raise SurveyError(
                "There is nothing to judge: nobody has looked at a document yet. Name the "
                "documents with --pool."
            )
        tokens_in = characters // CHARACTERS_PER_TOKEN + pictures * TOKENS_PER_PICTURE
        estimate = Estimate(requests, pictures, texts, tokens_in, requests * TOKENS_PER_REPLY)
        return estimate, first

    def ask(
        self,
        endpoint: Endpoint,
        cache: ReplyCache,
        budget: Budget,
        on_progress: Callable[[Progress], object],
    ) -> str:
        """Ask all that is not in the cache; return which part of the budget ended it, or "".

        Raises EndpointError where the endpoint does not answer; the cache has all replies so far.
        """
        progress, waiting = Progress(), iter(self.questions())
        running: deque[Any] = deque()
        ended = ""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            try:
                while True:
                    ended = ended or progress.spent(budget)
                    room = 0 if ended else AT_ONCE - len(running)
                    for question, request in islice(waiting, room):
                        key = request.digest, question.sample
                        known = cache.get(key)
                        task = (
                            None
                            if known
                            else pool.submit(self._ask_one, endpoint, question, request)
                        )
                        running.append((key, known, task))
                    if not running:
                        return ended
                    key, known, task = running.popleft()
                    reply = known or cache.get(key) or task.result()
                    if task is not None and cache.get(key) is None:
                        cache.add(reply)
                        progress.add(reply)
                    progress.done += 1
                    progress.failed += reply["status"] != ANSWERED
                    on_progress(progress)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _ask_one(self, endpoint: Endpoint, question: Question, request: Request) -> dict[str, Any]:
        """Ask once, and twice more where the reply cannot be read; return the last reply."""
        tokens_in = tokens_out = 0
        for tries in range(1, MOST_READINGS + 1):
            seed = question.sample + 1000 * (tries - 1)
            reply = endpoint.ask(request, self.pictures, seed)
            tokens_in, tokens_out = tokens_in + reply.tokens_in, tokens_out + reply.tokens_out
            status, _ = self.read(question, reply.content, reply.ended, refused=reply.refused)
            if status == ANSWERED:
                break
        return {
            "request": request.digest,
            "sample": question.sample,
            "tries": tries,
            **reply._asdict(),
            "status": status,
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
        }

    def read(
        self, question: Question, content: str | None, ended: str, *, refused: bool
    ) -> tuple[str, str]:
        """Return the status of a reply, and its answer, "" where there is none."""
        if refused:
            return REFUSED, ""
        if content is None or ended == "length":
            return UNREADABLE, ""
        try:
            reply = json.loads(_object_in(content))
            answer = self.kind.machine_answer(self.plan, question.asked, reply)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return UNREADABLE, ""
        return ANSWERED, answer

    def record(self, cache: ReplyCache) -> MachineRecord:
        """Return the record of all replies; raises SurveyError where one is missing."""
        replies: dict[Key, dict[str, Any]] = {}
        answers, requests = [], dict[str, None]()
        for question, request in self.questions():
            key = request.digest, question.sample
            reply = cache.get(key)
            if reply is None:
                raise SurveyError("The machine has not been asked everything yet.")
            replies[key] = reply
            requests[request.digest] = None
            answers.append(self.answer_of(question, request.digest, reply))
        lines = [
            json.dumps(reply, ensure_ascii=False, sort_keys=True) for reply in replies.values()
        ]
        return MachineRecord(
            self._about(requests, replies.values(), answers, lines), answers, lines
        )

    def answer_of(self, question: Question, digest: str, reply: Mapping[str, Any]) -> MachineAnswer:
        """Return the answer that a reply gives."""
        status, answer = self.read(
            question, reply["content"], reply["ended"], refused=bool(reply["refused"])
        )
        return MachineAnswer(
            *(question.number, question.topic, question.document, question.order),
            *(question.sample, answer, status, digest),
        )

    def _about(
        self,
        requests: Iterable[str],
        replies: Iterable[Mapping[str, Any]],
        answers: Sequence[MachineAnswer],
        lines: Sequence[str],
    ) -> dict[str, Json]:
        replies, settings = [*replies], self.settings
        simulated: dict[str, Json] = {"simulated": settings.simulated} if settings.simulated else {}
        return {
            "format": RECORD_FORMAT,
            "study": self.content.digest,
            "kind": self.plan.kind,
            "arm": self.content.plan.arms[0] if self.content.plan.arms else None,
            "practice": False,
            "prompt": {"version": PROMPT_VERSION, "system": SYSTEM},
            "schema": self.schema,
            "response_formats": sorted({str(reply["format"]) for reply in replies}),
            "model": settings.model,
            "models": sorted({str(reply["model"]) for reply in replies} - {""}),
            "fingerprints": sorted({str(reply["fingerprint"]) for reply in replies} - {""}),
            "temperature": settings.temperature,
            "seed": self.content.plan.seed,
            "samples": settings.samples,
            "orders": [*settings.orders],
            "requests": [*requests],
            "answers_sha256": lines_digest(answer_lines(answers)),
            "replies_sha256": lines_digest(f"{line}\n" for line in lines),
            **simulated,
        }


def settings_of(record: MachineRecord) -> Settings:
    """Return how a record's machine was asked."""
    about, pool = record.about, dict[str, dict[str, None]]()
    for answer in record.answers:  # what people look at may have become more since
        if answer.document:
            pool.setdefault(answer.topic, {})[answer.document] = None
    return Settings(
        record.model,
        int(about["samples"]),
        tuple(about["orders"]),
        {topic: tuple(documents) for topic, documents in pool.items()},
        str(about.get("simulated", "")),
    )


def replayed(content: Content, record: MachineRecord) -> str:
    """Parse a record's replies again and build its requests again, without a network.

    Return a sentence that says what was done. Raises BundleError for an answer that is another.
    """
    place = f"{MACHINES_FOLDER}/{record.name}"
    if record.about["study"] != content.digest or record.about["kind"] != content.plan.kind:
        raise BundleError(f"{place}: the record is of another study")
    count = f"{place}: {len(record.answers)} answers of {record.model}"
    if not record.replies:
        return f"{count}, from a file"
    judging = Judging(content, settings_of(record), {})
    replies = _replies_in(record, f"{place}/{REPLIES_FILE}")
    is_ours = record.about["prompt"] == {"version": PROMPT_VERSION, "system": SYSTEM}
    for number, (answer, asked) in enumerate(zip_longest(record.answers, judging.questions()), 2):
        if answer is None or asked is None:
            raise BundleError(f"{place}/{ANSWERS_FILE}: the questions are not those of the study")
        question, request = asked
        row = f"{place}/{ANSWERS_FILE}, row {number}"
        reply = replies.get((answer.request, answer.sample))
        if reply is None:
            raise BundleError(f"{row}: its reply is missing in {REPLIES_FILE}")
        expected = judging.answer_of(question, request.digest if is_ours else answer.request, reply)
        if expected != answer:
            raise BundleError(f"{row}: {[*answer]} found; recomputed {[*expected]}")
    not_built = "" if is_ours else "; requests not rebuilt, as they are of another version"
    return f"{count}: parsed again from the replies{not_built}"


def _replies_in(record: MachineRecord, place: str) -> dict[Key, dict[str, Any]]:
    """Return the replies of a record; raises BundleError with the line that is none."""
    replies: dict[Key, dict[str, Any]] = {}
    for number, line in enumerate(record.replies, 1):
        try:
            reply = json.loads(line)
            key = str(reply["request"]), int(reply["sample"])
            replies[key] = {name: reply[name] for name in ("content", "ended", "refused")}
        except (ValueError, KeyError, TypeError):
            raise BundleError(f"{place}, line {number}: a reply as JSON is needed") from None
    return replies


def usual_orders(content: Content) -> Sequence[str]:
    """Return the orders in which a machine is asked by default."""
    return (FIRST, SWAPPED) if KINDS[content.plan.kind].has_sides else (FIRST,)


def _object_in(content: str) -> str:
    """Return the JSON object in a reply, which some models put between other words."""
    start, end = content.find("{"), content.rfind("}")
    return content[start : end + 1] if 0 <= start < end else content
