"""A state machine that uses the survey as people do, and holds it against the model.

Whatever is pressed, in whichever order: the survey must lead where the model says, store what
the model holds, and never change what was shown.
"""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from survey.core.studies.rankings import Ranking
from tests.promises.participant_model import Answer, Model, Person, Tab
from tests.promises.world import QUESTIONS, DiedError, Room, Stored, World

ROOMS = ("desk", "phone")
BUTTONS = (
    "begin",
    "consent",
    "decline",
    "about-you",
    "scenario",
    "start",
    "review",
    "leave",
    "stop",
)
PERSONAL = {"education": "School"}
LETTERS, OWN = "ABCDE", "own"
LAST_SCREEN = "practice?step=9"  # of practice: its button is "Start"
STATUS = {"saved": (303,), "refused": (400,), "stale": (409,), "led on": (302, 303)}

rooms = st.sampled_from(ROOMS)
ages = st.sampled_from(("21", "64"))
positions = st.integers(0, QUESTIONS)  # 0 is the page of practice, which has no answer
ticks = st.sets(st.sampled_from("123"), min_size=1).map(lambda chosen: {"choice": sorted(chosen)})
places = st.lists(st.sampled_from("12345"), min_size=5, max_size=5).map(
    lambda given: (
        {"choice": OWN} | dict(zip((f"rank-{one}" for one in LETTERS), given, strict=True))
    )
)
# Few different answers, so that different forms often say the same.
USUAL_VOTES: list[dict[str, Any]] = [
    {"choice": ["1"]},
    {"choice": ["2", "3"]},
    {"choice": OWN} | {f"rank-{a}": n for a, n in zip(LETTERS, "21142", strict=True)},
]
votes = st.sampled_from(USUAL_VOTES) | ticks | places
one_or_two = st.lists(votes, min_size=1, max_size=2)


def as_exported(fields: Mapping[str, Any], columns: Mapping[str, str]) -> Answer:
    """Write what a form says as responses.csv does; an own ordering counts for equal columns."""
    if fields.get("choice") != OWN:
        return " ".join(fields.get("choice", ())), "", "no"
    groups: dict[str, str] = {}
    for letter in LETTERS:
        place = fields[f"rank-{letter}"]
        groups[place] = f"{groups[place]}={letter}" if place in groups else letter
    own = ">".join(groups[place] for place in sorted(groups))
    same = [label for label, order in columns.items() if Ranking.parse(order) == Ranking.parse(own)]
    return (" ".join(sorted(same)), "", "yes") if same else ("", own, "no")


