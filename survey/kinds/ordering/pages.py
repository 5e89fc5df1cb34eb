"""Pages of ordering questions: the form for ticked columns or an own ordering, and its values."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from sqlalchemy.orm import Session
from wtforms import Field, HiddenField, SelectChoice, SelectMultipleField
from wtforms.validators import ValidationError

from survey.core.agreement.answers import DIFFERING_TICKS, REVERSED
from survey.core.studies.plan import Plan
from survey.core.studies.questions import BlindedQuestion
from survey.core.studies.rankings import Ranking, letters_for
from survey.errors import marked
from survey.kinds.ordering.answer import MATCH, OWN, OrderingAnswer, OrderingDoubt
from survey.kinds.ordering.plan import AFTER, FOLDED, NEAREST, NEVER, OPEN, OrderingPlan
from survey.services.participation import answers
from survey.services.participation.answers import ShownQuestion
from survey.web.forms import AnswerForm, Form
from survey.web.language import (
    and_join,
    answer_in_words,
    chosen_in_words,
    gettext,
    methods,
    ngettext,
    order,
    ranking_in_words,
)
from survey.web.participant.kind_pages import PracticeScreen

# The screens of the practice.
READING, OWN_ORDER, EQUAL, METHODS = "reading", "own", "equal", "methods"
SEEN = {"yes": True, "no": False}  # values of the form's field scores_seen


@dataclass(frozen=True)
class FilledIn:
    """The ticks and places that a question's table shows; hashable, as a key of the page cache.

    ``ticked``: labels "1", "2", …, or "own"; ``chosen``: each letter with its place, None where
    it has none yet; ``unplaced``: the letters that are marked because they need a place;
    ``first``: the own ordering from before the methods were shown, if there is one;
    ``scores_seen``: "yes", "no", or "" where it is unknown.
    """

    ticked: tuple[str, ...]
    chosen: tuple[tuple[str, int | None], ...]
    unplaced: tuple[str, ...] = ()
    first: Ranking | None = None
    scores_seen: str = ""

    @classmethod
    def answer(cls, stored: OrderingAnswer, view: BlindedQuestion) -> "FilledIn":
        """Return the ticks and places of a stored answer; those of a typed one are places."""
        seen = next((word for word, seen in SEEN.items() if seen is stored.scores_seen), "")
        own = stored.own
        if stored.typed:
            own = view.column(min(stored.clicked)).ranking
        ticked = (OWN,) if own else tuple(str(label) for label in sorted(stored.clicked))
        return replace(cls.ranking(own, view.letters, ticked), scores_seen=seen)

    @classmethod
    def ranking(
        cls, own: Ranking | None, letters: Iterable[str], ticked: tuple[str, ...] = ()
    ) -> "FilledIn":
        """Return the places of an own ranking, or empty places."""
        places: Mapping[str, int] = own.places if own else {}
        return cls(ticked, tuple((letter, places.get(letter)) for letter in sorted(letters)))

    @property
    def places(self) -> dict[str, int | None]:
        """``chosen`` as a dictionary."""
        return dict(self.chosen)

    def in_words(self, ticks: str) -> str:
        """Return what will be saved, in words; "" where nothing is chosen yet.

        ``ticks``: what a tick means, as in the plan.
        """
        labels = [int(value) for value in self.ticked if value != OWN]
        return chosen_in_words(labels, self.places, nearest=ticks == NEAREST)

    @property
    def ordering(self) -> Ranking | None:
        """The own ranking, None while a list has no place."""
        complete = None not in self.places.values()
        return Ranking.by_key(self.places) if complete else None  # type: ignore[arg-type] # no None


@dataclass(frozen=True)
class CheckQuestion:
    """In which of two lists the first match is earlier; ``better``: the number of the right one."""

    ranks: Sequence[Sequence[int]]
    better: int


class ChoiceField(SelectMultipleField):  # type: ignore[misc] # WTForms has no type hints
    """The ticked columns; an unknown value is dropped, with an error that does not repeat it."""

    data: list[str]

    def pre_validate(self, form: Form) -> None:
        """Reject values that no checkbox of the page has."""
        offered = {choice.value for choice in self.choices}
        ticked = self.data or []
        if set(ticked) - offered or len(ticked) > len(offered):
            self.data = [value for value in ticked if value in offered]
            raise ValidationError(gettext("Something was ticked that this page does not offer."))


class PlacesField(Field):  # type: ignore[misc] # WTForms has no type hints
    """The places of an own ranking, sent as rank-A, rank-B, …; each may be empty.

    ``misplaced``: the letters whose value is not a place.
    """

    data: dict[str, int | None]

    def __init__(self, letters: Sequence[str], **kwargs: object):
        super().__init__(**kwargs)
        self.letters, self.misplaced = letters, list[str]()
        self.offered = {str(number): number for number in range(1, len(letters) + 1)} | {"": None}

    def process(self, formdata: Any, data: object = None, extra_filters: Any = None) -> None:
        """Read the places; a value that the page does not offer is an error, and no place."""
        sent = {
            letter: (formdata or {}).get(f"rank-{letter}", "").strip() for letter in self.letters
        }
        self.data = {letter: self.offered.get(place) for letter, place in sent.items()}
        self.misplaced = [letter for letter, place in sent.items() if place not in self.offered]
        self.process_errors = [
            gettext(
                "Your place for %(letter)s: a place from 1 to %(last)s, please.",
                letter=letter,
                last=len(self.letters),
            )
            for letter in self.misplaced
        ]


class PlacesForm(AnswerForm):
    """An own place for each list of a question; subclasses have the field ``placed``."""

    @property
    def missing(self) -> list[str]:
        """The letters that have no place yet."""
        return [letter for letter, place in self.places.items() if place is None]

    @property
    def ordering(self) -> Ranking | None:
        """The own ranking, None while a list has no place."""
        return self.filled_in.ordering

    @property
    def unplaced(self) -> list[str]:
        """The letters that still need a place, in a form with errors."""
        return self.missing if self.errors else []

    @property
    def filled_in(self) -> FilledIn:
        """The places, without ticks."""
        return FilledIn((), tuple(self.places.items()), tuple(self.unplaced))

    @property
    def places(self) -> dict[str, int | None]:
        """The places chosen so far, by letter."""
        return self.placed.data  # type: ignore[no-any-return] # WTForms has no type hints

    def control_id(self, field: Field) -> str:
        """Return the field of the first list whose place is invalid or missing."""
        if field is not self.placed:
            return str(field.name)
        return f"rank-{[*self.placed.misplaced, *self.missing][0]}"


class RankingForm(PlacesForm):
    """The own ranking that is asked before the methods are shown; made by ``ranking_form``."""

    asks = confirms = (REVERSED,)

    def validate(self, extra_validators: object = None) -> bool:
        """Check that every list has a place."""
        super().validate(extra_validators)
        if self.missing and not self.errors:
            self.placed.errors = [_incomplete(self.missing)]
        return not self.errors


class QuestionForm(PlacesForm):
    """The answer to a question: ticks, or an own ranking; made by ``ordering_form``.

    ``settle``: the choice after the page asked back, see ``OrderingDoubt.settle``. ``scores_seen``:
    "yes" where the scores were opened, "no" where a script saw that they were not. ``settled``: the
    answer that is saved, with what was chosen and credited.
    """

    asks = (DIFFERING_TICKS, REVERSED)
    confirms = (REVERSED,)
    scores: str | None  # how the plan shows them, None for not at all

    settle = HiddenField()
    scores_seen = HiddenField()
    settled: OrderingAnswer | None = None

    def validate(self, extra_validators: object = None) -> bool:
        """Check each field, then that ticks and places make one answer."""
        super().validate(extra_validators)
        if not self.choice.errors:
            self._check_answer()
        return not self.errors

    def _check_answer(self) -> None:
        chosen, placed = set(self.choice.data or ()), self.places
        missing = self.missing
        if not chosen and len(missing) < len(placed):
            self.choice.data = [OWN]  # places without a tick are an own order
            chosen = {OWN}
        if not chosen:
            self.add_error(gettext("Tick a method, or give your own order."))
        elif OWN in chosen and chosen != {OWN}:
            self.add_error(gettext("You ticked your own order and a method. Please untick one."))
        elif OWN in chosen and missing:
            self.add_error(_incomplete(missing))

    def add_error(self, sentence: str) -> None:
        """Add an error beside the ticks."""
        self.choice.errors = [*self.choice.errors, sentence]

    def control_id(self, field: Field) -> str:
        """Return the field of the first list without a place, or of the ticks."""
        if field is not self.choice:
            return super().control_id(field)
        return f"rank-{self.unplaced[0]}" if self.unplaced else "answer"

    @property
    def refusal(self) -> str:
        """See ``AnswerForm.refusal``."""
        chosen = self.choice.data or ()
        is_both = OWN in chosen and len(chosen) > 1
        return answers.CONTRADICTORY if is_both else super().refusal

    @property
    def unplaced(self) -> list[str]:
        """The letters that still need a place, in an own order with errors."""
        wanted = OWN in (self.choice.data or ()) and self.choice.errors
        return [letter for letter, place in self.places.items() if wanted and place is None]

    @property
    def filled_in(self) -> FilledIn:
        """The ticks and places that the table shows."""
        ticked, places = tuple(self.choice.data or ()), tuple(self.places.items())
        seen = self.scores_seen.data if self.scores_seen.data in SEEN else ""
        return FilledIn(ticked, places, tuple(self.unplaced), scores_seen=seen)

    @property
    def says_more(self) -> bool:
        """Whether the answer counts for a method that was not ticked."""
        return self.answer.typed

    @property
    def answer(self) -> OrderingAnswer:
        """The answer of a valid form."""
        if self.settled is not None:
            return self.settled
        seen = True if self.scores == OPEN else None
        if self.scores == FOLDED:
            seen = SEEN.get(self.scores_seen.data or "")
        if OWN in self.choice.data:
            return OrderingAnswer(frozenset(), self.ordering, scores_seen=seen)
        return OrderingAnswer(frozenset(map(int, self.choice.data)), None, scores_seen=seen)

    def doubt_of(self, plan: OrderingPlan, shown: ShownQuestion) -> OrderingDoubt | None:
        """Return the doubt about a valid form's answer, None once it is settled.

        An own ordering that is a method's is credited to it. An answer that equals the stored one
        is not asked about again. A participant who wants to give an own ordering instead gets the
        page without ticks.
        """
        if unused := self._unused_ordering(shown):
            if self.settle.data not in (MATCH, OWN):
                return unused
            if self.settle.data == OWN:
                self.choice.data = [OWN]
            self.settle.data = ""
        if plan.columns != NEVER:
            self.settled = self.answer.credited(shown.view)
        doubt = OrderingDoubt.of(plan, shown.view, self.answer)
        if doubt is None or doubt.kind == REVERSED:
            return doubt
        stored = shown.stored
        if stored and (stored.answer, stored.asked) == (self.answer, doubt.kind):
            self.asked.data = doubt.kind
            return None
        self.settled = doubt.settle(self.answer, self.settle.data or "")
        if self.settled is not None:
            self.asked.data = doubt.kind
            return None
        if doubt.wants_own_ordering(self.settle.data or ""):
            self.choice.data = [OWN]
        return doubt

    def _unused_ordering(self, shown: ShownQuestion) -> OrderingDoubt | None:
        """Return the doubt about an own ordering beside a tick, unless it was stored before."""
        own = self.ordering
        if own is None or OWN in self.choice.data:
            return None
        if shown.stored and FilledIn.answer(shown.stored.answer, shown.view).ordering == own:
            return None
        return OrderingDoubt.of_unused(shown.view, self.answer.clicked, own)


def _incomplete(missing: Sequence[str]) -> str:
    return ngettext(
        "Your own order is not complete: give a place to %(letters)s.",
        "Your own order is not complete: give a place to %(letters)s.",
        len(missing),
        letters=and_join(missing),
    )


@cache
def ranking_form(lists: int) -> type[RankingForm]:
    """Return the form class for an own ranking of this many lists."""
    return type("RankingForm", (RankingForm,), {"placed": PlacesField(letters_for(lists))})


@cache
def ordering_form(labels: int, lists: int, scores: str | None = None) -> type[QuestionForm]:
    """Return the form class for questions with these numbers of labels and lists.

    ``scores``: how the methods' are shown, OPEN or FOLDED; None for not at all.
    """
    values = (*range(1, labels + 1), OWN)
    choice = ChoiceField(choices=[SelectChoice(str(value)) for value in values])
    fields = {"choice": choice, "placed": PlacesField(letters_for(lists)), "scores": scores}
    return type("QuestionForm", (QuestionForm,), fields)


class OrderingPages:
    """The pages of ordering questions, in place of those that ``KindPages`` derives from fields."""

    variant_words = (
        "Label order",
        "The first digit is the number, in the plan, of the measure behind Method 1.",
    )
    work_template = "participant/ordering/_work.html"
    art_template = "participant/ordering/_art.html"
    question_template = "participant/ordering/question.html"
    answer_template = "participant/ordering/_answer.html"
    first_template = "participant/ordering/ranking.html"
    answer_note = marked("Order, best first")

    def plan_form(self) -> type[Form]:
        """Return the form of the plan; its module is loaded for researchers only."""
        from survey.kinds.ordering.plan_form import OrderingForm

        return OrderingForm

    def form(self, plan: OrderingPlan) -> type[AnswerForm]:
        """Return the form of this study: a label for each measure, and its lists."""
        if plan.columns == NEVER:
            return ordering_form(0, plan.lists)
        scores = plan.scores if plan.show_values else None
        return ordering_form(len(plan.measures), plan.lists, scores)

    def filled_in(self, plan: OrderingPlan, shown: ShownQuestion) -> FilledIn:
        """Return the stored answer; without one, the ranking from before, chosen."""
        first = shown.drawn.ranked_first
        if shown.stored is not None:
            return replace(FilledIn.answer(shown.stored.answer, shown.view), first=first)
        return replace(FilledIn.ranking(first, plan.letters, (OWN,) if first else ()), first=first)

    def filled_in_again(
        self, plan: OrderingPlan, shown: ShownQuestion, form: QuestionForm
    ) -> FilledIn:
        """Return what was sent, beside the ranking from before."""
        return replace(form.filled_in, first=shown.drawn.ranked_first)

    def empty(self, plan: OrderingPlan) -> FilledIn:
        """Return no ticks and no places."""
        return FilledIn.ranking(None, plan.letters)

    def doubt_of(
        self, plan: OrderingPlan, form: QuestionForm, shown: Callable[[], ShownQuestion]
    ) -> OrderingDoubt | None:
        """Return the doubt about an own ordering, or several ticks; None to save the answer."""
        is_one_tick = form.answer.own is None and len(form.answer.clicked) == 1
        # After an own ordering from before the methods were shown, a tick is the answer.
        if is_one_tick and (form.ordering is None or plan.columns == AFTER):
            return None
        question = shown()
        doubt = form.doubt_of(plan, question)
        if doubt is None or doubt.kind != REVERSED:
            return doubt
        # An obvious question is to find such answers.
        is_real = 0 < question.number <= plan.last_number
        drawn = question.drawn
        if drawn and drawn.ranked_asked and drawn.ranked_first == form.ordering:
            form.asked.data = REVERSED
        return doubt if is_real else None

    def first_doubt_of(
        self, plan: OrderingPlan, form: RankingForm, shown: ShownQuestion
    ) -> OrderingDoubt | None:
        """Return the doubt about the own ranking from before the methods are shown."""
        if not form.ordering or not 0 < shown.number <= plan.last_number:
            return None
        return OrderingDoubt.of(plan, shown.view, OrderingAnswer(frozenset(), form.ordering))

    def practice_screens(self, plan: OrderingPlan) -> Sequence[PracticeScreen]:
        """Return the check of reading, then a screen for each way to answer that the plan has."""
        names = (OWN_ORDER, EQUAL) if plan.columns == NEVER else (OWN_ORDER, EQUAL, METHODS)
        reading = PracticeScreen(READING, "participant/ordering/reading.html")
        screens = [PracticeScreen(name, "participant/ordering/practice.html") for name in names]
        return [reading, *screens] if self.check(plan) else screens

    def practice_doubt(
        self, plan: OrderingPlan, screen: str, view: BlindedQuestion
    ) -> tuple[AnswerForm, OrderingDoubt | None] | None:
        """Ask back about an own order that puts a list below one that it beats everywhere."""
        if screen != OWN_ORDER:
            return None
        form = ranking_form(len(view.letters))()
        own = form.ordering
        if own is None or not (pairs := view.reversed_by(own)):
            return form, None
        return form, OrderingDoubt(REVERSED, pair=pairs[0])

    def check(self, plan: OrderingPlan) -> CheckQuestion | None:
        """Return two lists; the matches of the second come earlier."""
        return plan.check_ranks and CheckQuestion(plan.check_ranks, better=1)

    def in_words(self, answer: OrderingAnswer) -> str:
        """Return an answer in words: the methods, or the own ordering."""
        return answer_in_words(answer.clicked, answer.own)

    def remark(self, shown: ShownQuestion) -> str:
        """Return the sentence on an own ordering that counts for a method; "" for others."""
        answer = shown.stored and shown.stored.answer
        if not answer or not answer.typed:
            return ""
        return gettext(
            "Your order in question %(position)s, %(order)s, is that of %(methods)s, so it counts "
            "for %(methods)s.",
            position=shown.position,
            order=order(shown.view.column(min(answer.clicked)).ranking),
            methods=methods(answer.clicked),
        )

    def sent_in_words(self, sent: Mapping[str, list[str]]) -> str:
        """Return in words which methods were ticked, or which places were given."""
        labels = [int(label) for label in sent.get("choice", ()) if re.fullmatch("[1-9]", label)]
        places = {
            name.removeprefix("rank-"): int(place)
            for name, [place, *_] in sorted(sent.items())
            if re.fullmatch("rank-[A-J]", name) and re.fullmatch("[1-9]|10", place)
        }
        return methods(labels) if labels else ranking_in_words(places) or ""

    def example_answer(self) -> OrderingAnswer:
        """Return the answer that ticks Method 1."""
        return OrderingAnswer(frozenset({1}), None)

    def first_form(self, plan: OrderingPlan, shown: ShownQuestion) -> type[AnswerForm] | None:
        """Return the form of the own ranking, until it is given, where the plan asks for one."""
        return None if shown.drawn.ranked_at is not None else self.preview_first_form(plan)

    def preview_first_form(self, plan: OrderingPlan) -> type[AnswerForm] | None:
        """Return the form of the own ranking where the plan asks for one."""
        return ranking_form(plan.lists) if plan.columns == AFTER else None

    def filled_in_after(self, first: RankingForm) -> FilledIn:
        """Return the own ranking, chosen, to be compared with the methods'."""
        return replace(first.filled_in, ticked=(OWN,), first=first.ordering)

    def save_first(
        self, session: Session, plan: Plan, participant: Any, position: int, form: RankingForm
    ) -> None:
        """Store the own ranking of a valid form; the methods come on the next page."""
        ranking = form.ordering
        if ranking is not None:
            answers.save_first_ranking(
                session, plan, participant, position, ranking, form.was_asked
            )
