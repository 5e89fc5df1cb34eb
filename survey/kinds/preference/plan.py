"""Preference: for one query, two lists side by side; people say which is better.

The pairs of lists are drawn from runs. Whether a measure agrees with people is whether its sign on
a pair is theirs (Sanderson et al., SIGIR 2010; Sakai & Zeng, SIGIR 2019 and TOIS 2021).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import combinations, groupby, product
from typing import Any, ClassVar, NamedTuple

from survey.core.measures import MEASURES, Setting, name_faults
from survey.core.studies.fields import (
    Choice,
    Fault,
    Rule,
    Switch,
    Whole,
    Words,
    as_tuple,
    declared,
    list_words,
)
from survey.core.studies.generators import Positions
from survey.core.studies.measure_needs import need_faults
from survey.core.studies.minutes import DocumentLoad
from survey.core.studies.plan import (
    GRID,
    GRID_COLUMNS,
    LAYOUT,
    MARK_QUERY_WORDS,
    NUMBERS,
    OTHER_TOPIC,
    PRACTICE,
    REPEATED,
    STRIP,
    Check,
    Plan,
)
from survey.core.studies.provenance import MOST_STORED_RESULTS, Provenance, QuestionSource
from survey.core.studies.questions import NO_MARKS, Marks, Question, build_question
from survey.core.studies.run_lists import MOST_PAIRED_TOPICS
from survey.core.studies.sample import (
    SampleRule,
    drawn,
    read_sample,
    refused_beside,
    sample_sentence,
    size_faults,
)

LEFT, RIGHT, EQUAL, NEITHER = "left", "right", "equal", "neither"
PREFERRED = (LEFT, RIGHT, EQUAL, NEITHER)
LIST_LETTERS = ("A", "B")  # the lists of a question; participants never see them


ALL, DISCRIMINATIVE = "all", "discriminative"
SELECTIONS = {
    ALL: "All pairs of runs for each topic",
    DISCRIMINATIVE: "Those on which measures contradict each other, balanced",
}
MOST_PAIRS = 1_000
MOST_MEASURES = 12
STRENGTH_SECONDS, SATISFACTION_SECONDS = 5, 8
PAIR_STREAM = 0x7061_6972  # "pair" in ASCII: random numbers unrelated to those of other draws
CHECK_STREAM = 0x6368_6563  # "chec"

MEASURES_HELP = (
    "One to twelve, separated by spaces, like AP NMRR P@10. Participants never see their names."
)
CONTRAST_HELP = "Two or more of the measures above, separated by spaces."
SELECTION_HELP = (
    "Where one of the measures that you name contradicts the others, a preference is a vote "
    "for it or against it. Each is that one equally often, and favours either of two runs equally "
    "often, so that people who like one run in general favour no measure."
)
OTHER_HELP = (
    "An attention check, at a random place: of two lists, one is of another topic. Who does not "
    "prefer the other one is flagged. The answer counts nowhere else."
)
AGAIN_HELP = (
    "An attention check: the number of a question, which comes again later with its sides swapped. "
    "Who then prefers the other list is flagged. The second answer counts nowhere else."
)
AGAIN = Whole("Ask a pair again", 1, MOST_PAIRS, optional=True, help=AGAIN_HELP)
ITS_OWN = "the list of the topic is preferred"
NOT_REVERSED = "the other list is not preferred the second time"
SMALLEST_LEAD_HELP = (
    "Of 100 answers, by how many must one system lead another to matter? Results may then say that "
    "people find two equally good, to within that many points. Empty: nothing is said of equality."
)
SAMPLE_UNITS = ("questions",)
SAMPLE = SampleRule(
    "Sample that people judge",
    help="Where a machine judges all pairs (`survey judge`): how many of them people are asked, "
    "drawn at random, the same for all, like “questions: 30”. Empty: people are asked all.",
    step="who",
    units=SAMPLE_UNITS,
)
SATISFACTION_HELP = "From 1, not at all, to 5, very."

ListsOfTopics = tuple[tuple[tuple[int, ...], ...], ...]
"""Topic → run → sorted positions of the relevant documents."""


class RunPair(NamedTuple):
    """Two lists that can be asked about: indices of the topic and of the two runs."""

    topic: int
    first: int
    second: int

    @property
    def runs(self) -> tuple[int, int]:
        """The indices of both runs."""
        return self.first, self.second


class Contest(NamedTuple):
    """A pair on which one measure of the contrast contradicts all others.

    ``alone``: the index of that measure, of two the first; ``sign``: 1 where it favours the first
    run, -1 where it favours the second.
    """

    alone: int
    sign: int
    pair: RunPair


class UnlikeLists(NamedTuple):
    """Two lists of different topics and runs, by the indices of these."""

    topic: int
    run: int
    other_topic: int
    other_run: int


def balanced_step(contrast: Sequence[str]) -> int:
    """Return the fewest pairs that are balanced: both directions for each measure that is alone."""
    return 2 if len(contrast) <= 2 else 2 * len(contrast)


@dataclass(frozen=True)
class PreferencePlan(Plan):
    """The settings of a study whose questions are pairs of lists from runs.

    ``own_lists``, ``own_marks``: of each topic the runs' positions and what is known of the
    documents there, as ``read_trec`` reads them; ``provenance``: topics, runs and first documents.
    ``contrast``: the measures of the selection DISCRIMINATIVE, two or more. ``questions``: how many
    pairs are asked, drawn by the seed where more could be. ``sample``: how many of these people
    are asked, drawn at random; a machine judges all.
    """

    kind: ClassVar[str] = "preference"
    varied: ClassVar[tuple[str, ...]] = ("criterion", "layout", "show_positions", "mark_relevant")
    letters: ClassVar[tuple[str, ...]] = LIST_LETTERS
    lists: ClassVar[int] = 2

    measures: tuple[str, ...] = declared(
        Words("Measures", help=MEASURES_HELP, step="what"), ("AP", "NMRR", "MNRO")
    )
    collection_size: int = declared(Whole("Collection size", 2, 100_000_000, step="what"), 100)
    own_lists: ListsOfTopics = ()
    own_marks: tuple[Marks, ...] = ()
    provenance: Provenance | None = None
    selection: str = declared(
        Choice("Which pairs are asked", SELECTIONS, help=SELECTION_HELP, step="what"), ALL
    )
    contrast: tuple[str, ...] = declared(
        Words(
            "Measures that contradict each other",
            help=CONTRAST_HELP,
            step="what",
            only_with=("selection", DISCRIMINATIVE),
        ),
        (),
    )
    questions: int = declared(Whole("Pairs of lists", 1, MOST_PAIRS), 10)
    practice: bool = declared(PRACTICE, False)  # as released; the preset turns it on
    depth: int = declared(Whole("First results of a list", 1, MOST_STORED_RESULTS), 10)
    show_items: bool = declared(Switch("Show the first results as pictures or texts"), False)
    layout: str = declared(LAYOUT, STRIP)
    grid_columns: int = declared(GRID_COLUMNS, 5)
    mark_relevant: bool = declared(Switch("Mark the results that were searched for"), False)
    mark_query_words: bool = declared(MARK_QUERY_WORDS, False)
    show_positions: bool = declared(Switch("Show positions as numbers"), True)
    other_topic: bool = declared(Switch("Show a list of another topic", help=OTHER_HELP), False)
    asked_again: int | None = declared(AGAIN, None)
    ask_strength: bool = declared(Switch("Ask how much better the preferred list is"), False)
    ask_satisfaction: bool = declared(
        Switch("Ask how satisfied people are with each list", help=SATISFACTION_HELP), False
    )
    shuffle_questions: bool = declared(Switch("Shuffle the questions for each participant"), True)
    smallest_lead: int | None = declared(
        Whole(
            "Smallest lead that matters, in points", 1, 100, optional=True, help=SMALLEST_LEAD_HELP
        ),
        None,
    )
    sample: Mapping[str, int] | None = declared(SAMPLE, None)

    @cached_property
    def sampled(self) -> tuple[int, ...]:
        """The numbers of the questions that people are asked: those of a sample, else all."""
        numbers = range(1, self.questions + 1)
        if not self.sample:
            return tuple(numbers)
        [number] = self.sample.values()
        return tuple(sorted(map(int, drawn(map(str, numbers), number, self.seed))))

    def asked_of(self, questions: Iterable[Question]) -> list[Question]:
        """Return those of the questions that people are asked and that count."""
        asked = {*self.sampled}
        return [each for each in questions if each.number in asked]

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """See ``Plan.blocks``: everyone is asked the same sample."""
        return (self.sampled,) if self.sample else ()

    @property
    def counted(self) -> int:
        """See ``Plan.counted``."""
        return len(self.sampled) if self.sample else super().counted

    @property
    def sample_sentence(self) -> str:
        """What people judge and what a machine does, without a full stop; "" without a sample."""
        return sample_sentence(self.sample, self.questions) if self.sample else ""

    @property
    def checks(self) -> tuple[Check, ...]:
        """OTHER_TOPIC and REPEATED, where the plan asks for them."""
        other = Check(OTHER_TOPIC, "a list against one of another topic", ITS_OWN, 1 / 4)
        # Of random answers 1/2 · 1/2 prefer a list both times, and half of these another one.
        again = Check(
            *(REPEATED, f"pair {self.asked_again} once more, sides swapped", NOT_REVERSED, 7 / 8),
            again=self.asked_again,
        )
        return (*((other,) if self.other_topic else ()), *((again,) if self.asked_again else ()))

    @property
    def has_items(self) -> bool:
        """Whether questions show pictures or texts of documents."""
        return self.show_items and self.layout != NUMBERS

    def seconds_each(self, documents: DocumentLoad) -> float:
        """See ``Plan.seconds_each``; seconds for strength and satisfaction are added if asked."""
        seconds = 45 if self.has_items and documents.texts else 30
        more = STRENGTH_SECONDS * self.ask_strength + SATISFACTION_SECONDS * self.ask_satisfaction
        return seconds + more

    @property
    def origin(self) -> str:
        """See ``Plan.origin``."""
        return self.provenance.sentence if self.provenance else ""

    @property
    def setting(self) -> Setting:
        """The setting that the measures are computed in."""
        level = self.provenance.relevant_from if self.provenance else 1
        columns = self.grid_columns if self.has_items and self.layout == GRID else None
        return Setting(self.collection_size, relevant_from=level, columns=columns)

    @property
    def marked(self) -> tuple[str, ...]:
        """The types of marks that measures read; participants see none of them."""
        return self.own_marks[0].types if self.own_marks else ()

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers that texts may speak of."""
        sizes = {"collection_size": self.collection_size, "depth": self.depth}
        return super().numbers | sizes

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics, in the order of ``own_lists``."""
        return self.provenance.topics if self.provenance else ()

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs, in the order of ``own_lists``."""
        return self.provenance.runs if self.provenance else ()

    def draw_questions(self) -> list[Question]:
        """Return a question for each selected pair, by topic and then by run; checks follow."""
        pairs = sorted(self._selected(), key=lambda pair: (pair.topic, pair.runs))
        questions = [self._question(number, pair) for number, pair in enumerate(pairs, 1)]
        if number := self.number_of(OTHER_TOPIC):
            questions.append(self._of_other_topic(number))
        if self.asked_again:
            original = questions[self.asked_again - 1]
            questions.append(replace(original, number=self.last_number))
        return questions

    def _of_other_topic(self, number: int) -> Question:
        """Return a list with a match among its first, against one in which no match is."""
        [lists] = self._unlike
        ranks = self.own_lists[lists.topic][lists.run]
        marks = self.own_marks[lists.topic] if self.own_marks else NO_MARKS
        source, run, other = None, lists.run, lists.other_run
        if self.provenance is not None:
            documents, depth = self.provenance.documents, self.depth
            both = documents[lists.topic][lists.run], documents[lists.other_topic][lists.other_run]
            source = QuestionSource(
                self.topics[lists.topic],
                dict(zip(LIST_LETTERS, (self.runs[each] for each in (run, other)), strict=True)),
                dict(zip(LIST_LETTERS, (row[:depth] for row in both), strict=True)),
            )
        both_marks = marks.reordered((lists.run, lists.run))
        positions = [ranks, self._last(len(ranks))]
        return build_question(number, positions, self.measures, self.setting, both_marks, source)

    def _last(self, count: int) -> range:
        """Return the last positions, as which documents count that a list does not have."""
        return range(self.collection_size - count + 1, self.collection_size + 1)

    @cached_property
    def _unlike(self) -> list[UnlikeLists]:
        """A list with a match among its first, and one of another topic and run without any.

        Drawn by the seed; empty where there are no such lists.
        """
        documents = self.provenance.documents if self.provenance else ()
        order = Positions(self.seed, 0, CHECK_STREAM).order(len(documents))
        for topic in order:
            matches = [sum(rank <= self.depth for rank in ranks) for ranks in self.own_lists[topic]]
            run = matches.index(max(matches))
            last = self._last(len(self.own_lists[topic][run]))
            marks_last = self.has_items and self.mark_relevant and last[0] <= self.depth
            if not matches[run] or marks_last or self.own_lists[topic][run] == (*last,):
                continue
            known = {*documents[topic][run][: self.depth], *self._matches(topic)}
            for other, another in product(order, range(len(self.runs))):
                row = documents[other][another][: self.depth]
                if other != topic and another != run and row and known.isdisjoint(row):
                    return [UnlikeLists(topic, run, other, another)]
        return []

    def _matches(self, topic: int) -> Iterator[str]:
        """Yield the known documents of a topic's lists that match it."""
        documents = self.provenance.documents[topic] if self.provenance else ()
        for row, ranks in zip(documents, self.own_lists[topic], strict=True):
            yield from (row[rank - 1] for rank in ranks if rank <= len(row))

    @cached_property
    def pairs(self) -> list[RunPair]:
        """All pairs of runs for each topic whose lists look different on the page."""
        count = len(self.runs)
        return [
            RunPair(topic, *both)
            for topic in range(len(self.topics))
            for both in combinations(range(count), 2)
            if self._shown(topic, both[0]) != self._shown(topic, both[1])
        ]

    def _shown(self, topic: int, run: int) -> tuple[Any, ...]:
        """Return what the page shows of a list, to find lists that look alike."""
        documents = self.provenance.documents[topic][run] if self.provenance else ()
        return (
            documents[: self.depth] if self.has_items else (),
            self.own_lists[topic][run] if self.show_positions else (),
        )

    @cached_property
    def contests(self) -> list[Contest]:
        """The pairs on which one measure of the contrast contradicts the others."""
        contests = []
        for pair in self.pairs:
            question = self._question(0, pair, self.contrast)
            signs = [sign_of(question, measure) for measure in self.contrast]
            alone = _index_alone(signs)
            if alone is not None:
                contests.append(Contest(alone, signs[alone], pair))
        return contests

    @staticmethod
    def fewest_questions(values: Mapping[str, Any]) -> int:
        """Return the fewest questions of a plan with these values: 1, or one balanced step."""
        if values.get("selection") != DISCRIMINATIVE:
            return 1
        return balanced_step(as_tuple(values.get("contrast", ())))

    @property
    def most_questions(self) -> int:
        """How many questions can be asked of the lists; MOST_PAIRS at most."""
        if self.selection == ALL:
            return min(len(self.pairs), MOST_PAIRS)
        step = balanced_step(self.contrast)
        return min(self.balanced, MOST_PAIRS // step * step)

    @property
    def balanced(self) -> int:
        """The number of pairs of the largest balanced selection."""
        return balanced_step(self.contrast) * min(map(len, self._couples()))

    def _couples(self) -> list[list[tuple[RunPair, RunPair]]]:
        """Return, for each measure that can be alone, couples of pairs of the same two runs.

        It favours the one run in one pair of a couple, and the other run in the other pair.
        """
        order = Positions(self.seed, 0, PAIR_STREAM).order(len(self.contests))
        shuffled = [self.contests[index] for index in order]
        alone = range(balanced_step(self.contrast) // 2)
        return [[*_coupled(each for each in shuffled if each.alone == index)] for index in alone]

    def _selected(self) -> Iterator[RunPair]:
        """Draw as many pairs as there are questions; DISCRIMINATIVE ones are drawn in couples."""
        if self.selection == ALL:
            order = Positions(self.seed, 1, PAIR_STREAM).order(len(self.pairs))
            yield from (self.pairs[index] for index in order[: self.questions])
            return
        for number, couples in enumerate(self._couples(), 1):
            order = Positions(self.seed, number, PAIR_STREAM).order(len(couples))
            for index in order[: self.questions // balanced_step(self.contrast)]:
                yield from couples[index]

    def _question(
        self, number: int, pair: RunPair, measures: Sequence[str] | None = None
    ) -> Question:
        """Build the question of a pair: list A is of the first run, list B of the second."""
        ranks = [self.own_lists[pair.topic][run] for run in pair.runs]
        marks = self.own_marks[pair.topic] if self.own_marks else NO_MARKS
        source = None
        if self.provenance is not None:
            topic_number = pair.topic + 1
            source = self.provenance.of_question(topic_number, LIST_LETTERS, pair.runs, self.depth)
        return build_question(
            number,
            ranks,
            self.measures if measures is None else measures,
            self.setting,
            marks.reordered(pair.runs),
            source,
        )

    @property
    def selection_sentence(self) -> str:
        """How the pairs were selected, and the sample, for every output; without a full stop."""
        return "; ".join(filter(None, (self._selection, self.sample_sentence)))

    @property
    def _selection(self) -> str:
        runs, topics = len(self.runs), len(self.topics)
        possible = runs * (runs - 1) // 2 * topics
        alike = possible - len(self.pairs)
        of_all = f"{possible} pairs of {runs} runs for {topics} topic{'s' * (topics != 1)}"
        left_out = f", {alike} that look alike left out" if alike else ""
        if self.selection == ALL:
            drawn = len(self.pairs) - self.questions
            some = f"{self.questions} drawn with seed {self.seed} from" if drawn else "all"
            return f"{some} {of_all}{left_out}"
        return (
            f"{self.questions} of the {len(self.contests)} pairs on which {self._contradiction}, "
            f"of {of_all}{left_out}; balanced: {self._balance}; drawn with seed {self.seed}"
        )

    @property
    def _contradiction(self) -> str:
        named = list_words(self.contrast)
        if len(self.contrast) == 2:
            return f"{named} contradict each other"
        return f"one of {named} contradicts the others"

    @property
    def _balance(self) -> str:
        """What is equally frequent in the selection, and how frequent it is among all contests."""
        first = self.contrast[0]
        if len(self.contrast) == 2:
            favour = sum(each.sign > 0 for each in self.contests)
            return (
                f"of each two runs, {first} favours either one equally often (before that, the "
                f"earlier run in {favour})"
            )
        return (
            f"each measure is alone equally often (before that, {self._alone}), and then favours "
            "either of two runs equally often"
        )

    @property
    def _why(self) -> str:
        """Why no more pairs can be balanced: the numbers of contests for each measure or run."""
        if len(self.contrast) > 2:
            couples = zip(self.contrast, self._couples(), strict=True)
            balanced = list_words([f"{name} in {2 * len(each)}" for name, each in couples])
            return f"{self._alone}; with either run as often, {balanced}"
        favour = sum(each.sign > 0 for each in self.contests)
        return (
            f"and {self.contrast[0]} favours the earlier run in {favour} of them, the later one in "
            f"{len(self.contests) - favour}"
        )

    @property
    def _alone(self) -> str:
        """How often each measure of the contrast is the one that contradicts the others."""
        counts = Counter(each.alone for each in self.contests)
        return list_words([f"{name} in {counts[i]}" for i, name in enumerate(self.contrast)])

    def as_json(self) -> dict[str, Any]:
        """Return the plan as plain lists and dictionaries, for storage."""
        return super().as_json() | {
            "own_marks": [marks.as_json() for marks in self.own_marks],
            "provenance": self.provenance and self.provenance.as_json(),
        }

    @classmethod
    def _read(cls, values: dict[str, Any], faults: list[Fault]) -> None:
        parsers: dict[str, Callable[[Any], Any]] = {
            "own_lists": _parse_lists,
            "own_marks": lambda each: tuple(map(Marks.from_json, each)),
            "provenance": lambda each: each and Provenance.from_json(each),
        }
        for name, parse in parsers.items():
            default = next(item.default for item in fields(cls) if item.name == name)
            try:
                values[name] = parse(values.get(name, default))
            except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
                faults.append(Fault((name,), f"{name} cannot be read: {error}"))
                values[name] = default
        values["sample"] = read_sample(values.get("sample"), SAMPLE_UNITS, faults)

    def _tidy(self) -> None:
        super()._tidy()
        for name in ("measures", "contrast"):
            self._as_tuple(name)
        object.__setattr__(self, "measures", MEASURES.in_order(self.measures))
        object.__setattr__(self, "contrast", tuple(map(MEASURES.canonical, self.contrast)))

    def _registry_faults(self) -> list[Fault]:
        texts = name_faults(self.measures)
        if not 1 <= len({*self.measures}) == len(self.measures) <= MOST_MEASURES:
            shown = ", ".join(map(str, self.measures)) or "empty"
            texts.append(f"measures is {shown}; 1 to {MOST_MEASURES} different ones are allowed")
        return [Fault(("measures",), text) for text in texts]

    def _number_faults(self) -> Iterator[Fault]:
        if self.provenance is None:
            text = "own_lists is empty; judgements and two runs or more fill it"
            yield Fault(("own_lists",), text)
            return
        yield from self.provenance.faults(len(self.own_lists), len(self.runs))
        if len(self.runs) < 2:
            yield Fault(("provenance",), "provenance has one run; two are compared")
        if len(self.own_lists) > MOST_PAIRED_TOPICS:
            text = f"{len(self.own_lists)} topics; {MOST_PAIRED_TOPICS} are allowed"
            yield Fault(("own_lists",), text)
        if self.own_marks and len(self.own_marks) != len(self.own_lists):
            text = f"{len(self.own_marks)} topics have marks, {len(self.own_lists)} have lists"
            yield Fault(("own_marks",), text)
            return
        for index, lists in enumerate(self.own_lists):
            try:
                if len(lists) != len(self.runs):
                    raise ValueError(f"{len(lists)} lists; {len(self.runs)} runs need as many")
                marks = self.own_marks[index] if self.own_marks else NO_MARKS
                build_question(0, lists, (), self.setting, marks)
            except (IndexError, TypeError, ValueError) as error:
                place = ("own_lists", index)
                yield Fault(place, f"topic {self.topics[index]}: {error}")
        if not (self.has_items or self.show_positions):
            text = "nothing of the lists is shown; turn show_items on, or show_positions"
            yield Fault(("show_positions",), text)

    def _sample_faults(self) -> Iterator[Fault]:
        if not self.sample:
            return
        yield from size_faults(self.sample, self.questions)
        design = {"design": self.design} if self.design != "all" else {}
        yield from refused_beside(design, "everyone is asked the same questions of a sample")
        again = self.asked_again
        if again and again not in self.sampled:
            asked = ", ".join(map(str, self.sampled))
            text = f"asked_again is {again}, which the sample has not; it has {asked}"
            yield Fault(("asked_again",), text)

    def _later_faults(self, *, registered: bool) -> Iterator[Fault]:
        contrast = self.contrast
        yield from self._sample_faults()
        if self.selection == ALL and contrast:
            yield Fault(("contrast",), f"contrast is {list_words(contrast)}; the selection is all")
        elif self.selection == DISCRIMINATIVE and (
            not 2 <= len({*contrast}) == len(contrast) or not {*contrast} <= {*self.measures}
        ):
            shown = list_words(contrast) or "empty"
            known = f"of {', '.join(self.measures)}" if len(self.measures) > 1 else "measures"
            yield Fault(("contrast",), f"contrast is {shown}; two or more {known} are needed")
        elif registered:
            yield from self._need_faults() or self._pair_faults()
        if self.other_topic and not self._unlike:
            yield Fault(
                ("other_topic",),
                "no list of one topic has nothing in common with one of another topic; leave it "
                "out, or give other runs or topics",
            )

    def _rules(self) -> dict[str, Rule]:
        rules, questions = super()._rules(), self.questions
        if isinstance(questions, int):
            # In a fixed order, other questions have to come before it is asked again.
            is_fixed = self.design == "all" and not self.shuffle_questions
            latest = max(1, (questions + 1) // 2 if is_fixed else questions)
            rules["asked_again"] = replace(AGAIN, highest=latest)
        return rules

    def _need_faults(self) -> list[Fault]:
        remedy = "documents; give a file of clusters"
        unknown = bool(self.provenance and self.provenance.size_unknown)
        args = self.measures, self.marked, self.setting, remedy
        return [*need_faults(*args, size_unknown=unknown)]

    def _pair_faults(self) -> Iterator[Fault]:
        """Yield why ``questions`` pairs cannot be asked, or why no pair can be."""
        if not self.pairs:
            text = f"all lists look the same for {self._source}, so no pair of them can be asked"
            yield Fault(("own_lists",), f"{text}. Show other things of them, or give other runs")
        elif self.selection == ALL:
            if self.questions > len(self.pairs):
                text = f"questions is {self.questions}; {len(self.pairs)} pairs of lists differ"
                yield Fault(("questions",), text)
        elif not self.balanced:
            yield Fault(("contrast",), self._why_none_balanced)
        elif self.questions % (step := balanced_step(self.contrast)):
            text = f"questions is {self.questions}; balanced pairs need a multiple of {step}"
            yield Fault(("questions",), text)
        elif self.questions > self.balanced:
            contradict = f"{self._contradiction} on {len(self.contests)} pairs"
            text = f"{self.balanced} can be balanced: {contradict}, {self._why}"
            yield Fault(("questions",), f"questions is {self.questions}; {text}")

    @property
    def _source(self) -> str:
        """How many runs and topics there are."""
        topics = len(self.topics)
        return f"{len(self.runs)} runs and {topics} topic{'s' * (topics != 1)}"

    @property
    def _why_none_balanced(self) -> str:
        """Why no balanced pair can be asked, and what to do."""
        count = len(self.contests)
        of_all = f"only {count} of {len(self.pairs)}" if count else f"none of {len(self.pairs)}"
        named, verb = list_words(self.contrast), "disagree"
        if len(self.contrast) > 2:
            named, verb = f"one of {named}", "contradicts the others"
        reason = f"{named} {verb} on {of_all} pairs"
        if self.contests and len(self.contrast) == 2:
            reason += ", always for the same run"
        elif self.contests:
            reason += f": {self._why}, of which none may be 0"
        remedy = "Leave the field empty, or add runs or measures"
        return f"{reason}. Balanced pairs do not exist. {remedy}"


def _index_alone(signs: Sequence[int]) -> int | None:
    """Return the index of the sign that contradicts all others, of two signs 0; else None."""
    if 0 in signs:
        return None
    return next((index for index, sign in enumerate(signs) if signs.count(sign) == 1), None)


def _coupled(contests: Iterable[Contest]) -> Iterator[tuple[RunPair, RunPair]]:
    """Yield couples of pairs of the same two runs, one pair for each direction.

    Pairs without a counterpart are left out.
    """
    ordered = sorted(contests, key=lambda each: each.pair.runs)
    for _, of_runs in groupby(ordered, key=lambda each: each.pair.runs):
        directions: dict[int, list[RunPair]] = {1: [], -1: []}
        for each in of_runs:
            directions[each.sign].append(each.pair)
        yield from zip(*directions.values(), strict=False)


def _parse_lists(value: Any) -> ListsOfTopics:
    """Parse topic → run → positions; raises TypeError for anything else."""
    lists = tuple(tuple(tuple(ranks) for ranks in of_topic) for of_topic in value)
    if any(type(rank) is not int for each in lists for ranks in each for rank in ranks):
        raise TypeError("topics with lists of whole numbers are needed")
    return lists


def sign_of(question: Question, measure: str) -> int:
    """Return 1 where a measure favours list A, -1 where it favours list B, 0 for a tie."""
    places = question.columns[measure].ranking.places
    return (places["B"] > places["A"]) - (places["B"] < places["A"])


@dataclass(frozen=True)
class PairsOfFile:
    """What is known of the pairs without a plan; ``own_lists``, ``own_marks`` as of a plan."""

    runs: tuple[str, ...]
    ask_strength: bool
    ask_satisfaction: bool
    measures: tuple[str, ...] = ()
    own_lists: ListsOfTopics = ()
    own_marks: tuple[Marks, ...] = ()
    setting: Setting = field(default_factory=lambda: Setting(100))
    arms: tuple[str, ...] = ()
    smallest_lead: int | None = None

    @property
    def selection_sentence(self) -> str:
        """That it is not known how pairs were selected."""
        return "those of the file, which does not say how they were selected"
