"""The settings of a plan whose questions are sets of ranked lists."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import combinations
from random import Random
from typing import Any, ClassVar, Self

from survey.core.measures import MEASURES, Setting, mentioned_measure, name_faults
from survey.core.studies.fields import (
    Choice,
    Fault,
    Place,
    Rule,
    Switch,
    Text,
    Whole,
    declared,
    list_words,
    rules_of,
)
from survey.core.studies.generators import GENERATORS, Generator, letter_order, obvious_question
from survey.core.studies.measure_needs import need_faults, ordering_faults
from survey.core.studies.minutes import DocumentLoad
from survey.core.studies.plan import (
    GRID,
    GRID_COLUMNS,
    LAYOUT,
    MARK_QUERY_WORDS,
    NUMBERS,
    OBVIOUS,
    REPEATED,
    STRIP,
    Check,
    Plan,
    changed,
)
from survey.core.studies.provenance import MOST_STORED_RESULTS, Provenance
from survey.core.studies.questions import (
    MARK_TYPES,
    NAME_RULE,
    NO_MARKS,
    Marks,
    Question,
    build_question,
)
from survey.core.studies.rankings import letters_for
from survey.core.text_input import Json, shortened

OWN_LISTS = "given"  # the generator of a plan with own lists
LISTS_FROM = {
    "random": "Random: positions drawn uniformly, as in the paper",
    "discriminative": "Discriminative: random, kept only where the measures disagree",
    OWN_LISTS: "Your own lists, as uploaded",
}
GENERATOR_HELP = (
    "In discriminative questions any two measures contradict each other somewhere, as far as "
    "measures of few values such as P@5 can. In half of all "
    "random questions MNRO only breaks NMRR's ties, so its lead may only be for showing no ties. "
    "Say in your paper which generator you used."
)
GMT_HELP = "Leave empty for no cap, as in the paper's Table 1."
OPEN, FOLDED = "open", "folded"
SCORES = {OPEN: "In view, as in the paper", FOLDED: "Folded, until they are opened"}
SCORES_HELP = (
    "The same on every device. Whether a participant had them in view is stored with each answer."
)
SAME, NEAREST = "same", "nearest"
TICKS = {
    SAME: "A method's order is exactly one's own",
    NEAREST: "A method's order is the nearest to one's own, as in the paper",
}
TICKS_HELP = "An order of one's own may be given in both cases."
BEFORE, AFTER, NEVER = "before", "after", "never"
COLUMN_TIMES = {
    BEFORE: "Before people order the lists themselves, as in the paper",
    AFTER: "After people's own orderings",
    NEVER: "Never: people only order the lists",
}
COLUMNS_HELP = (
    "Seeing the methods first can change how people order the lists. With “never”, no one "
    "votes for a method: all answers are orderings of people's own."
)
SHOW_VALUES_HELP = (
    "The paper's study shows them. By its scores a method can be followed from question to "
    "question, even without knowing the measures, and the page is longer on a phone."
)
RESCALE_VALUES_HELP = (
    "In each question the best list gets 0 and the worst 100. Methods are harder to follow than "
    "by their own scores, but easier than by orderings alone."
)
SHUFFLE_COLUMNS_HELP = (
    "The paper's study does. The methods get new numbers in each question in any case."
)
SMALLEST_DIFFERENCE_HELP = (
    "Of 100 answers, by how many must two methods differ to matter? Results may then say that two "
    "are equal to within that many points. Empty: nothing is said of equality."
)
PRIMARY_HELP = (
    "Optional, like MNRO-AP: the two measures that your question is about. They are tested first "
    "and by themselves, which finds more; the other pairs count only if these two differ. Chosen "
    "before anyone answers."
)
POSITIONS_STRIP_HELP = (
    "A line from 1 to the collection's size beside each list, with a mark at each position. Off "
    "in the paper's study."
)
SHOW_IDEAL_HELP = (
    "Below the lists: all graded items at the top, the highest grades first. Measures of graded "
    "relevance compare a list with it. Only where the lists have grades."
)
SHUFFLE_LETTERS_HELP = (
    "Only for lists from runs. Otherwise list A is the first run in every question, and people can "
    "learn which run is good."
)
DEPTH_HELP = (
    "Only for lists from runs: this many documents of each list are in the bundle, and shown as "
    "pictures or texts if you choose that."
)
SCENARIO_HELP = (
    "The story behind the lists. In all texts, {lists}, {relevant}, {collection_size}, "
    "{questions} and {letters} are replaced by the numbers of the design."
)
SHOW_ITEMS_HELP = (
    "Only for lists from runs whose documents have pictures or texts. Participants see what was "
    "searched for and the first results of each list."
)
MARK_RELEVANT_HELP = "With a frame and ✓. Without, participants judge by what they see."
SHOW_POSITIONS_HELP = "The numbers beside each list. Needed where nothing else is shown."
REPEATED_HELP = (
    "A question's number. It is asked again as the last one, under new numbers for the methods; "
    "how alike a person's two answers are is a measure of their consistency. The second answer "
    "is no vote."
)
OBVIOUS_HELP = (
    "Another question without methods, in which each list beats the next at every position. "
    "Who orders two of them the wrong way round is reported. The answer is no vote."
)
SAME_ORDER = "both answers agree on half of the pairs of lists, or more"
NONE_REVERSED = "no list is put above one that is earlier at every position"
OLDEST_MEASURES = frozenset({"AP", "NMRR", "MNRO"})
# Questions × lists × relevant items of drawn lists. Drawing 5,000,000 would take minutes.
MOST_PLAN_POSITIONS = 100_000
FEWEST_OWN_LISTS = 2  # drawn questions have three at least
# Fields that only lists from runs need.
OF_RUNS = (
    *("provenance", "shuffle_letters", "depth"),
    *("show_items", "layout", "grid_columns"),
    *("mark_relevant", "mark_query_words", "show_positions"),
)
# Fields by which drawn lists and their orders differ from the paper's.
OF_DRAWN_LISTS = (
    *("generator", "measures", "lists", "relevant", "collection_size", "marks"),
    *("gmt", "literal_eq15"),
)
PRACTICE_DRAWS = 100  # sets tried for a practice question beside own lists

SCOPE = "questions of this kind; where that stays open, these questions alone"
TEST = (
    "mean difference per answer, variance components over people and questions; for these "
    "questions alone, over people"
)
CORRECTION = "largest |t|, stepping down; Holm for these"

ListsPerQuestion = tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True)
class OrderingPlan(Plan):
    """The settings of a study whose questions are sets of ranked lists.

    ``measures``: in the registry's order. ``own_lists`` (question → list → positions) belong to
    the generator "given". ``marks``: grades, weights or clusters that the generator random deals
    to the positions of each list it draws; ``own_marks``: those of own lists, for each question.
    ``provenance``: of own lists from runs, which ``own_lists`` has in the order of the runs.
    ``gmt`` and ``literal_eq15``: see ``Setting``.

    The texts may hold {lists}, {relevant}, {collection_size}, {questions} and {letters}.
    """

    kind: ClassVar[str] = "ordering"
    has_check: ClassVar[bool] = True
    varied: ClassVar[tuple[str, ...]] = (
        *("columns", "criterion", "practice", "show_values", "scores", "rescale_values"),
        *("ticks", "layout", "show_positions", "show_ideal"),
    )
    of_runs: ClassVar[Mapping[str, bool]] = {"shuffle_letters": True}

    scenario: str = declared(replace(rules_of(Plan)["scenario"], help=SCENARIO_HELP))
    list_noun: str = declared(
        Text("Word for a list", 40, help="Heads the column of the lists, like “System”."), "system"
    )
    measures: tuple[str, ...] = ("AP", "NMRR", "MNRO")
    lists: int = declared(Whole("Lists per question", 3, 10, help="3 to 10."), 5)
    relevant: int = declared(Whole("Relevant items per list", 1, 10_000), 5)
    collection_size: int = declared(Whole("Collection size", 2, 100_000_000), 100)
    generator: str = declared(
        Choice("Where the lists come from", LISTS_FROM, help=GENERATOR_HELP), "random"
    )
    own_lists: ListsPerQuestion = ()
    marks: Marks = NO_MARKS
    own_marks: tuple[Marks, ...] = ()
    provenance: Provenance | None = None
    shuffle_letters: bool = declared(
        Switch("Shuffle the letters of the lists in each question", help=SHUFFLE_LETTERS_HELP),
        False,
    )
    depth: int = declared(
        Whole("First results of a list", 1, MOST_STORED_RESULTS, help=DEPTH_HELP), 10
    )
    show_items: bool = declared(
        Switch("Show the first results as pictures or texts", help=SHOW_ITEMS_HELP), False
    )
    layout: str = declared(LAYOUT, STRIP)
    grid_columns: int = declared(GRID_COLUMNS, 5)
    mark_relevant: bool = declared(
        Switch("Mark the results that were searched for", help=MARK_RELEVANT_HELP), True
    )
    mark_query_words: bool = declared(MARK_QUERY_WORDS, False)
    show_positions: bool = declared(
        Switch("Show positions as numbers", help=SHOW_POSITIONS_HELP), True
    )
    gmt: int | None = declared(
        Whole("GMT cap of NMRR", 1, 10_000, optional=True, help=GMT_HELP), None
    )
    literal_eq15: bool = declared(Switch("Use MNRO's Eq. 15 as printed"), False)
    shuffle_lists: bool = declared(
        Switch("Shuffle the lists within a question for each participant"), False
    )
    columns: str = declared(
        Choice("When people see the methods' orderings", COLUMN_TIMES, help=COLUMNS_HELP), BEFORE
    )
    ticks: str = declared(Choice("When to tick a method", TICKS, help=TICKS_HELP), SAME)
    show_values: bool = declared(Switch("Show the methods' scores", help=SHOW_VALUES_HELP), False)
    scores: str = declared(
        Choice("How scores are shown first", SCORES, help=SCORES_HELP),
        OPEN,
    )
    rescale_values: bool = declared(
        Switch("Rescale the scores of each method to 0–100", help=RESCALE_VALUES_HELP), False
    )
    shuffle_columns: bool = declared(
        Switch("Shuffle the methods' columns within a question", help=SHUFFLE_COLUMNS_HELP), False
    )
    positions_strip: bool = declared(
        Switch("Show the positions on a line", help=POSITIONS_STRIP_HELP), False
    )
    show_ideal: bool = declared(Switch("Show the best possible list", help=SHOW_IDEAL_HELP), False)
    repeated: int | None = declared(
        Whole("Ask a question again", 1, 50, optional=True, help=REPEATED_HELP), None
    )
    obvious: bool = declared(Switch("Ask an obvious question", help=OBVIOUS_HELP), False)
    smallest_difference: int | None = declared(
        Whole(
            "Smallest difference that matters, in points",
            1,
            100,
            optional=True,
            help=SMALLEST_DIFFERENCE_HELP,
        ),
        None,
    )
    primary: str = declared(
        Text("Primary pair", 100, needed=False, shown=False, help=PRIMARY_HELP), ""
    )

    def in_arm(self, arm: str | None) -> Self:
        """See ``Plan.in_arm``; an arm without settings is named as its ``columns``."""
        if arm in self.arms and not self.arm_settings:
            met: Self = changed(self, columns=arm, arms=())
            return met
        return super().in_arm(arm)

    @property
    def origin(self) -> str:
        """See ``Plan.origin``."""
        if self.provenance:
            return self.provenance.sentence
        if self.own_lists:
            return f"Its lists are your own: {self.questions} questions of a table."
        return f"Its lists are drawn: {LISTS_FROM[self.generator].lower()} (seed {self.seed})."

    @property
    def column_times(self) -> tuple[str, ...]:
        """When the participants of each arm see columns, or all without arms."""
        return tuple(self.in_arm(arm).columns for arm in self.arms) or (self.columns,)

    @property
    def checks(self) -> tuple[Check, ...]:
        """REPEATED and OBVIOUS, where the plan asks for them."""
        repeated = Check(
            REPEATED, f"question {self.repeated} once more", SAME_ORDER, again=self.repeated
        )
        obvious = Check(OBVIOUS, "obvious, without methods", NONE_REVERSED)
        return (*((repeated,) if self.repeated else ()), *((obvious,) if self.obvious else ()))

    def for_question(self, number: int) -> Self:
        """Return the plan without methods for the obvious question, else unchanged.

        There ``obvious`` is false, so that pages can say why no methods are shown.
        """
        if number != self.number_of(OBVIOUS) or self.columns == NEVER:
            return self
        met: Self = changed(self, columns=NEVER, arms=(), arm_settings=(), obvious=False)
        return met

    def arrange(self, numbers: Iterable[int], chance: Random) -> list[int]:
        """See ``Plan.arrange``.

        The obvious question comes in the middle, or anywhere but first where questions are
        shuffled; the repeated one comes last.
        """
        order = self.shuffled(numbers, chance)
        half = (len(order) + 1) // 2
        if obvious := self.number_of(OBVIOUS):
            place = chance.randint(1, len(order)) if self.shuffle_questions else half
            order.insert(place, obvious)
        again = self.number_of(REPEATED)
        return [*order, again] if again else order

    @property
    def has_first_rankings(self) -> bool:
        """Whether some participants order the lists before they see the methods."""
        return AFTER in self.column_times

    @property
    def only_ordered(self) -> bool:
        """Whether no participant is shown columns, so that none can be ticked."""
        return {*self.column_times} == {NEVER}

    @property
    def voters(self) -> int:
        """How many of the participants wanted are shown methods, for which they can vote."""
        shown = self.column_times
        # Without the share of participants in arms that show no methods, rounded up.
        return self.participants - -(-self.participants * shown.count(NEVER) // len(shown))

    def _arm_faults(self) -> Iterable[Fault]:
        arms = self.arms
        if self.arm_settings:
            yield from super()._arm_faults()
        elif arms and not 2 <= len(arms) == sum(time in arms for time in COLUMN_TIMES):
            yield Fault(
                ("arms",),
                f"arms is {', '.join(map(str, arms))}; two or three different ones of "
                f"{', '.join(COLUMN_TIMES)} are allowed",
            )
        elif arms and self.columns != BEFORE:
            yield Fault(
                ("columns",), f"columns is {self.columns}, but the arms decide it; leave it out"
            )

    def _settings_faults(self, name: str, settings: Mapping[str, Json]) -> Iterable[Fault]:
        yield from super()._settings_faults(name, settings)
        if settings.get("rescale_values") is False and self.rescale_values:
            text = f"arm {name}: rescale_values can be added in an arm, and not left out"
            yield Fault(("arms",), text)

    @property
    def check_ranks(self) -> tuple[list[int], list[int]] | None:
        """The positions of two lists to compare before practice, the second one better.

        Every position of the second is earlier. None where pages show no positions, or the
        collection is too small.
        """
        if not self.show_positions:
            return None
        count, size = min(self.relevant, 10), self.collection_size
        if self.shows_tiles:
            size = self.depth
            count = min(count, size // 3)
        if size < 3 * count or not count:
            return None
        # Early ones are spread over the first third of the positions, late ones from the end.
        early = [-(-size * (number + 1) // (3 * count)) for number in range(count)]
        late = [size - (size // (2 * count)) * (count - 1 - number) for number in range(count)]
        return late, early

    @property
    def has_items(self) -> bool:
        """Whether questions show pictures or texts of documents."""
        return self.show_items and self.provenance is not None and self.layout != NUMBERS

    @property
    def shows_tiles(self) -> bool:
        """Whether practice shows results as empty tiles in place of pictures.

        Only where relevant ones are marked: otherwise all tiles would look the same.
        """
        return self.has_items and self.mark_relevant

    def seconds_each(self, documents: DocumentLoad) -> float:
        """See ``Plan.seconds_each``."""
        return 120

    @property
    def setting(self) -> Setting:
        """The setting that the measures are computed in."""
        level = self.provenance.relevant_from if self.provenance else 1
        return Setting(
            *(self.collection_size, self.gmt, self.literal_eq15, self.rescale_values),
            *(level, self.grid_columns if self.has_items and self.layout == GRID else None),
        )

    @property
    def draws_as_the_paper(self) -> bool:
        """Whether lists are drawn and measured as in the paper's study."""
        # A field's default is the paper's.
        return all(getattr(self, name) == getattr(OrderingPlan, name) for name in OF_DRAWN_LISTS)

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the lists of a question."""
        return letters_for(self.lists)

    @property
    def marked(self) -> tuple[str, ...]:
        """The types of marks beside positions: "grades", "weights", "clusters"."""
        return (self.own_marks[0] if self.own_marks else self.marks).types

    @property
    def marks_lacking(self) -> bool:
        """Whether a relevant item is in no cluster, although others are."""
        return any(
            not item
            for marks in (self.marks, *self.own_marks)
            for row in marks.clusters
            for item in row
        )

    @property
    def sizes(self) -> list[int]:
        """The different numbers of relevant items that the lists have, sorted."""
        return sorted({len(lists[0]) for lists in self.own_lists} or {self.relevant})

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers that texts may speak of; {relevant} only where all questions share it."""
        numbers = {
            "lists": self.lists,
            "collection_size": self.collection_size,
            "questions": self.asked,
        }
        return numbers | ({"relevant": self.relevant} if len(self.sizes) == 1 else {})

    @property
    def placeholder_names(self) -> tuple[str, ...]:
        """The names that a text may have in braces: the numbers, and {letters}."""
        return (*self.numbers, "letters")

    def draw_questions(self) -> list[Question]:
        """Draw the study's questions from its seed, the practice question (0) first if any.

        Control questions follow: a copy of the repeated one, and the obvious one.
        """
        if self.generator == OWN_LISTS:
            practice = [self._practice_beside_own_lists()] if self.practice else []
            questions = practice + [
                self._own_question(number) for number in range(1, self.questions + 1)
            ]
        else:
            numbers = range(0 if self.practice else 1, self.questions + 1)
            questions = [self._draw(number, self.generator) for number in numbers]
        if again := self.number_of(REPEATED):
            original = next(each for each in questions if each.number == self.repeated)
            questions.append(replace(original, number=again))
        if obvious := self.number_of(OBVIOUS):
            questions.append(self._draw_by(obvious_question, obvious))
        return questions

    def _own_question(self, number: int) -> Question:
        """Build a question of own lists, their letters shuffled where the plan says so."""
        lists = self.own_lists[number - 1]
        marks = self.own_marks[number - 1] if self.own_marks else NO_MARKS
        source, order = None, [*range(len(lists))]
        if self.provenance:
            if self.shuffle_letters:
                order = letter_order(self.seed, number, len(lists))
            source = self.provenance.of_question(number, self.letters, order, self.depth)
        ranks = [lists[index] for index in order]
        marked = marks.reordered(order)
        return build_question(number, ranks, self.measures, self.setting, marked, source)

    def _practice_beside_own_lists(self) -> Question:
        """Draw a practice question with the marks of the first list, which all measures can order.

        In a large collection, random positions are so late that P@10, say, ties all lists. Then
        positions are drawn from a part nearer to the front.
        """
        if self.shows_tiles:  # only the first results are shown, so marks must be among them
            near = max(2 * self.depth, 4 * self.relevant)
            if near < self.collection_size:
                with suppress(ValueError):
                    return self._draw(0, "random", within=near, draws=PRACTICE_DRAWS)
        if not self.own_marks and {*self.measures} <= OLDEST_MEASURES:
            # Drawn otherwise, bundles of the first release would not replicate.
            with suppress(ValueError):
                return self._draw(0, "random")
        marks = self.own_marks[0].of_list(0) if self.own_marks else NO_MARKS
        for within in (None, 20 * self.relevant, 4 * self.relevant):
            if within is None or within < self.collection_size:
                with suppress(ValueError):
                    return self._draw(0, "random", marks=marks, within=within, draws=PRACTICE_DRAWS)
        raise ValueError(
            "no practice question came up that every measure can order; leave the practice "
            "question out, or take other measures"
        )

    def _draw(self, number: int, generator: str, **more: Any) -> Question:
        """Draw a question by a named generator, with the plan's marks in place of others."""
        if self.marks:
            more["marks"] = self.marks
        return self._draw_by(GENERATORS[generator], number, **more)

    def _draw_by(self, draw: Generator, number: int, **more: Any) -> Question:
        return draw(
            number,
            seed=self.seed,
            lists=self.lists,
            relevant=self.relevant,
            measures=self.measures,
            setting=self.setting,
            **more,
        )

    def giveaways(self) -> list[Fault]:
        """Return faults of a title or a cluster's name that would reveal a measure's name."""
        faults = super().giveaways()
        own: Iterable[tuple[Place, Marks]] = (
            (("own_marks", index), marks) for index, marks in enumerate(self.own_marks)
        )
        return faults + [
            Fault(
                place,
                f"the cluster {name} holds the name of a measure ({measure}), and "
                "participants see it; choose another",
            )
            for place, marks in [(("marks", "clusters"), self.marks), *own]
            for name in sorted(_cluster_names(marks))
            if (measure := mentioned_measure(name.replace("_", " ")))
        ]

    def public_texts(self) -> Iterable[tuple[str, str]]:
        """Yield all that participants' pages show of the plan, the clusters' names included."""
        yield from super().public_texts()
        names = {name for marks in (self.marks, *self.own_marks) for name in _cluster_names(marks)}
        yield "clusters", "\n".join(name.replace("_", " ") for name in sorted(names))

    def as_json(self) -> dict[str, Any]:
        """Return the plan as plain lists and dictionaries, for storage."""
        content = super().as_json() | {
            "marks": {mark_type: rows[0] for mark_type, rows in self.marks.as_json().items()},
            "own_marks": [marks.as_json() for marks in self.own_marks],
            "provenance": self.provenance and self.provenance.as_json(),
        }
        # Bundles of studies without runs stay as they were before there were these fields.
        for item in fields(self):
            if item.name in OF_RUNS and getattr(self, item.name) == item.default:
                content.pop(item.name, None)
        return content

    @classmethod
    def _read(cls, values: dict[str, Any], faults: list[Fault]) -> None:
        values["marks"] = _read_marks(values.get("marks") or {}, faults)
        values["own_marks"] = _read_own_marks(values.get("own_marks") or (), faults)
        if values.get("provenance") is not None:
            values["provenance"] = _read_provenance(values["provenance"], faults)
        if values.get("own_lists"):
            # Sorting positions would separate them from their marks.
            sort = not any(values["own_marks"])
            values |= _read_own_lists(values["own_lists"], sort=sort, faults=faults)

    def _tidy(self) -> None:
        super()._tidy()
        for name in ("measures", "own_lists", "own_marks"):
            self._as_tuple(name)
        # Equal plans must not differ by the order of ticks.
        object.__setattr__(self, "measures", MEASURES.in_order(self.measures))
        object.__setattr__(self, "primary", self._primary_in_order())
        if not any(self.own_marks):
            object.__setattr__(self, "own_marks", ())

    def _primary_in_order(self) -> str:
        """Return the primary pair with the later measure first, as pairs are written."""
        for first, second in combinations(self.measures[::-1], 2):
            if self.primary == f"{second}-{first}":
                return f"{first}-{second}"
        return self.primary

    def _rules(self) -> dict[str, Rule]:
        rules = super()._rules()
        if self.own_lists:
            rules["lists"] = replace(rules["lists"], lowest=FEWEST_OWN_LISTS)  # type: ignore[call-arg] # it is Whole
        if isinstance(self.questions, int):
            # In a fixed order, other questions have to come before it is asked again.
            is_fixed = self.design == "all" and not self.shuffle_questions
            latest = max(1, (self.questions + 1) // 2 if is_fixed else self.questions)
            rules["repeated"] = replace(rules["repeated"], highest=latest)  # type: ignore[call-arg] # it is Whole
        return rules

    def _number_faults(self) -> Iterable[Fault]:
        positions = self.questions * self.lists * self.relevant
        if self.generator != OWN_LISTS and positions > MOST_PLAN_POSITIONS:
            yield Fault(
                ("relevant",),
                f"{self.questions} questions of {self.lists} lists with {self.relevant} relevant "
                f"items are {positions:,} positions; {MOST_PLAN_POSITIONS:,} are allowed",
            )
        if self.relevant > self.collection_size:
            yield Fault(
                ("relevant",),
                f"lists with {self.relevant} relevant items need a collection_size of "
                f"{self.relevant} or more; it is {self.collection_size}",
            )
        else:
            yield from self._own_list_faults()
        if self.obvious and self.marked:
            marks = list_words(self.marked)
            yield Fault(("obvious",), f"an obvious question has no {marks}, which the lists have")
        elif self.obvious and self.collection_size < self.lists * self.relevant:
            yield Fault(
                ("obvious",),
                f"an obvious question needs a collection of {self.lists * self.relevant} positions "
                f"for {self.lists} lists of {self.relevant}; collection_size is "
                f"{self.collection_size}",
            )

    def _later_faults(self, *, registered: bool) -> Iterable[Fault]:
        yield from self._mark_faults()
        yield from self._shown_faults()
        yield from self._primary_faults()
        if registered:
            yield from self._need_faults()

    def _primary_faults(self) -> Iterable[Fault]:
        known = [f"{first}-{second}" for first, second in combinations(self.measures[::-1], 2)]
        if self.primary and self.primary not in known:
            text = f"primary is {shortened(self.primary)}; one of {', '.join(known)} is allowed"
            yield Fault(("primary",), text)

    def _shown_faults(self) -> Iterable[Fault]:
        if self.show_ideal and "grades" not in self.marked:
            text = "show_ideal needs grades, which the lists do not have; turn show_ideal off"
            yield Fault(("show_ideal",), text)
        if self.show_positions:
            return
        if not self.has_items:
            yield Fault(
                ("show_positions",),
                "without positions as numbers, nothing of the lists is shown; turn show_positions "
                "on, or turn show_items on for lists from runs",
            )

    def _why_not(self, placeholder: str) -> str:
        """Return in brackets why a placeholder is not allowed in a text; "" without a reason."""
        if placeholder != "relevant":
            return ""
        return (
            " (the questions have different numbers of relevant items, so no text can "
            "speak of one; the preset runs has texts that do not)"
        )

    def _own_list_faults(self) -> Iterable[Fault]:
        if bool(self.own_lists) != (self.generator == OWN_LISTS):
            yield Fault(
                ("generator",),
                f"generator is {self.generator} and there are {len(self.own_lists)} questions "
                "with lists of your own; own lists and the generator given belong together",
            )
        for number, lists in enumerate(self.own_lists, 1):
            if not (isinstance(lists, tuple) and len(lists) == self.lists):
                yield Fault(
                    ("own_lists", number - 1), f"question {number} must have {self.lists} lists"
                )
            elif self._has_twins(number):
                yield Fault(("own_lists", number - 1), f"question {number} has a list twice")
            else:
                try:
                    build_question(number, lists, ("AP",), self.setting)
                except (ValueError, TypeError) as error:
                    yield Fault(("own_lists", number - 1), f"question {number}: {error}")
        if self.provenance:
            yield from self.provenance.faults(len(self.own_lists), self.lists)
        if self.own_lists and len(self.own_lists) != self.questions:
            yield Fault(
                ("own_lists",), f"{len(self.own_lists)} questions with lists, not {self.questions}"
            )

    def _has_twins(self, number: int) -> bool:
        """Return whether two lists of a question have equal positions and equal marks."""
        marks = self.own_marks[number - 1 : number] or (NO_MARKS,)
        lists = self.own_lists[number - 1]
        return len({(ranks, marks[0].of_list(index)) for index, ranks in enumerate(lists)}) < len(
            lists
        )

    def _registry_faults(self) -> Iterable[Fault]:
        names, texts = self.measures, name_faults(self.measures)
        if not texts and not 2 <= len(set(names)) == len(names) <= 6:
            shown = ", ".join(names) or "empty"
            texts.append(f"measures is {shown}; 2 to 6 different ones are allowed")
        return [Fault(("measures",), text) for text in texts]

    def _mark_faults(self) -> Iterable[Fault]:
        if self.marks and self.generator != "random":
            yield Fault(
                ("marks",),
                f"marks are dealt to drawn lists by the generator random; it is {self.generator}",
            )
        if self.own_marks and len(self.own_marks) != len(self.own_lists):
            yield Fault(
                ("own_marks",),
                f"{len(self.own_marks)} questions with marks, {len(self.own_lists)} with lists; "
                "both need the same number",
            )
            return
        if self.marks:
            positions = range(1, self.relevant + 1)
            for mark_type in self.marks.types:
                marks_of_type = Marks(**{mark_type: getattr(self.marks, mark_type)})
                yield from _mark_faults(
                    ("marks", mark_type), "marks", marks_of_type, [positions], self.collection_size
                )
        for index, marks in enumerate(self.own_marks):
            what = f"the marks of question {index + 1}"
            lists = self.own_lists[index]
            yield from _mark_faults(("own_marks", index), what, marks, lists, self.collection_size)
            if marks.types != self.own_marks[0].types:
                yield Fault(("own_marks", index), f"{what} are of other kinds than question 1's")

    def _need_faults(self) -> Iterable[Fault]:
        remedy = "items; give the lists clusters"
        unknown = bool(self.provenance and self.provenance.size_unknown)
        args = self.measures, self.marked, self.setting, remedy
        yield from need_faults(*args, size_unknown=unknown)
        yield from ordering_faults(self.measures, self.own_marks or (self.marks,))


def _cluster_names(marks: Marks) -> set[str]:
    return {name for row in marks.clusters for item in row for name in item}


def _mark_faults(
    place: Place, what: str, marks: Marks, lists: Iterable[Iterable[int]], collection_size: int
) -> Iterable[Fault]:
    try:
        marks.lists([list(ranks) for ranks in lists], collection_size)
    except ValueError as error:
        yield Fault(place, f"{what}: {error}")
    for name in _cluster_names(marks):
        if not re.fullmatch(NAME_RULE, name):
            yield Fault(
                place,
                f"{what}: {name!r} is no name of a cluster; up to 40 characters without spaces, "
                "commas, brackets and +, and not - alone, are allowed",
            )


def _read_own_lists(value: object, *, sort: bool, faults: list[Fault]) -> dict[str, Any]:
    try:
        own = tuple(
            tuple(tuple(_positions(ranks, sort=sort)) for ranks in lists)
            for lists in value  # type: ignore[attr-defined] # a value that is no list raises TypeError
        )
        sizes = {"questions": len(own), "lists": len(own[0]), "relevant": len(own[0][0])}
    except (TypeError, IndexError):
        faults.append(
            Fault(("own_lists",), "own_lists is no list of questions with lists of positions")
        )
        return {"own_lists": (), "generator": "random"}
    return {"own_lists": own, "generator": OWN_LISTS, **sizes}


def _positions(value: object, *, sort: bool) -> list[int]:
    if not isinstance(value, list | tuple) or not all(type(position) is int for position in value):
        raise TypeError
    return sorted(value) if sort else list(value)


def _read_marks(value: object, faults: list[Fault]) -> Marks:
    marks = Marks()
    if not isinstance(value, dict) or not set(value) <= set(MARK_TYPES):
        faults.append(
            Fault(
                ("marks",),
                f"marks is {value!r}; {', '.join(MARK_TYPES)} are allowed, each with a word for "
                "every relevant item, like grades: 2 1 1",
            )
        )
        return marks
    for mark_type, words in value.items():
        try:
            marks_of_type = Marks.from_json({mark_type: [words]} if words else {})
            marks = replace(marks, **{mark_type: getattr(marks_of_type, mark_type)})
        except (OverflowError, TypeError, ValueError):
            allowed = "a name" if mark_type == "clusters" else "a number"
            faults.append(
                Fault(
                    ("marks", mark_type),
                    f"{mark_type} is {words!r}; {allowed} for every relevant item is allowed",
                )
            )
    return marks


def _read_own_marks(value: object, faults: list[Fault]) -> tuple[Marks, ...]:
    try:
        if not isinstance(value, list | tuple):
            raise TypeError
        if not all(isinstance(item, dict) and set(item) <= set(MARK_TYPES) for item in value):
            raise TypeError
        return tuple(map(Marks.from_json, value))
    except (OverflowError, TypeError, ValueError):
        faults.append(
            Fault(
                ("own_marks",),
                "own_marks is no list of questions with grades, weights or clusters of every list",
            )
        )
        return ()


def _read_provenance(value: object, faults: list[Fault]) -> Provenance | None:
    try:
        return Provenance.from_json(value)
    except (TypeError, ValueError) as error:
        faults.append(Fault(("provenance",), f"provenance cannot be read: {error}"))
        return None


def ordering_plan(plan: Plan) -> OrderingPlan:
    """Return the plan of an ordering study; raises TypeError for one of another kind."""
    if not isinstance(plan, OrderingPlan):
        raise TypeError(f"this is a study of the kind {plan.kind}, not ordering")
    return plan
