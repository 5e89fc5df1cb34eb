"""What a machine shows beside people, as results that pages, commands and reports render."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy.orm import Session

from survey.core.agreement.headlines import AnswerRow, Chip
from survey.core.statistics.bootstrap import SAMPLES
from survey.core.statistics.significance import decimal_text, ends_text, p_text
from survey.core.text_input import Json
from survey.db.models import Study
from survey.figures.answers import machine_and_people
from survey.figures.exhibit import Exhibit
from survey.services.analysis.results import (
    Block,
    Contested,
    ContestedDocuments,
    Prose,
    Results,
    Section,
    Sentence,
    Terms,
)
from survey.services.analysis.sheets import Cell, P, Sheet, count_of
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.bundle import content_of
from survey.services.exchange.tables import Content, with_left_out
from survey.services.machines.beside_people import figures_of
from survey.services.machines.estimates import estimate_sheets
from survey.services.machines.records import MachineRecord
from survey.services.machines.stored import named

HM, HH = "Machine and person", "Two people"
CHIPS = {
    True: Chip("May replace one annotator", "holds", "All conditions hold, for items like these."),
    False: Chip("Not shown", "open", "That is not proof that the machine is worse."),
}
BY_TOPIC = "; by topic: with errors that may be alike within a topic"
SIMULATED = "The survey itself answered, so this is no evidence of anything."
TEST_NOTE = (
    "Alternative annotator test (Calderon, Reichart, Dror 2025): in which share of the {units} the "
    "machine's, and the person's, answer is at least as near to the other people's as the other "
    "one's. p: one-sided, of the hypothesis that the machine is worse by {epsilon} or "
    "more{by_topic}. As good: after Benjamini and Yekutieli at .05. The test alone is not enough: "
    "where little is relevant, a machine that always says “no” passes."
)
CALIBRATION_NOTE = (
    "Sure: the share of the {samples} samples with the most frequent answer. People: the share who "
    "gave it. Expected calibration error: the mean distance of the two (Naeini and others 2015)."
)
POSITION_NOTE = (
    "Sides are drawn by chance, so that without a bias half of the preferences are for the left."
)
ERROR_NOTE = (
    "How far the machine's, and a person's, answer is from the other people's: {distance}, 0 where "
    "it is the same."
)
DISTANCES = {
    "adjusted Rand index": "1 less the adjusted Rand index",
    "tau-b": "1 less tau-b",
    "kappa": "the share of them who answered otherwise; of grades, the root of the mean square",
}
RUNS_NOTE = (
    "tau-b of the runs' means of {measure}, by people's and by the machine's judgements. The tau-b "
    "of all runs hides the top, where most comparisons are decided (Clarke and Dietz 2024)."
)


@dataclass(frozen=True)
class MachineResults(Results):
    """A machine's record beside people; ``shown``: see ``figures_of``; ``people``: who count.

    ``names``: what to call documents.
    """

    guide = "machines"

    record: MachineRecord
    shown: Mapping[str, Any]
    people: Sequence[str]
    names: Mapping[str, str]

    @property
    def participants(self) -> Sequence[str]:
        """See ``Results``."""
        return self.people

    def as_json(self) -> dict[str, Json]:
        """See ``Results``."""
        return {"record": self.record.name, **self.shown}

    @property
    def headline(self) -> str:
        """The decision, in a sentence."""
        simulated = "Simulated machine. " if self.record.is_simulated else ""
        return f"{simulated}{self.shown['decision']['sentence']}"

    @property
    def counts(self) -> str:
        """See ``Results``."""
        answered = self.shown["answers"]["answered"]
        units = self.shown["errors"]["units"]
        return " · ".join(
            [
                count_of(len(self.people), "person", "people"),
                f"{count_of(units, self._unit, self.shown['units'])} that two of them judged, and "
                "the machine",
                f"{answered:,} answers of the machine",
            ]
        )

    @property
    def _unit(self) -> str:
        return str(self.shown["units"]).removesuffix("s")

    @property
    def chip(self) -> Chip:
        """See ``Results``."""
        chip = CHIPS[self.shown["decision"]["may_replace"]]
        return chip._replace(note=SIMULATED) if self.record.is_simulated else chip

    @property
    def rows(self) -> list[AnswerRow]:
        """See ``Results``: agreement, the test, what would decide, what is missing, the sides."""
        agreed, test = self.shown["agreement"], self.shown["test"]
        rows = []
        if agreed["hm"]["value"] is not None:
            name = "Agreement:"
            figure = _number(agreed["hm"]["value"])
            interval = _reach(agreed["hm"])
            beside = f"{interval}; two people" if interval else "beside two people"
            rest = f"{beside} {_estimate(agreed['hh'])}."
            rows.append(AnswerRow(name, "machine and person", figure, rest))
        if test["winning_rate"] is not None:
            name = "Person by person:"
            figure = f"{self._won} of {self._tested}"
            text = "the machine does as well as"
            rows.append(
                AnswerRow(name, text, figure, f"people, to within {_number(test['epsilon'])}.")
            )
        if more := self.shown["decision"]["more"]["sentence"]:
            rows.append(AnswerRow("", more))
        missing, answers = self.shown["missing"], self.shown["answers"]
        if missing["units"] or answers["unreadable"] or answers["refused"]:
            figure = f"{missing['units']} of {missing['of']}"
            rows.append(
                AnswerRow(
                    "No answer of the machine:",
                    "",
                    figure,
                    f"{self.shown['units']}; {answers['unreadable']} answers could not be read, "
                    f"{answers['refused']} were refused.",
                )
            )
        if bias := self.shown["position_bias"]:
            rows.append(AnswerRow("Sides:", f"{self._position_gist(bias)}."))
        return rows

    @property
    def rows_note(self) -> str:
        """See ``Results``."""
        coefficient = self.shown["agreement"]["coefficient"]
        what = "Cohen's kappa" if coefficient == "kappa" else f"the mean {coefficient}"
        return f"Agreement: {what}; in brackets 95 % intervals."

    @property
    def method(self) -> str:
        """See ``Results``."""
        agreed = self.shown["agreement"]
        drawn = "topics" if agreed["sampled"] == "topics" else self.shown["units"]
        return (
            f"Intervals: {SAMPLES:,} bootstrap samples of the {agreed['number']} {drawn}, "
            "percentiles. Test: alternative annotator test, one-sided t for each person. "
            "Correction: Benjamini and Yekutieli at .05. The machine's answers count nowhere among "
            "people's."
        )

    @property
    def sentences(self) -> list[Sentence]:
        """See ``Results``."""
        return [Sentence(text) for text in (self.headline, *map(str, self.rows))]

    def own_exhibits(self) -> Iterator[Exhibit]:
        """Yield the figure: machine and person beside two people."""
        agreed = self.shown["agreement"]
        rows = [(HM, agreed["hm"]), (HH, agreed["hh"])]
        yield machine_and_people(
            agreed["coefficient"],
            [(name, each["value"], each["ci95"]) for name, each in rows],
            f"{self.caption_of_difference} Lines: 95 % intervals.",
        )

    @property
    def caption_of_difference(self) -> str:
        """How much less, or more, machine and person agree than two people."""
        difference = self.shown["agreement"]["difference"]
        if difference["value"] is None:
            return "How far machine and person agree, and two people."
        return (
            "How far machine and person agree, and two people. Difference: "
            f"{_estimate(difference)}."
        )

    @property
    def _tested(self) -> int:
        return sum(person["p"] is not None for person in self.shown["test"]["people"])

    @property
    def _won(self) -> int:
        return sum(person["rejected"] for person in self.shown["test"]["people"])

    @cached_property
    def sections(self) -> list[Section]:
        """See ``Results``: without the parts that the record has nothing for."""
        parts = (
            self._test_section(),
            self._calibration_section(),
            self._position_section(),
            self._errors_section(),
            self._confusion_section(),
            self._runs_section(),
            self._estimates_section(),
            self._asked_section(),
        )
        return [part for part in parts if part is not None]

    def own_sheets(self) -> Iterator[Sheet]:
        """Yield the tables."""
        makers = (
            self._agreement_sheet,
            self._test_sheet,
            self._calibration_sheet,
            self._worst_sheet,
            self._topics_sheet,
            self._agreed_sheet,
            self._confusion_sheet,
            self._runs_sheet,
        )
        yield from (sheet for sheet in (make() for make in makers) if sheet is not None)
        yield from estimate_sheets(self.shown.get("estimates", {}))

    def _agreement_sheet(self) -> Sheet:
        agreed, alpha = self.shown["agreement"], self.shown["alpha"]
        rows: list[tuple[Cell, ...]] = [
            (name, agreed[key]["value"], *(agreed[key]["ci95"] or (None, None)))
            for name, key in ((HM, "hm"), (HH, "hh"), ("Difference", "difference"))
        ]
        if alpha["people"] is not None:
            rows += [
                (f"Alpha: {name}", alpha[key]["value"], *(alpha[key]["ci95"] or (None, None)))
                for name, key in ((HM, "hm"), (HH, "hh"))
            ]
            rows.append(("Alpha of people", alpha["people"], None, None))
            rows.append(("Alpha, the machine as one of them", alpha["with_machine"], None, None))
        columns = ("who", agreed["coefficient"], "95 % from", "to")
        note = "Alpha: Krippendorff's." if alpha["people"] is not None else ""
        return Sheet("agreement", "Agreement", columns, tuple(rows), note)

    def _test_sheet(self) -> Sheet:
        test = self.shown["test"]
        clustered = test["clustered"]
        by_topic = {row["participant"]: row["p"] for row in (clustered or {"people": ()})["people"]}
        columns = [
            *("participant", self.shown["units"], "machine as near", "person as near"),
            *("difference", "p", *(["p by topic"] if clustered else []), "as good"),
        ]
        rows = []
        for person in test["people"]:
            cells: list[Cell] = [person["participant"], person["units"]]
            cells += [person["advantage_machine"], person["advantage_person"], person["mean"]]
            cells.append(_p(person["p"]))
            cells += [_p(by_topic[person["participant"]])] if clustered else []
            left_out = person["p"] is None
            cells.append("too few" if left_out else "yes" if person["rejected"] else "not shown")
            rows.append(tuple(cells))
        note = TEST_NOTE.format(
            units=self.shown["units"],
            epsilon=_number(test["epsilon"]),
            by_topic=BY_TOPIC if clustered else "",
        )
        return Sheet("annotator-test", "Person by person", tuple(columns), tuple(rows), note)

    def _test_section(self) -> Section:
        test = self.shown["test"]
        if test["winning_rate"] is None:
            gist = "no one has enough answers"
        else:
            gist = f"{self._won} of {self._tested} people, winning rate "
            gist += f"{_number(test['winning_rate'])}, advantage {_number(test['advantage'])}"
            if test["clustered"] and test["clustered"]["winning_rate"] is not None:
                gist += f"; by topic {_number(test['clustered']['winning_rate'])}"
        blocks = self.listings("annotator-test", "agreement")
        return Section("annotator-test", "Person by person", "Person by person", blocks, gist)

    def _calibration_sheet(self) -> Sheet | None:
        calibrated = self.shown["calibration"]
        if calibrated is None:
            return None
        rows = tuple(
            (f"{each['samples_equal']}", each["n"], each["confidence"], each["agreement"])
            for each in calibrated["bins"]
        )
        note = CALIBRATION_NOTE.format(samples=self.record.about["samples"])
        columns = ("samples alike", self.shown["units"], "sure", "people")
        return Sheet("calibration", "Calibration", columns, rows, note)

    def _calibration_section(self) -> Section | None:
        calibrated = self.shown["calibration"]
        if calibrated is None:
            return None
        error = {"value": calibrated["ece"], "ci95": calibrated["ece_ci95"]}
        gist = (
            f"expected calibration error {_estimate(error)}; sure "
            f"{_number(calibrated['mean_confidence'])}, people "
            f"{_number(calibrated['mean_agreement'])}"
        )
        title = "Calibration: how sure the machine is"
        return Section("calibration", title, "Calibration", self.listings("calibration"), gist)

    @staticmethod
    def _position_gist(bias: Mapping[str, Any]) -> str:
        parts = []
        if bias["left"] is not None:
            parts.append(
                f"left in {100 * bias['left']:.0f} % of {bias['decided']} preferences "
                f"({p_text(bias['p'])})"
            )
        if bias["unchanged"] is not None:
            low, high = (100 * end for end in bias["unchanged_ci95"])
            parts.append(
                f"{100 * bias['unchanged']:.0f} % of {count_of(bias['swapped'], 'answer')} the "
                f"same with the sides swapped ({low:.0f} to {high:.0f} %)"
            )
        return "; ".join(parts) or "the machine preferred no list"

    def _position_section(self) -> Section | None:
        bias = self.shown["position_bias"]
        if bias is None:
            return None
        gist = self._position_gist(bias)
        blocks = [Prose(f"{gist[0].upper()}{gist[1:]}.", is_small=False), Prose(POSITION_NOTE)]
        return Section("position", "Does it prefer a side?", "Sides", blocks, gist)

    @property
    def _error_note(self) -> str:
        return ERROR_NOTE.format(distance=DISTANCES[self.shown["agreement"]["coefficient"]])

    def _errors_section(self) -> Section | None:
        errors = self.shown["errors"]
        if not errors["units"]:
            return None
        worst = errors["worst"]
        gist = f"machine {_number(errors['machine'])}, people {_number(errors['person'])}"
        if worst:
            gist += f"; {count_of(len(worst), 'item')} where it is worst"
        blocks: list[Block] = [Prose(self._error_note)]
        if any(each["topic"] for each in worst):
            blocks.append(self._worst_documents(worst))
        else:
            blocks += self.listings("worst-items")
        blocks += self.listings("errors-by-agreement", "errors-by-topic")
        return Section("errors", "Where it errs", "Where it errs", blocks, gist)

    @staticmethod
    def _worst_documents(worst: Sequence[Mapping[str, Any]]) -> ContestedDocuments:
        """Return the items with their pictures or texts, by topic, the worst topic first."""
        topics: dict[str, list[tuple[str, str]]] = {}
        for item in worst:
            name = item["document"] or f"question {item['question']}"
            if "people_answers" in item:
                given = item["people_answers"].items()
                people = ", ".join(f"{number} × {answer}" for answer, number in given)
                words = f"machine {item['machine_answer']}, people {people}"
            else:
                words = f"machine {_number(item['machine'])}, people {_number(item['person'])}"
            topics.setdefault(item["topic"], []).append((name, words))
        contested: list[Contested] = [*topics.items()]
        note = "The items on which the machine is further from people than they from each other."
        return ContestedDocuments(note, contested)

    def _worst_sheet(self) -> Sheet | None:
        worst = self.shown["errors"]["worst"]
        if not worst:
            return None
        has_words = "machine_answer" in worst[0]
        has_documents = any(each["document"] for each in worst)
        has_topics = any(each["topic"] for each in worst)
        columns = ["question", *(["topic"] if has_topics else [])]
        columns += ["document"] if has_documents else []
        columns += ["machine", "person", *(["the machine's", "people's"] if has_words else [])]
        rows = []
        for each in worst:
            cells: list[Cell] = [str(each["question"]), *([each["topic"]] if has_topics else [])]
            if has_documents:
                cells.append(self.names.get(each["document"], each["document"]))
            cells += [each["machine"], each["person"]]
            if has_words:
                answers = each["people_answers"].items()
                cells.append(each["machine_answer"])
                cells.append(", ".join(f"{number} × {answer}" for answer, number in answers))
            rows.append(tuple(cells))
        title = "The items on which the machine errs most"
        return Sheet("worst-items", title, tuple(columns), tuple(rows))

    def _topics_sheet(self) -> Sheet | None:
        return self._groups_sheet(
            "errors-by-topic", "Distance from the others by topic", "topic", "topics"
        )

    def _agreed_sheet(self) -> Sheet | None:
        title = "Distance from the others by how far people agree"
        return self._groups_sheet("errors-by-agreement", title, "people", "agreement")

    def _groups_sheet(self, name: str, title: str, first: str, key: str) -> Sheet | None:
        rows = tuple(
            (each["name"], each["units"], each["machine"], each["person"])
            for each in self.shown["errors"][key]
        )
        columns = (first, self.shown["units"], "machine", "person")
        return Sheet(name, title, columns, rows) if rows else None

    def _confusion_sheet(self) -> Sheet | None:
        table = self.shown["confusion"]
        if table is None or not sum(map(sum, table["people_by_machine"])):
            return None
        names = [str(answer) for answer in table["answers"]]
        columns = ("people", *(f"machine: {name}" for name in names))
        rows = tuple(
            (name, *counts) for name, counts in zip(names, table["people_by_machine"], strict=True)
        )
        note = "Each person's answer to each item counts once."
        return Sheet("confusion", "People's answers by the machine's", columns, rows, note)

    def _confusion_section(self) -> Section | None:
        table = self.shown["confusion"]
        if self._confusion_sheet() is None or table is None:
            return None
        counts = table["people_by_machine"]
        total = sum(map(sum, counts))
        same = sum(row[place] for place, row in enumerate(counts))
        gist = f"{same:,} of {total:,} answers of people are the machine's"
        blocks = self.listings("confusion")
        return Section("confusion", "Answer by answer", "Answer by answer", blocks, gist)

    def _runs_sheet(self) -> Sheet | None:
        runs = self.shown["runs"]
        if runs is None or runs["why"]:
            return None
        rows = tuple(
            (name, number, runs[key]["value"], *(runs[key]["ci95"] or (None, None)))
            for name, number, key in (
                ("All runs", runs["runs"], "all_runs"),
                ("People's best half", runs["top_runs"], "top"),
            )
        )
        note = RUNS_NOTE.format(measure=runs["measure"])
        return Sheet(
            "ranking", "Ranking of runs", ("", "runs", "tau-b", "95 % from", "to"), rows, note
        )

    def _runs_section(self) -> Section | None:
        runs = self.shown["runs"]
        if runs is None:
            return None
        if runs["why"]:
            blocks: list[Block] = [Prose(f"{runs['why']}.", is_small=False)]
            return Section("ranking", "Ranking of runs", "Runs", blocks, "too few to tell")
        turned = runs["reversed_pairs"]
        gist = (
            f"tau-b {_estimate(runs['all_runs'])}, of the best {_estimate(runs['top'])}; "
            f"{len(turned)} of {runs['separated']} pairs reversed"
        )
        pairs = ", ".join(f"{better} over {worse}" for better, worse in turned)
        text = (
            f"People's judgements tell {count_of(runs['separated'], 'pair')} of runs apart; the "
            f"machine's reverse {len(turned)}{f': {pairs}' if pairs else ''}."
        )
        blocks = [*self.listings("ranking"), Prose(text, is_small=False)]
        return Section("ranking", "Ranking of runs", "Runs", blocks, gist)

    def _estimates_section(self) -> Section | None:
        made = self.shown.get("estimates", {}).get("figures", [])
        if not made:
            return None
        of = count_of(self.shown["estimates"]["sample"]["drawn"], "unit")
        gist = f"{count_of(len(made), 'estimate')} from a sample of {of}"
        blocks = self.listings("machine-estimates")
        return Section("estimates", "Estimates with the machine", "Estimates", blocks, gist)

    def _asked_section(self) -> Section:
        about = self.record.about
        prompt = about["prompt"]
        formats = ", ".join(about.get("response_formats") or ()) or "none"
        rows = [
            ("Model", f"{self.record.model}{_in_brackets(about['models'])}"),
            ("Samples", f"{about['samples']}, temperature {about.get('temperature')}"),
            ("Orders", ", ".join(about["orders"])),
            ("Seed", str(about.get("seed"))),
            ("Format of replies", formats),
            ("Fingerprints", ", ".join(about.get("fingerprints") or ()) or "none"),
            ("Requests", f"{len(about.get('requests') or ()):,}"),
            ("Practice", "left out"),
            ("Prompt", str(prompt.get("system") or "none: the answers come from a file")),
            ("Schema", json.dumps(about.get("schema"), ensure_ascii=False)),
            ("Digest of the record (SHA-256)", self.record.digest),
        ]
        gist = f"{count_of(about['samples'], 'sample')}, {' and '.join(about['orders'])} order"
        if "version" in prompt:
            gist += f", prompt version {prompt['version']}"
        return Section("asked", "How it was asked", "How it was asked", [Terms(rows)], gist)


def _in_brackets(models: Sequence[str]) -> str:
    return f" (reported: {', '.join(models)})" if models else ""


def _p(value: float | None) -> P | None:
    return None if value is None else P(value)


def _number(value: float | None) -> str:
    return "undefined" if value is None else decimal_text(value)


def _reach(estimate: Mapping[str, Any]) -> str:
    if estimate["ci95"] is None:
        return ""
    return f"({ends_text(*estimate['ci95'])})"


def _estimate(estimate: Mapping[str, Any]) -> str:
    """Return a number with its interval: ".45 (.40 to .51)"."""
    return f"{_number(estimate['value'])} {_reach(estimate)}".strip()


def results_of_machine(
    content: Content, record: MachineRecord, options: AnalysisOptions
) -> MachineResults:
    """Return what a machine's record shows beside the people who count."""
    shown = figures_of(content, record, options)
    people = [each["participant"] for each in shown["test"]["people"]]
    documents = {each["document"] for each in shown["errors"]["worst"]} - {""}
    known = content.known(options)
    results = MachineResults(record, shown, people, content.names_of(documents), **known)
    return with_left_out(results, content.participants, options)  # type: ignore[return-value]


def results_beside(
    session: Session, study: Study, name: str, options: AnalysisOptions
) -> MachineResults:
    """Return what a stored record shows beside people; raises NotFoundError for no such record."""
    content = content_of(session, study, include_test=True)
    return results_of_machine(content, named(content.machines, name), options)
