"""What every command is made of: classes with examples in their help, types, shared options.

Every module of ``survey.cli`` is light: numpy, SQLAlchemy, Flask, rich and most of
``survey.services`` are imported inside the functions that need them. Otherwise --help and
Tab would wait seconds for libraries that they do not use.
"""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from survey.cli.terminal import harmless, progress_bar

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.orm import Session

    from survey.config import Settings
    from survey.db.models import Study
    from survey.services.analysis.paper_files import PaperLook

SHORT_HELP_LIMIT = 200  # characters: lists of commands show whole first sentences
NO_WHOLE_NUMBER = re.compile(r" is not a valid integer( range)?\.$")
LAST_OPTION = "survey.cli.command.last_option"
END = "-\0"  # after the last word of a command; no shell passes such a word


class Command(click.Command):
    """A command whose help ends with examples; the tests run every example."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)
        for param in self.params:
            if param.type.name.startswith(("integer", "float")):
                param.metavar = param.metavar or "NUMBER"  # click would print INTEGER RANGE

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does; say of a number like 10,000 what is needed."""
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            if not NO_WHOLE_NUMBER.search(error.message):
                raise
            commas = " without commas" if re.search(r"[0-9],[0-9]", error.message) else ""
            needed = f" found; a whole number{commas} is needed."
            text = NO_WHOLE_NUMBER.sub(needed, error.message)
            raise click.BadParameter(text, error.ctx, error.param, error.param_hint) from error

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the section Examples, one example a line and without wrapping."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for line in "\n".join(self.examples).splitlines():
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


# Decorates a function that becomes a command with examples.
command = partial(click.command, cls=Command)


class CommandGroup(Command, click.Group):
    """A group of commands, listed in the order in which they were added."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of adding; click would sort them."""
        return list(self.commands)

    def sections(self) -> Mapping[str, Iterable[str]]:
        """Return the headings under which the help lists the names of commands."""
        return {"Commands": self.commands}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command's name with its whole first sentence; click would cut it."""
        widest = max(map(len, self.commands))
        for heading, names in self.sections().items():
            commands = ((name, self.get_command(ctx, name)) for name in names)
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (name.ljust(widest), command.get_short_help_str(SHORT_HELP_LIMIT))
                        for name, command in commands
                        if command
                    ]
                )


