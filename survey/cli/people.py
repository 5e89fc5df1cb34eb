"""``survey study people``, and what is done for one participant, such as exclude and erase."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from survey.cli.command import (
    JSON_OPTION,
    SLUG_ARGUMENT,
    YES_OPTION,
    command,
    confirm,
    open_engine,
    open_study,
)
from survey.cli.terminal import print_json, print_result, print_table, say

if TYPE_CHECKING:
    from survey.services.participation.participant_list import ListedParticipant

PARTICIPANT = click.argument("public_id", metavar="PARTICIPANT")


def _change(
    slug: str, typed: str, act: Callable[..., None], done: str, *more: str, as_json: bool
) -> None:
    """Do an act for a participant, and print ``done`` and the status that they have now.

    ``more``: what the act takes besides who does it. Raises NotFoundError for an unknown one.
    """
    from survey.services.accounts import COMMAND_LINE
    from survey.services.participation.participant_list import named_participant

    with open_study(slug) as (session, study):
        participant = named_participant(session, study, typed)
        act(session, study, participant, COMMAND_LINE, *more)
        content = {
            "study": slug,
            "participant": participant.public_id,
            "status": participant.status,
            "excluded": participant.excluded,
            "exclude_reason": participant.exclude_reason,
        }
    print_result(content, f"{content['participant']} {done}", as_json=as_json)


@command(examples=("survey study people five-systems", "survey study people five-systems --json"))
@SLUG_ARGUMENT
@JSON_OPTION
def people(slug: str, as_json: bool) -> None:
    """List a study's participants and how far they are; never how they answered."""
    from survey.services.participation.participant_list import list_participants

    with open_study(slug) as (session, study):
        listed = list_participants(session, study, most=EVERYONE)
        populations = (listed.counted, listed.test, listed.excluded)
        rows = [_row(person) for population in populations for person in population.shown]
        free = listed.free
    if as_json:
        print_json({"study": slug, "free_slots": free, "participants": rows})
    elif rows:
        columns = ("participant", "page", "answered", "minutes", "last seen", "remarks")
        cells = [
            (
                *(row["participant"], row["page"], f"{row['answered']} of {row['asked']}"),
                *(f"{row['minutes']:.0f}", row["last_seen"][:16], _remarks(row)),
            )
            for row in rows
        ]
        print_table(f"Participants of {slug}; {free} more can begin", columns, cells)
    else:
        say(f"No one has begun yet; {free} people can. `survey study invite {slug}` makes links.")


EVERYONE = 1_000_000  # participants listed of each population


def _row(listed: "ListedParticipant") -> dict[str, Any]:
    person = listed.participant
    return {
        "participant": person.public_id,
        "status": person.status,
        "page": listed.page,
        "answered": listed.answered,
        "asked": listed.asked,
        "arm": person.arm,
        "minutes": round(listed.minutes, 1),
        "last_seen": listed.last_seen.isoformat(timespec="seconds"),
        "slot_released": listed.away,
        "attention": listed.attention,
        "flagged": listed.is_flagged,
        "is_test": person.is_test,
        "excluded": person.excluded,
        "exclude_reason": person.exclude_reason,
    }


def _remarks(row: dict[str, Any]) -> str:
    remarks = ["test data"] if row["is_test"] else []
    remarks += [f"excluded: {row['exclude_reason']}"] if row["excluded"] else []
    remarks += [row["attention"]] if row["attention"] else []
    remarks += ["slot released"] if row["slot_released"] else []
    return "; ".join(remarks)


@command(examples=('survey study exclude five-systems P-9E3GK2TX --reason "at random"',))
@SLUG_ARGUMENT
@PARTICIPANT
@click.option("--reason", required=True, help="Why, for the study's log; it is exported.")
@JSON_OPTION
def exclude(slug: str, public_id: str, reason: str, as_json: bool) -> None:
    """Leave a participant out of every count; the answers stay stored."""
    from survey.services.studies.lifecycle import exclude

    done = f"is excluded. `survey study include {slug}` takes it back."
    _change(slug, public_id, exclude, done, reason[:500], as_json=as_json)


@command(examples=("survey study include five-systems P-3MHX7QWD",))
@SLUG_ARGUMENT
@PARTICIPANT
@JSON_OPTION
def include(slug: str, public_id: str, as_json: bool) -> None:
    """Count an excluded participant again."""
    from survey.services.studies.lifecycle import include

    _change(slug, public_id, include, "is no longer excluded.", as_json=as_json)


@command(examples=("survey study release five-systems P-5RB8NCJV --yes",))
@SLUG_ARGUMENT
@PARTICIPANT
@YES_OPTION
@JSON_OPTION
def release(slug: str, public_id: str, yes: bool, as_json: bool) -> None:
    """Give the slot of a participant who is under way to someone else.

    The survey ends for them, as if they had stopped; what they saved is kept. `survey study
    readmit` lets them go on.
    """
    from survey.services.participation.participants import release

    confirm(f"End the survey for {public_id}, and release the slot?", yes=yes, as_json=as_json)
    done = f"holds no slot any more. `survey study readmit {slug}` lets them go on."
    _change(slug, public_id, release, done, as_json=as_json)


@command(examples=("survey study readmit five-systems P-7WKD4YZA",))
@SLUG_ARGUMENT
@PARTICIPANT
@JSON_OPTION
def readmit(slug: str, public_id: str, as_json: bool) -> None:
    """Let a participant who stopped, was released or was screened out go on."""
    from survey.services.participation.participants import readmit

    done = "can go on with the same link, in the same browser or with the code."
    _change(slug, public_id, readmit, done, as_json=as_json)


@command(examples=("survey study erase five-systems P-9E3GK2TX --yes",))
@SLUG_ARGUMENT
@PARTICIPANT
@YES_OPTION
@JSON_OPTION
def erase(slug: str, public_id: str, yes: bool, as_json: bool) -> None:
    """Delete all data of a participant who asks for it, as their own page does.

    A backup that is restored later is erased again. The log says that someone was erased, not who.
    """
    from survey.services import accounts
    from survey.services.participation import own_data
    from survey.services.participation.participant_list import named_participant

    confirm(f"Delete all answers and data of {public_id}?", yes=yes, as_json=as_json)
    with open_study(slug) as (session, study), open_engine() as (settings, _):
        participant = named_participant(session, study, public_id)
        erased = participant.public_id
        own_data.erase(session, study, participant, settings.instance, accounts.COMMAND_LINE)
    print_result({"study": slug, "erased": erased}, f"{erased} is erased.", as_json=as_json)


@command(examples=("survey study code five-systems P-9E3GK2TX",))
@SLUG_ARGUMENT
@click.argument("lost_id", metavar="ID")
@JSON_OPTION
def code(slug: str, lost_id: str, as_json: bool) -> None:
    """Print the code with which a participant continues in another browser.

    ID is the participant's, or the one that a platform sent. The study's log says that it was
    shown, as the code opens their answers.
    """
    from survey.services import accounts
    from survey.services.participation.participant_list import reveal_code
    from survey.services.studies import lifecycle

    with open_study(slug) as (session, study), open_engine() as (settings, _):
        lifecycle.require_not_imported(study)
        public_id, shown = reveal_code(
            session, study, settings.secret_key, lost_id.strip(), accounts.COMMAND_LINE
        )
    content = {"study": slug, "participant": public_id, "code": shown}
    print_result(content, f"{public_id} continues with the code {shown}.", as_json=as_json)


COMMANDS = (people, exclude, include, release, readmit, erase, code)
