"""How far annotators agree, in words: the headline, its rows, tables and the figure beside it."""

from collections.abc import Sequence
from dataclasses import asdict

from survey.core.agreement.headlines import AnswerRow, Chip
from survey.core.agreement.judgement_order import OrderChange
from survey.core.agreement.reliability import RELIABLE, TENTATIVE
from survey.core.agreement.topic_alpha import (
    FEWEST_UNITS,
    PERMUTATIONS,
    AlphaOverTopics,
    TopicAlpha,
)
from survey.core.statistics.bootstrap import SAMPLES
from survey.core.statistics.significance import Interval, decimal_text, ends_text, p_text
from survey.core.studies.fields import list_words
from survey.core.text_input import Json
from survey.figures.answers import alpha_by_topic
from survey.figures.exhibit import Exhibit
from survey.services.analysis.sheets import P, Sheet, count_of

ALL_MERGED = ""  # the name of all annotators among those whose judgements order runs
HEADLINES = {
    "reliable": "The {people} agree well: {figure}.",
    "tentative": "The {people} agree well enough for tentative conclusions: {figure}.",
    "low": "The {people} do not agree well enough: {figure}.",
    "chance": "The {people} agree no better than chance: {figure}.",
    "open": "Whether the {people} agree well enough is not decided: {figure}.",
}
CHIP_NOTES = {
    "reliable": "All of the interval is above .80: one person's judgements will do.",
    "tentative": "All of the interval is above .667.",
    "low": "Below .667: do not use one person's judgements alone.",
    "chance": "Below .667: do not use these judgements.",
}
TEST = (
    f"Krippendorff's alpha, 1 − ΣD_o/ΣD_e over topics; interval: {SAMPLES:,} bootstrap samples of "
    "{}"
)
TEST_OF_ANNOTATORS = (
    f"Annotators: kappa with the majority of the others, {PERMUTATIONS:,} permutations of the "
    "labels of each document"
)
CORRECTION = "Holm over annotators"
MOST_NAMED = 3  # topics or annotators, in a row


def agreement_headline(agreed: AlphaOverTopics, annotators: int) -> str:
    """Return whether annotators agree, in a sentence."""
    people = count_of(annotators, "annotator")
    if annotators < 2:
        return "Whether annotators agree is not known: only one has finished a query."
    if agreed.alpha is None:
        return f"Whether the {people} agree well enough is not decided: {agreed.why}."
    figure = f"alpha {decimal_text(agreed.alpha)}{_reach(agreed.ci95)}"
    if agreed.ci95 is None:
        figure += f", without an interval: it needs {FEWEST_UNITS} documents"
    return HEADLINES[agreed.word].format(people=people, figure=figure)


def agreement_chip(agreed: AlphaOverTopics) -> Chip:
    """Return for which queries the answer holds."""
    if agreed.word == "open":
        return Chip("Not decided", "open")
    new = agreed.sampled == "topics"
    text = "You may generalise to new queries" if new else "Only for these queries"
    is_enough = agreed.word in ("reliable", "tentative")
    return Chip(text, "holds" if is_enough else "low", CHIP_NOTES[agreed.word])


def agreement_rows(agreed: AlphaOverTopics) -> list[AnswerRow]:
    """Return the weakest topics, the others, what merging gives, and who differs."""
    rows = _topic_rows(agreed.by_topic)
    if agreed.merged is not None:
        rows.append(_merged_row(agreed))
    return [*rows, *_annotator_rows(agreed)]


def _topic_rows(topics: Sequence[TopicAlpha]) -> list[AnswerRow]:
    known = [topic for topic in topics if topic.alpha is not None]
    known.sort(key=lambda topic: topic.alpha or 0.0)
    if len(known) < 2:
        return []  # the headline tells it
    weakest = [topic for topic in known if topic.is_chance] or known[:1]
    if len(weakest) > 1:
        alphas = [topic.alpha or 0.0 for topic in weakest]
        reach = f"{ends_text(alphas[0], alphas[-1])}."
        rows = [AnswerRow(f"{_named(weakest)}:", "no better than chance,", reach)]
    else:
        [topic] = weakest
        text = "no better than chance," if topic.is_chance else "the lowest,"
        end = _reach(topic.ci95)[1:]
        figure = f"{decimal_text(topic.alpha or 0.0)}{'' if end else '.'}"
        rows = [AnswerRow(f"{topic.topic}:", text, figure, end and f"{end}.")]
    others = [topic for topic in reversed(known) if topic not in weakest]
    if others:
        rows.append(_others_row(others))
    return rows


