"""``survey deposit``: a published study's way into an archive, which gives it a DOI."""

from pathlib import Path

import click

from survey.cli.command import (
    JSON_OPTION,
    OUTPUT_FOLDER,
    STUDY_NAME,
    check_writable,
    command,
    named_study,
    open_session,
)
from survey.cli.results import public_address, replaced_when_done
from survey.cli.terminal import print_result


@command(
    examples=(
        "survey deposit winter-study --to deposit",
        "survey deposit winter-study --doi 10.5281/zenodo.1234567",
    )
)
@click.argument("slug", type=STUDY_NAME)
@click.option("--doi", help="The DOI that an archive gave the study; '' removes it.")
@click.option(
    "--to", "folder", type=OUTPUT_FOLDER, help="Write the public bundle and fields.txt into it."
)
@JSON_OPTION
def deposit(slug: str, doi: str | None, folder: Path | None, as_json: bool) -> None:
    """Prepare a published study for an archive, which gives it a DOI.

    It prints what an archive's form asks for; with --to it also writes that, and the public
    bundle, which you upload. Nothing is uploaded for you. With --doi the study's page, its citation
    and its bundle name the DOI from then on.
    """
    from survey.services import accounts
    from survey.services.exchange.description import deposit_fields
    from survey.services.exchange.public_bundle import stream_public_bundle
    from survey.services.participation import own_data
    from survey.services.studies import publications

    if folder is not None:
        check_writable(folder, force=False)
    with open_session() as session:
        own_data.drop_due(session)
        study = named_study(session, slug)
        publication = publications.require_published(session, study)
        if doi is not None:
            publications.store_doi(session, study, accounts.COMMAND_LINE, doi)
        address = public_address(slug)
        citation = publications.citation_of(publication, address)
        fields = {**deposit_fields(citation, study.plan), "doi": citation.doi}
        if folder is not None:
            with replaced_when_done(folder) as new:
                new.mkdir()
                with (new / f"{slug}.zip").open("wb") as file:
                    file.writelines(stream_public_bundle(session, study, address))
                text = "\n\n".join(f"{name}\n{value}" for name, value in fields.items() if value)
                (new / "fields.txt").write_text(f"{text}\n", encoding="utf-8")
    sentences = [f"{name}: {value}" for name, value in fields.items() if value]
    if folder is not None:
        sentences.append(f"{folder} holds {slug}.zip, to upload, and fields.txt.")
    if not citation.doi:
        sentences.append(f"Once you have a DOI: `survey deposit {slug} --doi 10.…`.")
    content = {"study": slug, **fields, "written": str(folder) if folder else None}
    print_result(content, *sentences, as_json=as_json)