class People(RuleBasedStateMachine):
    """Two browsers, as many participants as begin, and a server that dies."""

    tabs = Bundle("tabs")

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world, self.model = world, Model(QUESTIONS)
        self.acknowledged: list[tuple[Person, int, Answer]] = []
        self.idle = 0
        self.shown: dict[tuple[str, int], tuple[Any, ...]] = {}
        world.empty(ROOMS)
        world.counts["examples"] += 1

    # Coming and going

    @initialize(ready=st.sampled_from((ROOMS, ROOMS, ())), given=st.lists(votes, max_size=3))
    def some_are_at_the_questions(self, ready: tuple[str, ...], given: list[Any]) -> None:
        for room in ready:
            self.somebody_new_comes_as_far_as_the_questions(room)
            for vote in given:
                self.go_on(room, vote)

    def somebody_new_comes_as_far_as_the_questions(self, room: str) -> None:
        for button in ("leave", "begin", "consent", "about-you", "scenario"):
            self._press(room, button)

    @rule(room=rooms, button=st.sampled_from(BUTTONS), age=ages)
    def press_a_button(self, room: str, button: str, age: str) -> None:
        """Press a button that some page has, wherever the browser is."""
        self._now_and_then_go_on(room)
        self._press(room, button, age)

    @precondition(lambda self: self.model.people)
    @rule(room=rooms, data=st.data())
    def continue_on_this_device(self, room: str, data: st.DataObject) -> None:
        self._now_and_then_go_on(room)
        person = data.draw(st.sampled_from(self.model.people), "whose code")
        led_to = self.world.rooms[room].press("resume", code=person.code)
        assert led_to == self.model.resume(room, person)

    @rule(room=rooms)
    def erase(self, room: str) -> None:
        """Delete everything about whoever this browser speaks for; their forms stay open."""
        self._now_and_then_go_on(room)
        self._press(room, "erase")

    # Questions

    @rule(target=tabs, room=rooms, position=positions)
    def show(self, room: str, position: int) -> Any:
        """Open a question, be it the next or Back, and leave it open."""
        self._now_and_then_go_on(room)
        return self._open(room, position)

    @rule(target=tabs, room=rooms, position=positions, sent=one_or_two)
    def revise(self, room: str, position: int, sent: list[dict[str, Any]]) -> Any:
        """Answer a question anew, perhaps in two tabs that were both opened before."""
        self._now_and_then_go_on(room)
        opened = [self._open(room, position) for _ in sent]
        seen = [
            self._send(tab, vote)
            for tab, vote in zip(opened, sent, strict=True)
            if isinstance(tab, Tab)
        ]
        return seen[-1] if seen else multiple()

    @rule(target=tabs, tab=tabs, vote=votes, back=st.booleans())
    def answer(self, tab: Tab, vote: dict[str, Any], back: bool) -> Any:
        """Send any form that was ever opened, be it the newest or one in a forgotten tab."""
        return self._send(tab, vote, back=back)

    @rule(target=tabs, room=rooms, vote=votes)
    def go_on(self, room: str, vote: dict[str, Any]) -> Any:
        """Do what the survey asks for next, as most people do."""
        page = self.model.place(room)
        if page == "practice":
            self._press(room, "start")
            page = self.model.place(room)
        if page.startswith("q/"):
            return self._send(self._open(room, int(page.partition("/")[2])), vote)
        ends = {"": "begin", "declined": "consent", "done": "leave", "stopped": "leave"}
        onward = ends.get(page, page)
        self._press(room, onward)
        return multiple()

    @rule(tab=tabs, vote=votes)
    def send_the_same_form_twice(self, tab: Tab, vote: dict[str, Any]) -> None:
        for _ in range(2):
            self._send(tab, vote)

    @rule(target=tabs, tab=tabs, back=st.booleans())
    def send_nothing(self, tab: Tab, back: bool) -> Any:
        return self._send(tab, {}, back=back)

    @rule()
    def kill_and_restart(self) -> None:
        self._now_and_then_go_on()
        self.world.restart()

    @rule(tab=tabs, vote=votes, moment=st.sampled_from(("before_commit", "after_commit")))
    def kill_while_an_answer_is_stored(self, tab: Tab, vote: dict[str, Any], moment: str) -> None:
        try:
            with self.world.dying(moment):
                self._send(tab, vote)
        except DiedError:
            if moment == "after_commit":
                self.model.answer(tab, as_exported(vote, tab.columns))
            self.world.restart()

    # What must hold after each step

    @invariant()
    def what_is_stored_is_what_the_model_holds(self) -> None:
        self.world.counts["steps"] += 1
        stored = self.world.stored()
        assert {one.code: self._told(one) for one in self.model.people} == stored.people
        assert stored.answers == {
            (one.code, position): answers
            for one in self.model.people
            for position, answers in one.answers.items()
            if answers
        }
        self._was_shown_as_before(stored)
        for person, position, answer in self.acknowledged:
            if person in self.model.people:
                assert answer in stored.answers[person.code, position]

    def _was_shown_as_before(self, stored: Stored) -> None:
        wanted = {(one.code, n) for one in self.model.people for n in one.answers}
        assert set(stored.shown) == wanted
        for key, before in self.shown.items():
            if key not in wanted:
                continue  # of someone who was erased
            assert all(b in (None, now) for b, now in zip(before, stored.shown[key], strict=True))
        self.shown = stored.shown

    @rule()
    def export(self) -> None:
        self._now_and_then_go_on()
        self._is_exported()

    def teardown(self) -> None:
        self._is_exported()

    def _is_exported(self) -> None:
        rows = self.world.exported()
        assert {
            key: (row["clicked"], row["custom_ranking"], row["typed"], row["revisions"])
            for key, row in rows.items()
        } == {
            (one.code, position): (*answers[-1], str(len(answers) - 1))
            for one in self.model.people
            for position, answers in one.answers.items()
            if answers
        }
        for key, row in rows.items():
            orders = (row["label_order"], row["column_order"], row["list_order"])
            assert orders == tuple(" ".join(map(str, one)) for one in self.shown[key][1:4])

    # How it is done

    def _now_and_then_go_on(self, room: str = ROOMS[0]) -> None:
        """Hypothesis likes to run a whole example with one rule; let answers be given even so."""
        self.idle += 1
        turn, waits = divmod(self.idle, 3)
        if waits:
            return
        vote = USUAL_VOTES[turn % len(USUAL_VOTES)]
        if self.model.place(room) == "review":
            self._send(self._open(room, 1 + turn % QUESTIONS), vote)
        else:
            self.go_on(room, vote)

    def _press(self, room: str, button: str, age: str = "21") -> None:
        fields = {
            "consent": {"agree": "y", "consent_version": self.world.consent},
            "about-you": {**PERSONAL, "age": age},
            "erase": {"sure": "y"},
        }.get(button, {})
        method = getattr(self.model, button.replace("-", "_"))
        expected = method(room, int(age)) if button == "about-you" else method(room)
        address = {"start": LAST_SCREEN}.get(button, button)
        assert self.world.rooms[room].press(address, **fields) == expected
        if button == "begin":
            self._note_new_code()

    def _open(self, room: str, position: int) -> Any:
        asked = f"q/{position}" if position else "practice"
        expected = self.model.shown(room, position)
        assert self.world.rooms[room].see(asked) == expected
        owner = self.model.speaks_for.get(room)
        is_form = owner and position and expected == asked
        return self._tab(room, position, owner) if is_form else multiple()

    def _note_new_code(self) -> None:
        known = {one.code for one in self.model.people}
        new = sorted(set(self.world.stored().people) - known)
        assert len(new) == sum(not one.code for one in self.model.people)
        for person, code in zip(self.model.people[-1:], new, strict=False):
            person.code = code

    def _send(self, tab: Tab, vote: Mapping[str, Any], *, back: bool = False) -> Any:
        room, given = self.world.rooms[tab.browser], as_exported(vote, tab.columns)
        settled = {"asked": "reversed"} if vote.get("choice") == OWN else {"settle": "several"}
        fields = {**tab.fields, **vote, **settled, **({"go": "back"} if back else {})}
        status, leads = room.send(f"q/{tab.position}", **fields)
        leads = leads.partition("?after=")[0]  # where the next page says how the answer counts
        sender = self.model.speaks_for.get(tab.browser)
        outcome, page = self.model.answer(tab, given, back=back)
        assert (status, leads) in [(one, page) for one in STATUS[outcome]], (status, leads, outcome)
        if outcome == "saved" and sender is not None:
            self.acknowledged.append((sender, tab.position, given))
            self.world.counts["acknowledged answers"] += 1
        if outcome not in ("refused", "stale") or sender is None:
            return multiple()
        self._is_kept(room, vote)
        if outcome == "refused":  # the page still names the state it was filled in on
            return self._tab(tab.browser, tab.position, tab.owner, tab.base)
        return self._tab(tab.browser, tab.position, sender)

    def _is_kept(self, room: Room, vote: Mapping[str, Any]) -> None:
        """What was filled in stands on the page that came back."""
        ticked = {box["value"] for box in room.page.select("[name=choice][checked]")}
        chosen = vote.get("choice", ())
        assert ticked == (set() if chosen == OWN else set(chosen))
        for letter in LETTERS if chosen == OWN else "":
            place = room.page.select_one(f"#rank-{letter} [selected]")
            assert place is not None
            assert place["value"] == vote[f"rank-{letter}"]

    def _tab(self, browser: str, position: int, owner: Person, base: int | None = None) -> Tab:
        """Take down the form on the page that a browser shows."""
        room = self.world.rooms[browser]
        if base is None:
            base = len(owner.answers[position])
        names = ("csrf_token", "submission_key")
        fields = {name: room.hidden(name) for name in names}
        boxes = room.page.select(f"[name=choice]:not([value={OWN}])")
        columns = {box["value"]: box.parent.select_one(".order").text for box in boxes}
        session = self.model.sessions.get(browser, 0)
        return Tab(browser, session, owner, position, base, fields, columns)

    def _told(self, person: Person) -> tuple[str, dict[str, Any]]:
        names = ("complete", "declined", "stopped")
        status = next((name for name in names if getattr(person, name)), "started")
        return status, {} if person.age is None else {**PERSONAL, "age": person.age}
