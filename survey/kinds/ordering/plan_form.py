"""The form of an ordering study's plan, with controls for measures, lists and marks."""

from collections.abc import Callable
from functools import partial

from wtforms import Field, SelectChoice, SelectMultipleField, StringField, TextAreaField

from survey.core.studies.plan import Plan
from survey.core.text_input import split_names
from survey.kinds.ordering.plan import (
    BEFORE,
    COLUMN_TIMES,
    OF_RUNS,
    OWN_LISTS,
    OrderingPlan,
    ordering_plan,
)
from survey.services.studies import plans
from survey.web.researcher.plan import (
    FLAG_RULES,
    FLAGS_HEADING,
    FLAGS_HELP,
    FURTHER,
    OWN,
    PLAN_STEPS,
    RUNS_HEADING,
    Part,
    PlanForm,
    PlanStep,
    number,
)

MARK_FIELDS = ("grades", "weights", "clusters")  # one text for each, dealt to drawn lists


MARKS_HELP = (
    "For random lists: one word for each relevant item of a list, assigned to its positions at "
    "random. Participants see them in brackets. Your own lists have theirs in their files."
)


ARMS_HELP = (
    "Participants are drawn at random and evenly among arms. Results say what an arm changes, "
    "against the first one."
)
ARM_SETTINGS_HELP = (
    "Arms that differ in something else. One in a line, like - {name: early, criterion: A system "
    "does well when these come early.} The first may have a name only. May differ: "
    f"{', '.join(OrderingPlan.varied)}."
)
# The steps of an ordering study. Which field appears with which choice is in static/plan.css.
ORDERING_STEPS = PLAN_STEPS | {
    "what": PlanStep(
        "What to ask",
        "question",
        (
            Part("", ("measures", "other_measures")),
            Part("", ("generator", "questions", "lists", "relevant", "collection_size", OWN)),
            Part("Grades or clusters beside the positions", MARK_FIELDS, True, MARKS_HELP),
            Part("Seed, and variants of the measures", ("seed", "gmt", "literal_eq15"), True),
        ),
    ),
    "how": PlanStep(
        "How to ask",
        "question",
        (
            Part(
                "Methods",
                (
                    *("columns", "ticks", "show_values", "scores", "rescale_values"),
                    "shuffle_columns",
                ),
            ),
            Part("Compare ways to ask: arms", ("arms", "arm_settings"), True, ARMS_HELP),
            Part(
                RUNS_HEADING,
                (
                    *("show_items", "layout", "grid_columns"),
                    *("mark_relevant", "mark_query_words", "show_positions"),
                    *("depth", "shuffle_letters"),
                ),
            ),
            Part(
                "Practice and reasons", ("practice", "exclude_failed_check", "reason_question", OWN)
            ),
            Part(FURTHER, ("ask",)),
            Part(
                "Order, positions on a line, control questions",
                (
                    *("shuffle_questions", "shuffle_lists", "positions_strip", "show_ideal"),
                    *("repeated", "obvious"),
                ),
                folded=True,
            ),
            Part(FLAGS_HEADING, FLAG_RULES, True, FLAGS_HELP),
        ),
    ),
}


# Form fields that do not follow from a plan field's rule.
CONTROLS: dict[str, Callable[[], Field]] = {
    "measures": partial(SelectMultipleField, "Measures", validate_choice=False),
    "other_measures": partial(
        StringField,
        "Other measures",
        description="With other cut-offs, separated by spaces: P@7 nDCG@3 F2@20.",
    ),
    "grades": partial(
        StringField,
        "Grades of a list's relevant items",
        description="Like 3 2 2 1 1. Higher is more relevant.",
    ),
    "weights": partial(
        StringField,
        "Weights of a list's relevant items",
        description="The share of annotators who chose the item, like 1 .8571 .8571 .4286 .1429.",
    ),
    "clusters": partial(
        StringField,
        "Clusters of a list's relevant items",
        description="Like dolphin dolphin turtle pelican pelican.",
    ),
    "arms": partial(
        SelectMultipleField,
        "Or compare: participants are drawn at random and evenly among",
        choices=[SelectChoice(*choice) for choice in COLUMN_TIMES.items()],
        description="Tick two or three; then the choice above does not count.",
        validate_choice=False,
    ),
    "arm_settings": partial(
        TextAreaField,
        "Or arms of your own",
        description=ARM_SETTINGS_HELP,
        render_kw={"rows": 4},
    ),
    "looks": partial(
        StringField,
        "Looks at results before the end",
        description="Optional: after how many finished participants, like 10 20. Planned looks "
        "share the 5 %, by the spending function of Lan and DeMets.",
    ),
}


class OrderingForm(PlanForm):
    """All fields of an ordering plan except own lists, which have a page of their own."""

    steps = ORDERING_STEPS
    controls = PlanForm.controls | CONTROLS

    def __init__(self, *args: object, has_own_lists: bool = False, **kwargs: object) -> None:
        """``has_own_lists``: whether the study has some, so that they can be chosen."""
        super().__init__(*args, **kwargs)
        self.measure_groups = [
            (heading, [SelectChoice(name, f"{name}: {label}") for name, label in group])
            for heading, group in plans.measure_groups()
        ]
        if not has_own_lists:
            drawn = [choice for choice in self.generator.choices if choice.value != OWN_LISTS]
            self.generator.choices = drawn

    @classmethod
    def data_of(cls, plan: Plan) -> dict[str, object]:
        """See ``PlanForm.data_of``; measures that are not offered are in a text."""
        measures = ordering_plan(plan).measures
        offered = {name for _, group in plans.measure_groups() for name, _ in group}
        return {
            **super().data_of(plan),
            **ordering_plan(plan).marks.cells(0),
            "arms": [] if plan.arm_settings else plan.arms,
            "arm_settings": plans.write_nested(plan.as_json()["arms"] if plan.arm_settings else ()),
            "looks": " ".join(map(str, plan.looks)),
            "other_measures": " ".join(name for name in measures if name not in offered),
        }

    def values(self, current: Plan) -> dict[str, object]:
        """See ``PlanForm.values``; own lists are dropped unless the generator is OWN_LISTS."""
        typed = super().values(current)
        typed["measures"] = [
            *dict.fromkeys([*self.measures.data, *split_names(self.other_measures.data or "")])
        ]
        marks = {mark_type: _commas_as_spaces(self[mark_type].data) for mark_type in MARK_FIELDS}
        typed["looks"] = [number(word) for word in _commas_as_spaces(self.looks.data).split()]
        typed["arms"] = self.arms.data
        if typed["arms"]:
            typed["columns"] = BEFORE
        elif (self.arm_settings.data or "").strip():
            typed["arms"] = plans.parse_nested("arms", self.arm_settings.data)
        typed["marks"] = {mark_type: words for mark_type, words in marks.items() if words.strip()}
        if typed["generator"] != OWN_LISTS:
            typed |= {"own_lists": (), "own_marks": (), "provenance": None}
        if not typed.get("provenance"):  # these fields are not on the page
            typed |= {name: getattr(current, name) for name in OF_RUNS}
        return typed


def _commas_as_spaces(text: str | None) -> str:
    return (text or "").replace(",", " ")
