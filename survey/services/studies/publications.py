"""Public pages of closed studies: published by an owner, hidden while a study runs, taken back.

A publication stores no results. Public pages and bundles are computed at each request from the
answers stored then, so they lack an erased participant from the erasure on.
"""

from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy.orm import Session

from survey.core.studies.fields import is_storable
from survey.core.text_input import SLUG
from survey.db import queries
from survey.db.models import Publication, Study, now
from survey.db.participant_queries import AnyStudy
from survey.errors import (
    NotAllowedError,
    NotFoundError,
    NotPublicNowError,
    SurveyError,
    TakenBackError,
    marked,
)
from survey.release import made_by
from survey.services import accounts
from survey.services.studies.citation import LICENCES, Author, Citation, read_doi

# With one participant, the results are that person's answers. With two, each could work out the
# other's.
FEWEST_PEOPLE = 3
# Among fewer, someone who knows who took part may guess whose answers are whose.
FEW_PEOPLE = 5
LONGEST_TITLE, LONGEST_AUTHOR, MOST_AUTHORS = 200, 200, 100

HIDDEN_RESULTS = marked(
    "The results of this study are not public at the moment. People may be taking part again."
)
TAKEN_BACK = marked("The researchers have taken this study's public page back.")


@dataclass(frozen=True)
class Details:
    """How an owner wants a study cited; ``authors``: one a line, as they were typed."""

    title: str
    authors: str
    licence: str

    @property
    def author_lines(self) -> list[str]:
        """The lines that name an author."""
        lines = (" ".join(line.split()) for line in self.authors.splitlines())
        return [line for line in lines if line]

    def faults(self) -> dict[str, str]:
        """Return field → a sentence that says what is wrong with it; {} if all fields are valid."""
        faults = {}
        title, authors = self.title.strip(), self.author_lines
        if not title or len(title.splitlines()) > 1 or len(title) > LONGEST_TITLE:
            faults["title"] = f"A title of one line is needed, {LONGEST_TITLE} characters at most."
        too_long = next((line for line in authors if len(line) > LONGEST_AUTHOR), None)
        if not authors:
            faults["authors"] = "Name at least one author, each on a line of their own."
        elif len(authors) > MOST_AUTHORS:
            faults["authors"] = f"{len(authors)} lines; {MOST_AUTHORS} are allowed."
        elif too_long is not None:
            fault = f"“{too_long[:30]}…” has {len(too_long)} characters"
            faults["authors"] = f"{fault}; {LONGEST_AUTHOR} are allowed in a line."
        elif nameless := next((line for line in authors if not Author.read(line).name), None):
            faults["authors"] = f"“{nameless}” has no family name before the comma."
        elif len({*map(Author.read, authors)}) < len(authors):
            faults["authors"] = "An author is named twice."
        if self.licence not in LICENCES:
            faults["licence"] = f"“{self.licence}” is none of the licences; choose one of them."
        for name in ("title", "authors"):
            if not is_storable(getattr(self, name)):
                faults[name] = "This holds a character that cannot be stored; please type it again."
        return faults

    def require_valid(self) -> None:
        """Raise SurveyError, which names all that is wrong."""
        if faults := self.faults():
            raise SurveyError(" ".join(faults.values()))


def usual_details(session: Session, study: Study) -> Details:
    """Return how a study is cited as it is stored, else as it usually is, without authors."""
    stored = publication_of(session, study)
    if stored is None:
        return Details(study.plan.title, "", next(iter(LICENCES)))
    return Details(stored.title, "\n".join(stored.authors), stored.licence)


def publication_of(session: Session, study: AnyStudy) -> Publication | None:
    """Return a study's publication, one that was taken back too; None if there never was one."""
    return queries.find(session, Publication, study_id=study.id)


def current_publication(session: Session, study: AnyStudy) -> Publication | None:
    """Return a study's publication, unless there is none or it was taken back."""
    stored = publication_of(session, study)
    return stored if stored is not None and stored.taken_back_at is None else None


def preview_of(session: Session, study: Study, details: Details, who: str) -> Publication:
    """Return what ``publish`` would store, for a preview."""
    current = current_publication(session, study)
    return Publication(
        study=study,
        title=details.title.strip(),
        authors=details.author_lines,
        licence=details.licence,
        published_by=who,
        published_at=current.published_at if current else now(),
        doi=current.doi if current else "",
    )


