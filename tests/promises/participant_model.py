"""What participants, their browsers and their answers do, in a page of Python.

The model knows no database, no page and no clock: who each browser speaks for, what everyone
said, and what the survey has to say to whatever is sent. ``test_model.py`` holds it against
the survey.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

# The labels ticked and the ranking of one's own, as responses.csv writes them; one is empty.
Answer = tuple[str, str, str]
"""Columns, own ordering, and whether the columns' ordering was given as one's own."""
NOTHING: Answer = ("", "", "no")
WAY = ("consent", "about-you", "scenario", "practice", "q", "review")


@dataclass(eq=False)
class Person:
    """A participant: how far they came, and every answer to each position.

    ``begun``: whether they have left practice for the first question.
    """

    questions: int
    code: str = ""
    agreed: bool = False
    declined: bool = False
    age: int | None = None
    complete: bool = False
    stopped: bool = False
    begun: bool = False
    answers: dict[int, list[Answer]] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The page where they go on."""
        if self.complete or self.declined:
            return "done" if self.complete else "declined"
        if self.stopped:
            return "stopped"
        if not self.agreed or self.age is None:
            return "about-you" if self.agreed else "consent"
        if not self.begun and not any(self.answers.values()):
            return "practice" if self.answers else "scenario"
        open_ones = [number for number in range(1, self.questions + 1) if not self.answers[number]]
        return f"q/{open_ones[0]}" if open_ones else "review"

    def has_come_to(self, page: str) -> bool:
        """Whether a page of the way may be used by them."""
        step = "consent" if self.place == "declined" else self.place.partition("/")[0]
        return step in WAY and WAY.index(step) >= WAY.index(page)

    def is_ahead(self, position: int) -> bool:
        """Whether a question before this one is still open."""
        return not all(self.answers[earlier] for earlier in range(1, position))


@dataclass(frozen=True)
class Tab:
    """A question's form as a browser holds it: whose, and on which state it was filled in."""

    browser: str
    session: int
    owner: Person
    position: int
    base: int
    fields: Mapping[str, str] = field(default_factory=dict, compare=False)
    columns: Mapping[str, str] = field(default_factory=dict, compare=False)  # label → ordering


@dataclass
class Model:
    """A study of so many questions, its participants, and the browsers of some rooms."""

    questions: int
    people: list[Person] = field(default_factory=list)
    speaks_for: dict[str, Person | None] = field(default_factory=dict)
    sessions: dict[str, int] = field(default_factory=dict)

    def begin(self, browser: str) -> str:
        if self.speaks_for.get(browser) is None:
            self.people.append(Person(self.questions))
            self.speaks_for[browser] = self.people[-1]
        return self.place(browser)

    def resume(self, browser: str, person: Person) -> str:
        self.speaks_for[browser] = person
        return self.place(browser)

    def leave(self, browser: str) -> str:
        self.speaks_for[browser] = None
        self.sessions[browser] = self.sessions.get(browser, 0) + 1
        return ""

    def stop(self, browser: str) -> str:
        person = self.speaks_for.get(browser)
        if person is None:
            return "my-data"
        person.stopped = not (person.complete or person.declined)
        return person.place

    def erase(self, browser: str) -> str:
        person = self.speaks_for.get(browser)
        if person is None:
            return "my-data"
        self.people.remove(person)
        self.speaks_for = {
            room: None if one is person else one for room, one in self.speaks_for.items()
        }
        return "erased"

    def consent(self, browser: str) -> str:
        person = self._come_to(browser, "consent")
        if person is not None:
            person.agreed, person.declined = True, False
        return self.place(browser)

    def decline(self, browser: str) -> str:
        person = self._come_to(browser, "consent")
        if person is not None and not person.answers:
            person.agreed, person.declined, person.age = False, True, None
        return self.place(browser)

    def about_you(self, browser: str, age: int) -> str:
        person = self._come_to(browser, "about-you")
        if person is not None:
            person.age = age
        return self.place(browser)

    def scenario(self, browser: str) -> str:
        person = self._come_to(browser, "scenario")
        if person is not None and not person.answers:
            person.answers = {position: [] for position in range(1, self.questions + 1)}
        return self.place(browser)

    def start(self, browser: str) -> str:
        person = self._come_to(browser, "practice")
        if person is None:
            return self.place(browser)
        person.begun = True
        return "q/1"

    def review(self, browser: str) -> str:
        person = self._come_to(browser, "review")
        if person is not None:
            person.complete = True
        return self.place(browser)

    def shown(self, browser: str, position: int) -> str:
        """Return the page that is seen where a question is asked for."""
        person = self._come_to(browser, "practice")
        if person is None or person.is_ahead(position):
            return self.place(browser)
        return f"q/{position}" if position else "practice"

    def answer(self, tab: Tab, given: Answer, *, back: bool = False) -> tuple[str, str]:
        """Return what becomes of a form, and the page to which it leads.

        "saved", "refused" (nothing stored, the page is shown again), "stale" (so too, because
        something else was saved meanwhile) or "led on", when it was not theirs to send.
        """
        person = self._come_to(tab.browser, "practice")
        if person is None or person.is_ahead(tab.position):
            return "led on", self.place(tab.browser)
        if given == NOTHING or tab.session != self.sessions.get(tab.browser, 0):
            return ("led on", before(tab.position)) if back else ("refused", "")
        if not self._take(person, tab, given):
            return ("led on", before(tab.position)) if back else ("stale", "")
        if back:
            return "saved", before(tab.position)
        return "saved", self.place(tab.browser)

    def _take(self, person: Person, tab: Tab, given: Answer) -> bool:
        answers = person.answers[tab.position]
        if given in answers[-1:]:
            return True  # it says what is stored, whichever form it came in
        if tab.owner is not person:
            return False
        if tab.base == len(answers):
            answers.append(given)
        return answers[tab.base] == given  # new, or the same form once more

    def _come_to(self, browser: str, page: str) -> Person | None:
        person = self.speaks_for.get(browser)
        return person if person is not None and person.has_come_to(page) else None

    def place(self, browser: str) -> str:
        """Return the page where this browser goes on, the entry being empty."""
        person = self.speaks_for.get(browser)
        return "" if person is None else person.place


def before(position: int) -> str:
    """The page before a question; practice stands before the first."""
    return f"q/{position - 1}" if position > 1 else "practice"