def _others_row(others: Sequence[TopicAlpha]) -> AnswerRow:
    """Return the row of topics other than the weakest, the best first."""
    alphas = [topic.alpha or 0.0 for topic in others]
    figures = list_words([decimal_text(alpha) for alpha in alphas])
    name = ", ".join(topic.topic for topic in others)
    if len(others) > MOST_NAMED:
        name = f"{len(others)} others"
        figures = ends_text(alphas[-1], alphas[0])
    reached = sum(alpha >= TENTATIVE for alpha in alphas)
    how_many = {0: "None reaches", 1: "One reaches", len(others): "All reach"}
    told = how_many.get(reached, f"{reached} reach")
    if len(others) == 1:
        told = "It reaches" if reached else "It does not reach"
    return AnswerRow(f"{name}:", "", f"{figures}.", f"{told} .667.")


def _merged_row(agreed: AlphaOverTopics) -> AnswerRow:
    number = {2: "Both", 3: "All three", 4: "All four", 5: "All five"}
    name = number.get(agreed.annotators, f"All {agreed.annotators}")
    needed = ""
    if agreed.needed is not None and (agreed.merged or 0.0) < RELIABLE:
        needed = f"For .80 you need {agreed.needed} annotators."
    return AnswerRow(f"{name} merged:", "alpha", f"{decimal_text(agreed.merged or 0.0)}.", needed)


def _annotator_rows(agreed: AlphaOverTopics) -> list[AnswerRow]:
    tested = [annotator for annotator in agreed.by_annotator if annotator.p_holm is not None]
    differ = [annotator for annotator in tested if annotator.differs]
    if not tested:
        return []
    if not differ:
        least = min(tested, key=lambda annotator: annotator.p_holm or 0.0)
        kappas = [annotator.kappa or 0.0 for annotator in tested]
        reach = f"kappa {ends_text(min(kappas), max(kappas))}, {p_text(least.p_holm)}"
        return [AnswerRow("No annotator differs", "", "", f"({reach}).")]
    others = [annotator.kappa or 0.0 for annotator in tested if not annotator.differs]
    of_others = f"others {ends_text(min(others), max(others))}, " if others else ""
    rows = [
        AnswerRow(
            f"{annotator.annotator} differs:",
            "kappa",
            decimal_text(annotator.kappa or 0.0),
            f"({of_others}{p_text(annotator.p_holm)}).",
        )
        for annotator in differ
    ]
    if len(rows) == 1:
        return rows
    names = _named_annotators([annotator.annotator for annotator in differ])
    kappas = [annotator.kappa or 0.0 for annotator in differ]
    reach = ends_text(min(kappas), max(kappas))
    p = p_text(max(annotator.p_holm or 0.0 for annotator in differ))
    return [AnswerRow(f"{names} differ:", "kappa", reach, f"({of_others}{p} at most).")]


def agreement_note(agreed: AlphaOverTopics) -> str:
    """Return what the numbers of the rows are, in plain words; "" where there is none."""
    if agreed.alpha is None:
        return ""
    scale = "1 is full agreement, 0 chance."
    if not any(each.p_holm is not None for each in agreed.by_annotator):
        return f"Alpha: {scale}"
    return f"Alpha, of all annotators, and kappa, of one with the majority of the others: {scale}"


def _named(topics: Sequence[TopicAlpha]) -> str:
    return _named_annotators([topic.topic for topic in topics])


