"""How a study begins: what a kind of question is made of, and the cards of “New study”."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from survey.core.studies.own_lists import OwnLists
from survey.core.studies.run_lists import AS_WRITTEN, Reading, TextFile

# What a study can be made of; the fields of the page “New study” have the same names.
JUDGEMENTS, RUNS, LISTS = "judgements", "runs", "lists"
ITEMS, TOPICS, KEYWORDS = "items", "topics", "keywords"
FOLDER, STUDY = "folder", "study"  # of pictures by class; whose judgements are taken
POOL, POOL_FILE = "pool", "pool_file"  # runs whose first documents people judge; or a table
JUDGED, GOLD = "judged", "gold"  # earlier judgements of a pool; documents with known answers
FEWEST_RUNS = 2
WORDS = {  # what to choose of each, in a sentence
    JUDGEMENTS: "judgements",
    RUNS: "at least two runs",
    LISTS: "a CSV of lists",
    ITEMS: "the documents",
    TOPICS: "the topics",
    KEYWORDS: "the keywords",
    FOLDER: "a zip with a folder of pictures for each class",
    STUDY: "a labelling study with judgements",
    POOL: "the runs, or a file of the pool",
}
# The headings of the cards. A kind of another package may use any of them.
REPLICATE, SYSTEMS, COLLECTION, AGAIN = "Replicate", "My systems", "My collection", "Again"
GROUPS = (REPLICATE, SYSTEMS, COLLECTION, AGAIN)
# What a preset's texts can speak of.
POSITIONS, PICTURES, PASSAGES, DOCUMENTS = "positions", "pictures", "passages", "documents"


@dataclass(frozen=True)
class WayIn:
    """A card of “New study”: what to begin with, what for, and which files it takes.

    ``takes``: names of the fields that it asks for, in their order; ``needs``: those without which
    no study is made. ``preset``: of texts and design, by default the kind's. ``asks``: further
    fields of the page. ``examples``: files to try it with.
    """

    name: str
    group: str
    title: str
    good_for: str
    takes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    preset: str = ""
    asks: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    def missing(self, given: Collection[str]) -> str:
        """Return what to choose, "" where nothing is missing; ``given``: what was chosen."""
        missing = [WORDS[name] for name in self.needs if name not in given]
        return f"Choose {' and '.join(missing)}. No study was made." if missing else ""


@dataclass(frozen=True)
class Sources:
    """What a study is made of, read but not checked.

    ``topics``: those that are chosen of the files, all by default. ``known_topics``: the ids of
    those of topics.csv. ``collection_size``: as it was typed, "" where it is not known.
    ``clusters`` and ``graded``: see ``read_trec``. ``shows_documents``: as pictures or texts.
    ``may_follow``: whether files can be added later.
    """

    judgements: TextFile | None = None
    runs: tuple[TextFile, ...] = ()
    lists: OwnLists | None = None
    topics: tuple[str, ...] = ()
    known_topics: tuple[str, ...] = ()
    collection_size: str = ""
    clusters: TextFile | None = None
    graded: bool = False
    missing_last: bool = True
    reading: Reading = AS_WRITTEN
    shows_documents: bool = False
    may_follow: bool = False

    @property
    def names(self) -> set[str]:
        """Which of them there are."""
        given: Mapping[str, object] = {
            JUDGEMENTS: self.judgements,
            RUNS: self.runs[FEWEST_RUNS - 1 :],
            LISTS: self.lists,
            TOPICS: self.known_topics,
        }
        return {name for name, value in given.items() if value}
