"""Simulated assessors: they sort pictures by a truth that is known, and err at times."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from selectolax.lexbor import LexborNode

from survey.core.collections.clusterings import read_clustering
from survey.core.collections.items import Shown
from survey.core.collections.runs import IN_NO_CLUSTER
from survey.core.text_input import FileFaults, Json, lines_of
from survey.errors import SurveyError
from survey.kinds.grouping.plan import GroupingPlan
from survey.services.exchange.input_files import read_text
from survey.services.planning.bot_sight import Sight

BY_DEFAULT = "4:0.1"


class BotAssessor(NamedTuple):
    """What a bot takes to be true, and how often it errs, in [0, 1].

    ``groups``: the group of each document, by topic; "" for unknown.
    """

    text: str
    documents: Sight
    topics: Sight
    groups: Mapping[str, Mapping[str, str]]
    error: float

    def groups_of(self, topic: str) -> Mapping[str, str]:
        """Return the groups of a topic; of all topics in one where the page tells none of them."""
        merged = {name: group for groups in self.groups.values() for name, group in groups.items()}
        return self.groups.get(topic, merged)

    def as_json(self) -> dict[str, Json]:
        """Return the truth's name and the error as plain values."""
        return {"truth": self.text, "error": self.error}


class GroupingBot:
    """How simulated assessors answer."""

    def careless(self, plan: GroupingPlan) -> str:
        """Return four groups, into which documents are put at random."""
        return "4:1"

    def preference(self, plan: GroupingPlan, text: str | None, shown: Shown) -> BotAssessor:
        """Read "4:0.1": four groups by the documents' ids, an error in ten; or "FILE:0.1".

        The file has lines of topic, document, cluster.
        """
        match = re.fullmatch(r"(.+):(0(?:\.[0-9]{1,3})?|1)", text or BY_DEFAULT)
        if match is None:
            raise SurveyError(
                f"{text!r} is no preference; write how many groups, or a file with lines of topic, "
                "document and cluster, and the share of errors, like 4:0.1 or truth.txt:0.1."
            )
        truth = _truth(plan, match[1])
        return BotAssessor(
            *(match[1], Sight(shown.documents), Sight(shown.topics)), truth, float(match[2])
        )

    def respond(
        self,
        form: LexborNode,
        plan: GroupingPlan,
        preference: BotAssessor,
        chance: np.random.Generator,
    ) -> dict[str, str | list[str]] | None:
        """Put all pictures of one group into it; end the topic where all are placed."""
        if form.css_first("[name=step_key]") is None:
            return None
        open_tiles = [
            tile for tile in form.css(".tile") if "placed" not in (tile.attributes["class"] or "")
        ]
        if not open_tiles:
            return {"go": "done"}
        groups = preference.groups_of(preference.topics.find_in(form.css_first(".asked")))
        names = sorted({"", *groups.values()})
        chosen = [
            str(chance.choice(names))
            if chance.random() < preference.error
            else groups.get(preference.documents.find_in(tile), "")
            for tile in open_tiles
        ]
        group = chosen[0]
        selected = [tile for tile, name in zip(open_tiles, chosen, strict=True) if name == group]
        tiles = [str(tile.css("input")[0].attributes["value"]) for tile in selected]
        return {"document": tiles, "group": group or IN_NO_CLUSTER}


def _truth(plan: GroupingPlan, text: str) -> dict[str, dict[str, str]]:
    """Return the group of each topic's documents: by a number of groups, or from a file."""
    if re.fullmatch("[1-9][0-9]?", text):
        count = int(text)
        return {
            topic: {
                document: f"group {place * count // len(documents) + 1}"
                for place, document in enumerate(sorted(documents))
            }
            for topic, documents in plan.topics
        }
    faults = FileFaults()
    clusters = read_clustering(text, lines_of(read_text(Path(text))), faults)
    faults.raise_any()
    return {
        topic: {document: min(names, default="") for document, names in of_topic.items()}
        for topic, of_topic in clusters.items()
    }
