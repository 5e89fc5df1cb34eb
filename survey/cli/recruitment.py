"""``survey study recruit``: who can begin, platforms and their codes, the texts of mails."""

from pathlib import Path

import click

from survey.cli.command import INPUT_FILE, JSON_OPTION, SLUG_ARGUMENT, command, open_study
from survey.cli.terminal import print_result, print_table

# As in survey.services.studies.recruitment, which is slow to import; what a platform adds to the
# study's link.
PLATFORMS = {
    "prolific": "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}"
    "&SESSION_ID={{%SESSION_ID%}}",
    "mturk": "?workerId=…&assignmentId=…&hitId=…",
    "sona": "?survey_code=%SURVEY_CODE%",
}
FILES = ("signing_keys", "invitation", "reminder")  # settings that an option names a file of


@command(
    examples=(
        "survey study recruit five-systems --platform prolific --code C1A2B3",
        "survey study recruit five-systems --access personal",
        "survey study recruit five-systems",
    )
)
@SLUG_ARGUMENT
@click.option(
    "--platform",
    type=click.Choice([*PLATFORMS]),
    help="Take the settings of a platform; the other options override them.",
)
@click.option("--code", "code_complete", metavar="CODE", help="Shown to those who finish.")
@click.option("--code-declined", metavar="CODE", help="Shown to those who decline.")
@click.option("--code-screened-out", metavar="CODE", help="Shown to those screened out.")
@click.option(
    "--access",
    type=click.Choice(["public", "personal"]),
    help="Who can begin: anyone with the public link, or only people with a personal link.",
)
@click.option("--id-parameter", metavar="NAME", help="The parameter with a person's id.")
@click.option("--capture", metavar="NAMES", help="Other parameters to keep, commas between.")
@click.option("--id-required/--no-id-required", default=None, help="Require an id to begin.")
@click.option("--return-url", metavar="ADDRESS", help="Where the last page links to.")
@click.option(
    "--slot-minutes",
    type=click.IntRange(5, 525_600),
    help="Minutes after which an unused slot is released.",
)
@click.option("--signing-keys", type=INPUT_FILE, help="The keys of signed links, a JWKS.")
@click.option("--workspace", metavar="ID", help="The workspace of signed links.")
@click.option("--mail-subject", metavar="TEXT", help="The subject of mails.")
@click.option("--invitation", type=INPUT_FILE, help="The text of the invitation, with {link}.")
@click.option("--reminder", type=INPUT_FILE, help="The text of the reminder, with {link}.")
@JSON_OPTION
def recruit(slug: str, platform: str | None, as_json: bool, **options: object) -> None:
    """Change who can begin a study, and what is exchanged with a platform; or show it.

    Unlike the plan, this may change while the study is open. "" empties a setting.
    """
    from survey.services import accounts
    from survey.services.exchange.input_files import read_text
    from survey.services.studies import lifecycle, recruitment

    typed = {name: value for name, value in options.items() if value is not None}
    typed |= {name: read_text(Path(str(typed[name]))) for name in FILES if name in typed}
    if "capture" in typed:
        typed["capture"] = str(typed["capture"]).replace(",", " ").split()
    if platform == "sona" and "return_url" not in typed:
        address = recruitment.PLATFORMS[platform]["return_url"]
        raise click.UsageError(f"Sona needs your school's own --return-url, like {address}")
    with open_study(slug) as (session, study):
        settings = recruitment.recruitment_of(study)
        before = settings.as_json()
        if platform is not None or typed:
            values = (
                settings.as_json() | dict(recruitment.PLATFORMS.get(platform or "", {})) | typed
            )
            try:
                settings = recruitment.parse_recruitment(values)
            except ValueError as error:
                hint = " (--code)" if "code_complete" in str(error) else ""
                raise click.UsageError(f"{error}{hint}.") from error
            lifecycle.change_recruitment(session, study, settings, accounts.COMMAND_LINE)
    content = {"study": slug, **settings.as_json()}
    if platform is not None:
        content["link"] = f"/s/{slug}{PLATFORMS[platform]}"
        sentences = (f"{slug!r} is set up for {platform}. Its link there: {content['link']}",)
        print_result(content, *sentences, as_json=as_json)
    elif typed or as_json:
        names = [name for name in {**before, **content} if before.get(name) != content.get(name)]
        changed = ", ".join(name.replace("_", " ") for name in names if name != "study")
        sentence = f"The recruitment of {slug!r} is changed: {changed}." if changed else ""
        shown = f"`survey study recruit {slug}` shows all of it."
        print_result(content, sentence or "Nothing changed.", shown, as_json=as_json)
    else:
        rows = [
            (name.replace("_", " "), ", ".join(value) if isinstance(value, list | tuple) else value)
            for name, value in settings.as_json().items()
        ]
        print_table(f"Recruitment of {slug}", ["", "value"], rows)
