"""``survey study preregister``: the registration of a draft, as files."""

from pathlib import Path

import click

from survey.cli.command import (
    FORCE_OPTION,
    INPUT_FILE,
    JSON_OPTION,
    OUTPUT_FOLDER,
    STUDY_NAME,
    check_writable,
    command,
    open_study,
    write_files,
)
from survey.cli.terminal import print_result, progress_bar


@command(
    examples=(
        "survey study preregister spring-study --to registration",
        'survey study preregister spring-study --to again --hypothesis "MNRO leads AP"',
    )
)
@click.argument("slug", type=STUDY_NAME)
@click.option(
    "--to", "folder", type=OUTPUT_FOLDER, required=True, help="Write the four files into it."
)
@click.option("--hypothesis", help="The hypothesis, with its direction.")
@click.option("--rationale", help="Why this number of people and questions; who the people are.")
@click.option("--existing-data", help="Which answers were seen already, and by whom; or: none.")
@click.option(
    "--fields", "file", type=INPUT_FILE, help="These three in a YAML or JSON file instead."
)
@FORCE_OPTION
@JSON_OPTION
def preregister(
    slug: str, folder: Path, file: Path | None, force: bool, as_json: bool, **typed: str | None
) -> None:
    """Write the registration of a draft: all that its plan decides, and what you state.

    The study keeps it: opening warns of what changed since, the bundle holds registration.json,
    and the analysis is compared with it. It has osf.md and aspredicted.md in the order of these
    registries' forms. Only there it gets a date that others trust. What is not stated again stays
    as it was stated before.
    """
    from survey.services.accounts import COMMAND_LINE
    from survey.services.exchange.input_files import read_text
    from survey.services.planning import preregistration
    from survey.services.studies import registration

    stated: dict[str, object] = {name: text for name, text in typed.items() if text is not None}
    if file is not None:
        content = registration.read_fields(read_text(file), file.name)
        stated = {**content, **stated}
    names = list(registration.FILES)
    for name in names if folder.exists() else ():
        check_writable(folder / name, force=force)
    with open_study(slug) as (session, study):
        before = vars(preregistration.stored_fields(study))
        fields = registration.typed_fields({**before, **stated}, file.name if file else "")
        with progress_bar("Simulating power"):
            done = preregistration.preregister(session, study, fields, COMMAND_LINE)
        too_early = preregistration.why_too_early(session, study)
    files = list(preregistration.files_of(done))
    write_files(folder, [(name, text.encode()) for name, text in files], len(files))
    digest = done["items"]["digest"]
    checksum = registration.sum_of(registration.canonical(done))
    sentences = [
        f"The registration of {slug!r} is in {folder}: {', '.join(names)}.",
        f"SHA-256 of registration.json: {checksum}",
        f"Digest of the study: {digest}",
        registration.ONLY_THERE,
    ]
    if fields.missing:
        sentences.append(f"Not stated: {', '.join(fields.missing)}.")
    sentences.append(too_early or f"Next: upload them, then `survey study open {slug}`.")
    content = {"study": slug, "digest": digest, "sha256": checksum, "files": names}
    print_result({**content, "not_stated": fields.missing}, *sentences, as_json=as_json)