def publish(session: Session, study: Study, who: str, details: Details) -> None:
    """Make a study public, or change how it is cited, and log it.

    Raises NotAllowedError for a study that cannot be public, SurveyError for invalid details.
    """
    study = queries.locked_study(session, study)
    if reason := reason_against(session, study):
        raise NotAllowedError(reason)
    details.require_valid()
    stored = publication_of(session, study)
    is_public = stored is not None and stored.taken_back_at is None
    if stored is None:
        stored = Publication(study_id=study.id, published_at=now())
        session.add(stored)
    elif not is_public:
        stored.published_at, stored.taken_back_at = now(), None
    stored.title, stored.authors = details.title.strip(), details.author_lines
    stored.licence, stored.published_by = details.licence, who
    accounts.log(session, study, who, "citation changed" if is_public else "published")
    session.commit()


def take_back(session: Session, study: Study, who: str) -> None:
    """Take a study's public page back, and log it, also while the study is open again.

    Raises NotAllowedError if it is not public.
    """
    study = queries.locked_study(session, study)
    current = current_publication(session, study)
    if current is None:
        raise NotAllowedError("This study is not public, so there is nothing to take back.")
    current.taken_back_at = now()
    accounts.log(session, study, who, "taken back")
    session.commit()


def require_published(session: Session, study: Study) -> Publication:
    """Return the publication of a study; raises NotAllowedError where it has no public page."""
    if reason := reason_against(session, study):
        raise NotAllowedError(reason)
    current = current_publication(session, study)
    if current is None:
        raise NotAllowedError(
            f"The study {study.slug!r} is not public. Publish it first, on its page “Publish”, "
            "where you name its authors and its licence; then an archive can give it a DOI."
        )
    return current


def store_doi(session: Session, study: Study, who: str, typed: str) -> str:
    """Store the DOI of a public study, or remove it, and log it; return the DOI.

    Raises NotAllowedError if the study is not public, SurveyError for what is not a DOI.
    """
    study = queries.locked_study(session, study)
    current = require_published(session, study)
    try:
        current.doi = read_doi(typed)
    except ValueError as error:
        raise SurveyError(str(error)) from None
    accounts.log(session, study, who, "DOI stored" if current.doi else "DOI removed", current.doi)
    session.commit()
    return current.doi


def people_in(session: Session, study: Study) -> tuple[int, int]:
    """Count the participants whose answers are in a study's results, and these answers."""
    return queries.counted_people(session, study.id)


def reason_against(session: Session, study: Study) -> str:
    """Return why a study cannot be public now; "" if it can."""
    if study.imported_from is not None:
        return (
            "This study was imported. Publish it where it was run: there, people who erase their "
            "answers are taken out of what is public too."
        )
    if not study.is_readable:
        return "This program cannot read the study's plan."
    if study.status != "closed":
        return "Only a closed study can be public: people who take part must not see its results."
    if not queries.has_people(session, study.id, FEWEST_PEOPLE):
        people, _ = people_in(session, study)
        return (
            f"Answers of {people} participant{'s' if people != 1 else ''} count; at least "
            f"{FEWEST_PEOPLE} are needed. With one, the results are that person's answers; with "
            "two, each could work out the other's."
        )
    return ""


def find_public(session: Session, slug: str) -> Publication:
    """Return the publication at an address, with its study.

    Raises NotFoundError where none ever was, TakenBackError, and NotPublicNowError while it is
    hidden. Its errors do not name the study.
    """
    study = queries.find(session, Study, slug=slug) if SLUG.match(slug) else None
    stored = None if study is None else publication_of(session, study)
    if study is None or stored is None:
        raise NotFoundError(marked("No study is published at this address."))
    if stored.taken_back_at is not None:
        raise TakenBackError(TAKEN_BACK)
    if reason_against(session, study):
        raise NotPublicNowError(HIDDEN_RESULTS)
    return stored


def is_published(session: Session, study: AnyStudy) -> bool:
    """Return whether a closed study has a publication that was not taken back.

    Its page may be hidden while too few participants are left in it.
    """
    # Status is compared first, which saves a query on every page of an open study.
    return study.status == "closed" and current_publication(session, study) is not None


def all_public(session: Session) -> list[Publication]:
    """Return all publications that can be seen now, the newest first."""
    return [
        each for each in queries.publications(session) if not reason_against(session, each.study)
    ]


def publication_version(session: Session, study: Study) -> str:
    """Return a digest that changes whenever a closed study's public page may change.

    It is made of the program's version, the study's digest and the last entries of the study's log,
    which records every change of answers. Erasures that are repeated after an older backup was
    restored are logged again.
    """
    changes = queries.last_changes(session, study.slug)
    return sha256(repr((made_by(), study.digest, *changes)).encode()).hexdigest()


def citation_of(publication: Publication, address: str) -> Citation:
    """Return how a study is cited; ``address``: of its public page."""
    study = publication.study
    return Citation(
        slug=study.slug,
        title=publication.title,
        authors=tuple(map(Author.read, publication.authors)),
        licence=publication.licence,
        day=publication.published_at.date(),
        address=address,
        digest=study.digest or "",
        doi=publication.doi,
    )
