"""People who answer over HTTP for as long as they are let, and what was acknowledged to them."""

import threading
import time
from dataclasses import dataclass, field
from itertools import count

from tests.builders import SLUG, Visitor
from tests.serving import OverHttp

QUESTIONS = 10


@dataclass
class Crowd:
    """Threads that take part again and again.

    ``acknowledged``: by the id each participant came with and the position, the label ticked.
    ``seconds``: how long each answer took to be acknowledged.
    """

    address: str
    acknowledged: dict[tuple[str, int], int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    numbers: count = field(default_factory=count)

    def __enter__(self):
        self.threads = [threading.Thread(target=self._take_part) for _ in range(4)]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def _take_part(self):
        while not self.over.is_set():
            person = f"p{next(self.numbers)}"
            visitor = Visitor(OverHttp(self.address), SLUG)
            try:
                self._answer_all(visitor, person)
            except Exception as error:
                self.faults.append(f"{person}: {error!r}")
                self.over.set()

    def _answer_all(self, visitor, person):
        visitor.go("/q/1", query=f"?PROLIFIC_PID={person}")
        for position in range(1, QUESTIONS + 1):
            if self.over.is_set():
                return
            label = hash((person, position)) % 3 + 1
            began = time.monotonic()
            visitor.submit(f"/q/{position}", follow=False, choice=str(label))
            assert visitor.status in (302, 303), visitor.text
            self.seconds.append(time.monotonic() - began)
            self.acknowledged[person, position] = label
            visitor.open(f"/q/{min(position + 1, QUESTIONS)}")