def _named_annotators(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return list_words([*names[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


def agreement_method(agreed: AlphaOverTopics) -> str:
    """Return how alpha, its interval and the test of annotators are computed."""
    sampled = agreed.sampled if agreed.sampled == "topics" else "documents within topics"
    return f"Test: {TEST.format(sampled)}. {TEST_OF_ANNOTATORS}. Correction: {CORRECTION}."


def alpha_figure(agreed: AlphaOverTopics, annotators: int) -> Exhibit:
    """Return the figure of alpha by topic with Krippendorff's thresholds."""
    topics = [(topic.topic, topic.alpha, topic.ci95) for topic in agreed.by_topic]
    sampled = "queries" if agreed.sampled == "topics" else "documents within queries"
    note = (
        f"Agreement of {count_of(annotators, 'annotator')} on "
        f"{count_of(agreed.documents, 'document')} of {count_of(len(topics), 'query', 'queries')}: "
        f"0 is chance, 1 full agreement. 95 % intervals by bootstrap samples of {sampled}."
    )
    return alpha_by_topic(("all queries", agreed.alpha, agreed.ci95), topics, note)


def over_topics_sheet(agreed: AlphaOverTopics) -> Sheet:
    """Return the table of alpha over all topics and of each topic."""
    overall = ("all topics", agreed.documents, agreed.alpha, *(agreed.ci95 or (None, None)))
    topics = [
        (topic.topic, topic.documents, topic.alpha, *(topic.ci95 or (None, None)))
        for topic in agreed.by_topic
    ]
    return Sheet(
        name="over-topics",
        title="How far the annotators agree, over all topics and by topic",
        columns=("topic", "documents", "alpha", "95 % from", "to"),
        rows=(overall, *topics) if topics else (),
        note=(
            "Documents: with two labels or more. From .80 on judgements are reliable, from .667 on "
            "they allow tentative conclusions, if the whole interval is there (Krippendorff 2004)."
        ),
    )


def kappas_sheet(agreed: AlphaOverTopics) -> Sheet:
    """Return how each annotator agrees with the majority of the others."""
    return Sheet(
        name="kappas",
        title="Each annotator and the majority of the others",
        columns=("participant", "kappa", "p", "p, Holm", "differs"),
        rows=tuple(
            (
                annotator.annotator,
                annotator.kappa,
                _p(annotator.p),
                _p(annotator.p_holm),
                "yes" if annotator.differs else "no",
            )
            for annotator in agreed.by_annotator
        ),
        note=(
            "Cohen's kappa; documents on which the others are evenly split do not count. p: how "
            "often kappa is as low if the labels of each document are exchanged among its "
            f"annotators ({PERMUTATIONS:,} permutations)."
        ),
    )


def orders_sheet(changes: Sequence[OrderChange]) -> Sheet:
    """Return whether runs keep their order by one annotator's judgements."""
    return Sheet(
        name="orders",
        title="Do the differences matter for systems?",
        columns=("participant", "tau-b", "pairs swapped", "which"),
        rows=tuple(
            (
                *(change.annotator, change.tau_b, len(change.swaps)),
                ", ".join(f"{worse} above {better}" for better, worse in change.swaps) or None,
            )
            for change in changes
        ),
        note=(
            "Kendall's tau-b of the runs' order by one annotator's judgements with that by all "
            "merged (Voorhees 2000)."
        ),
    )


def orders_gist(changes: Sequence[OrderChange]) -> str:
    """Return how many annotators' judgements change the order of runs."""
    changing = sum(bool(change.swaps) for change in changes)
    return f"judgements of {changing} of {count_of(len(changes), 'annotator')} change their order"


def orders_json(changes: Sequence[OrderChange]) -> list[Json]:
    """Return the orders of runs by one annotator's judgements as JSON."""
    rows: list[Json] = []
    for change in changes:
        why = "a side puts all runs in one place" if change.tau_b is None else None
        pairs: list[Json] = [[*pair] for pair in change.swaps]
        rows.append({**asdict(change), "swaps": pairs, **({"why": why} if why else {})})
    return rows


def topics_gist(agreed: AlphaOverTopics) -> str:
    """Return how many topics reach the thresholds."""
    known = [topic.alpha for topic in agreed.by_topic if topic.alpha is not None]
    of = count_of(len(agreed.by_topic), "query", "queries")
    tentative = sum(alpha >= TENTATIVE for alpha in known)
    return f"{sum(alpha >= RELIABLE for alpha in known)} of {of} reach .80, {tentative} reach .667"


def kappas_gist(agreed: AlphaOverTopics) -> str:
    """Return how many annotators differ."""
    differ = sum(annotator.differs for annotator in agreed.by_annotator)
    return f"{differ} of {count_of(len(agreed.by_annotator), 'annotator')} differ"


def _p(p: float | None) -> P | None:
    return None if p is None else P(p)


def _reach(interval: Interval | None) -> str:
    return f" ({ends_text(*interval)})" if interval else ""