class MultiWordCommand(Command):
    """A command whose repeatable options take every word up to the next option.

    It reads ``--run R1 R2`` as ``--run R1 --run R2``; click itself takes one word per option.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the options before each of their words, then parse as click does.

        For Tab, only note which option the last words belong to.
        """
        multiple = {
            name: param
            for param in self.params
            if isinstance(param, click.Option) and param.multiple
            for name in param.opts
        }
        if ctx.resilient_parsing:  # it is Tab that asks
            options = [word.partition("=")[0] for word in args if word.startswith("-")]
            ctx.meta[LAST_OPTION] = multiple.get(options[-1]) if options else None
            return super().parse_args(ctx, args)
        return super().parse_args(ctx, [*_repeat_options(args, multiple, ctx)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Suggest further words of an option that takes several, otherwise what click does."""
        option: click.Option | None = ctx.meta.get(LAST_OPTION)
        if option is None or incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return option.shell_complete(ctx, incomplete)


class KnownName(click.ParamType[str]):
    """A text for which Tab suggests names: of studies, researchers or measures."""

    def __init__(self, name: str) -> None:
        self.name = name

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002 - click's signature
        incomplete: str,
    ) -> list[CompletionItem[str]]:
        """Return the names that begin with the typed word, in capitals or not.

        Of words with commas between, only the last is completed. Where a study or a file may be
        named and no study fits, the shell suggests files.
        """
        from survey.services.operations import suggestions

        before, comma, beginning = incomplete.rpartition(",")
        items: list[CompletionItem[str]] = [
            CompletionItem(f"{before}{comma}{value}")
            for value in suggestions.names(self.name)
            if value.casefold().startswith(beginning.casefold())
        ]
        if not items and self is STUDY_OR_FILE:
            return [CompletionItem(incomplete, type="file")]
        return items


class TaskKind(click.ParamType[str]):
    """A kind of question of the registry, which may hold other packages' kinds too."""

    name = "kind"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of a kind; fail as ``click.Choice`` does for any other."""
        return self._choice().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Return the kinds that begin with the typed word."""
        return self._choice().shell_complete(ctx, param, incomplete)

    def _choice(self) -> click.Choice[str]:
        from survey.services.studies.plans import KINDS  # not above: it imports numpy

        return click.Choice([*KINDS])


STUDY_NAME = KnownName("study")
STUDY_OR_FILE = KnownName("target")
RESEARCHER = KnownName("researcher")


class NamedFile(NamedTuple):
    """A file, and the name that was typed before it, "" without one."""

    path: Path
    name: str = ""


class NamedFileType(click.Path):
    """FILE, or NAME=FILE where no file is called so."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the NamedFile of a word; fail where there is no such file."""
        name, equals, file = str(value).partition("=")
        if not equals or Path(str(value)).exists():
            return NamedFile(Path(os.fsdecode(super().convert(value, param, ctx))))
        return NamedFile(Path(os.fsdecode(super().convert(file, param, ctx))), name.strip())


MEASURE_NAMES = KnownName("measures")
INPUT_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
RUN_FILE = NamedFileType(exists=True, dir_okay=False, path_type=Path)
OUTPUT_FILE = click.Path(dir_okay=False, path_type=Path)
OUTPUT_FOLDER = click.Path(file_okay=False, path_type=Path)

# What the lists of a study are read from.
LISTS_OPTIONS = (
    click.option("--qrels", type=INPUT_FILE, help="TREC judgements: a question for each topic."),
    click.option(
        "--run",
        "runs",
        type=RUN_FILE,
        multiple=True,
        metavar="FILE...",
        help="TREC runs, two to ten: a list from each. NAME=FILE names one.",
    ),
)

# As in survey.core.preflight, which is slow to import.
ID_CHANGES = ("without-extension", "without-folder", "without-zeros", "any-case", "without-blanks")
READING_OPTIONS = (
    click.option(
        "--ids",
        multiple=True,
        type=click.Choice(ID_CHANGES),
        help="Compare documents of runs and judgements without these differences.",
    ),
    click.option(
        "--scores",
        "score_type",
        type=click.Choice(["similarities", "distances"]),
        help="Whether the better document has the higher score, or the smaller distance.",
    ),
    click.option(
        "--relevant-from",
        type=click.IntRange(1, 30),
        default=1,
        metavar="GRADE",
        help="The lowest grade that binary measures count as relevant (1).",
    ),
    click.option("--strict", is_flag=True, help="Exit with status 1 if there is a warning."),
)

SLUG_ARGUMENT = click.argument("slug", type=STUDY_NAME)
YES_OPTION = click.option("--yes", is_flag=True, help="Do it without asking, as in scripts.")
FORCE_OPTION = click.option("--force", is_flag=True, help="Replace files that exist.")
JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")


@contextmanager
def open_engine(*, make: bool = False) -> Iterator[tuple["Settings", "Engine"]]:
    """Yield the settings and an engine of their database, whatever its schema is.

    With ``make``, first make the instance folder if it is missing.
    """
    from survey.config import Settings
    from survey.services.operations.database import connect

    settings = Settings.from_environment(make=make)
    engine = connect(settings.database_uri)
    try:
        yield settings, engine
    finally:
        engine.dispose()


@contextmanager
def open_session() -> Iterator["Session"]:
    """Yield a session of the survey's database; refuse a schema of another version."""
    from sqlalchemy.orm import Session

    from survey.services.operations.database import require_current_schema

    with open_engine() as (_, engine):
        require_current_schema(engine)
        with Session(engine) as session:
            yield session


@contextmanager
def open_study(slug: str) -> Iterator[tuple["Session", "Study"]]:
    """Yield a session and the study with this slug; raises NotFoundError."""
    with open_session() as session:
        yield session, named_study(session, slug)


def named_study(session: "Session", slug: str) -> "Study":
    """Return the study with this slug; raises NotFoundError, which names the studies there are.

    Pages do not name them: they would tell participants of one study of the others.
    """
    from survey.errors import NotFoundError
    from survey.services.studies import lifecycle
    from survey.services.studies.plans import did_you_mean

    try:
        return lifecycle.find_study(session, slug)
    except NotFoundError as error:
        slugs = [study.slug for study in lifecycle.all_studies(session)]
        if not slugs:
            raise NotFoundError(f"{error} Make one with `survey study new`.") from None
        raise NotFoundError(f"{error} {did_you_mean(slug, slugs)}") from None


def confirm(question: str, *, yes: bool, as_json: bool) -> None:
    """Ask before something is lost or becomes public; exit with status 1 unless the answer is yes.

    ``yes``: the answer is given. Raises UsageError with --json, which asks nothing.
    """
    if as_json and not yes:
        raise click.UsageError("--json asks nothing, so it needs --yes.")
    if not yes:
        click.confirm(harmless(question), abort=True, err=True)


def check_writable(path: Path, *, force: bool) -> None:
    """Refuse a path where something would be overwritten, or whose folder is missing."""
    if path.exists() and not (force and path.is_file()):
        hint = "; --force replaces it" if path.is_file() else ""
        raise click.ClickException(f"{path} is there already{hint}.")
    if not path.absolute().parent.is_dir():
        raise click.ClickException(f"There is no folder {path.parent}.")


def refuse_inputs(target: Path, *inputs: Path) -> None:
    """Refuse to write to a file that the command reads, which --force would replace."""
    if target.resolve() in {path.resolve() for path in inputs}:
        raise click.ClickException(f"{target} is a file that is read; name another to write.")


def check_together(options: Mapping[str, object], needed: Collection[str], hint: str = "") -> None:
    """Raise UsageError, which may end with a hint, where options are set without those needed.

    ``options``: name → value. The message names those only that were set.
    """
    chosen = [name for name, value in options.items() if value]
    missing = [name for name in needed if not options[name]]
    if chosen and missing:
        need = "needs" if len(chosen) == 1 else "need"
        text = f"{' and '.join(chosen)} {need} {' and '.join(missing)} as well."
        raise click.UsageError(f"{text} {hint}".strip())


def refuse_own_database(file: Path, engine: "Engine") -> None:
    """Refuse a file that is the database of the survey."""
    database = Path(str(engine.url.database))
    is_file = engine.dialect.name == "sqlite" and database.exists()
    if is_file and file.exists() and file.samefile(database):
        raise click.ClickException(f"{file} is the survey's database itself; name another file.")


def write_files(folder: Path, files: Iterable[tuple[str, bytes]], count: int | None = None) -> None:
    """Write files, by their names, into a folder that is made if it is missing."""
    with progress_bar("Writing", total=count) as progress:
        try:
            for name, content in files:
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                progress.advance()
        except OSError as error:
            raise click.ClickException(f"{folder} cannot be written: {error.strerror}.") from None


def with_options(
    options: Sequence[Callable[[click.decorators.FC], click.decorators.FC]],
) -> Callable[[click.decorators.FC], click.decorators.FC]:
    """Return a decorator that adds several options, in this order."""

    def add(command: click.decorators.FC) -> click.decorators.FC:
        for option in reversed(options):
            command = option(command)
        return command

    return add


PAPER_OPTIONS = (
    click.option(
        "--figure-width",
        type=click.FloatRange(2.5, 10),
        metavar="INCHES",
        help="How wide figures are printed, by default 3.33.",
    ),
    click.option("--font", type=click.Choice(["sans", "serif"]), help="Of figures; serif is STIX."),
    click.option(
        "--table-width",
        type=click.FloatRange(160, 600),
        metavar="POINTS",
        help="How wide a column is for tables in LaTeX, by default 241; 347 for LNCS.",
    ),
)


def paper_look(folder: Path | None, options: dict[str, Any]) -> "PaperLook":
    """Take PAPER_OPTIONS out of a command's options; raise UsageError for one without --to."""
    from survey.services.analysis.paper_files import PaperLook

    names = ("figure_width", "font", "table_width")
    chosen = {name: value for name in names if (value := options.pop(name)) is not None}
    if chosen and folder is None:
        name = next(iter(chosen)).replace("_", "-")
        raise click.UsageError(f"--{name} is of the files that --to FOLDER writes; give it too.")
    return PaperLook(**chosen)


def _repeat_options(
    args: Sequence[str], multiple: Collection[str], ctx: click.Context
) -> Iterator[str]:
    """Yield the words with an option before each of its words: --run A B as --run A --run B."""
    option, needs_word = "", False
    for word in (*args, END):
        if not word.startswith("-") or word == "-":
            yield from (option, word) if option else (word,)
            needs_word = False
            continue
        if needs_word:
            raise click.BadOptionUsage(option, f"Option {option!r} requires an argument.", ctx)
        name, equals, _ = word.partition("=")
        option = name if name in multiple else ""
        needs_word = bool(option) and not equals
        if not needs_word and word is not END:
            yield word
