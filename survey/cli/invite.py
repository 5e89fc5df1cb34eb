"""``survey study invite``: guests, their links, and mails to them."""

from collections.abc import Sequence
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from survey.cli.command import (
    FORCE_OPTION,
    INPUT_FILE,
    JSON_OPTION,
    STUDY_NAME,
    check_writable,
    command,
    confirm,
    named_study,
    open_engine,
)
from survey.cli.terminal import print_result, progress_bar, say

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from survey.config import Settings
    from survey.db.models import Study

BYTE_ORDER_MARK = "\ufeff"  # by which Excel knows UTF-8


@command(
    examples=(
        "survey study invite spring-study --guests people.csv --to links.csv",
        "survey study invite spring-study --guests people.csv --send",
        "survey study invite spring-study --remind",
    )
)
@click.argument("slug", type=STUDY_NAME)
@click.option("--guests", type=INPUT_FILE, help="A CSV: name, and e-mail where there is one.")
@click.option(
    "--links", type=click.IntRange(1, 10_000), help="Make this many links without names instead."
)
@click.option(
    "--arm",
    help="Of grouping: the role that new links give, first or third, instead of as they begin.",
)
@click.option("--withdraw", metavar="NAME", help="Withdraw the link of a guest who has not begun.")
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path),
    help="Write all links to this CSV, for a program that merges letters.",
)
@FORCE_OPTION
@click.option("--send", is_flag=True, help="Send the invitation to those who have none yet.")
@click.option("--remind", is_flag=True, help="Remind the invited who have not finished.")
@click.option("--yes", is_flag=True, help="Send or withdraw without asking.")
@click.option(
    "--at",
    "server",
    default="http://127.0.0.1:5000",
    envvar="SURVEY_ADDRESS",
    metavar="ADDRESS",
    help="The survey's address, with which links begin; by default that of SURVEY_ADDRESS.",
)
@JSON_OPTION
def invite(
    slug: str,
    guests: Path | None,
    links: int | None,
    arm: str | None,
    withdraw: str | None,
    target: Path | None,
    force: bool,
    send: bool,
    remind: bool,
    yes: bool,
    server: str,
    as_json: bool,
) -> None:
    """Make personal links for guests, list them, and write to the guests by e-mail.

    Each guest gets the invitation once and the reminder once; no one who has finished gets either.
    The texts are those of the page Invite. Mails need the settings SURVEY_SMTP_….
    """
    from sqlalchemy.orm import Session

    from survey.services.operations.database import require_current_schema
    from survey.services.studies import invitations, recruitment

    if target:
        check_writable(target, force=force)
    with open_engine() as (settings, engine), Session(engine) as session:
        require_current_schema(engine)
        study = named_study(session, slug)
        if withdraw is not None:
            confirm(f"Withdraw the link of {withdraw}?", yes=yes, as_json=as_json)
            recruitment.withdraw(session, study, withdraw)
        added = _add_guests(session, study, guests, links, arm)
        kinds = [invitations.INVITATION] * send + [invitations.REMINDER] * remind
        mails = _send_mails(session, study, settings, server, kinds, yes=yes)
        invited = recruitment.guests_of(session, study)
        faults = sorted({guest.mail_fault for guest in invited if mails and guest.mail_fault})
        rows = recruitment.personal_links(
            invited,
            settings.secret_key,
            f"{server.rstrip('/')}/s/{study.slug}",
        )
    sentences = [f"The link of {withdraw} is withdrawn."] if withdraw is not None else []
    sentences += [f"{added} new link{'s' * (added != 1)}, {len(rows)} in all."]
    sentences += [f"{kind}: {sent} sent, {failed} failed." for kind, sent, failed in mails]
    if faults:
        sentences += [*faults, "The same command tries again."]
    if target:
        target.write_text(BYTE_ORDER_MARK + recruitment.links_csv(rows), encoding="utf-8")
        sentences.append(f"Wrote {target}. Anyone who has a link can answer with it.")
    content = {
        "added": added,
        "links": len(rows),
        "mails": [dict(zip(("kind", "sent", "failed"), row, strict=True)) for row in mails],
    }
    print_result(content, *sentences, as_json=as_json)


def _add_guests(
    session: "Session", study: "Study", guests: Path | None, links: int | None, arm: str | None
) -> int:
    """Add the guests of a file, and links without names; return how many were new."""
    from survey.services.exchange.input_files import read_text
    from survey.services.studies import lifecycle, recruitment

    lifecycle.require_not_imported(study)
    roles = () if study.plan.queue_arm is None else study.plan.arms
    if arm is not None and arm not in roles:
        known = f"allowed is {' or '.join(roles)}" if roles else "the links of this study give none"
        raise click.UsageError(f"--arm is {arm}; {known}.")
    added = 0
    if guests is not None:
        names, warnings = recruitment.read_guests(read_text(guests), guests.name)
        for warning in warnings:
            say(f"Note: {warning}", err=True)
        added += recruitment.add_guests(session, study, names, arm)
    if links is not None:
        taken = {guest.name for guest in recruitment.guests_of(session, study)}
        session.rollback()
        unused = (f"Link {number}" for number in count(1) if f"Link {number}" not in taken)
        added += recruitment.add_guests(session, study, [*islice(unused, links)], arm)
    return added


def _send_mails(
    session: "Session",
    study: "Study",
    settings: "Settings",
    server: str,
    kinds: Sequence[str],
    *,
    yes: bool,
) -> list[tuple[str, int, int]]:
    """Send the mails of some kinds after a question; return (kind, sent, failed) for each."""
    from survey.errors import NotAllowedError
    from survey.services.accounts import COMMAND_LINE
    from survey.services.studies import invitations

    done = []
    for kind in kinds:
        if settings.smtp is None:
            raise NotAllowedError(
                "No mail server is set (SURVEY_SMTP_HOST); `--to links.csv` writes the links for "
                "a program of yours."
            )
        waiting = _waiting(session, study, kind)
        if waiting and not yes:
            click.confirm(f"Send {waiting} × {kind}?", abort=True, err=True)
        planned = invitations.plan_mails(session, study, kind, COMMAND_LINE)
        with progress_bar(f"Sending: {kind}", planned) as bar:
            mails = invitations.send_due(
                session, settings.smtp, settings.secret_key, server.rstrip("/"), study
            )
            for number, _ in enumerate(mails, 1):
                bar.update(number, planned)
        # A server that runs sends some of them too: what failed is what can be sent again.
        failed = _waiting(session, study, kind)
        done.append((kind, planned - failed, failed))
    return done


def _waiting(session: "Session", study: "Study", kind: str) -> int:
    """Return how many guests can be sent a mail of a kind."""
    from survey.services.studies import invitations, recruitment

    guests = recruitment.guests_of(session, study)
    waiting = sum(invitations.is_due(guest, kind) for guest in guests)
    session.rollback()
    return waiting
