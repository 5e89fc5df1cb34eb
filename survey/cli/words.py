"""Options that take several words: ``--run R1 R2 R3 --json``."""

from collections.abc import Collection, Iterator, Sequence

import click
from click.shell_completion import CompletionItem

from survey.cli.command import Command

GOING_ON = "survey.cli.words.going_on"


class SeveralWords(Command):
    """A command whose repeatable options take every word up to the next option.

    ``--run R1 R2`` is read as ``--run R1 --run R2``; click itself takes one word an option.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the options before their words, then parse as ever."""
        several = {
            name: param
            for param in self.params
            if isinstance(param, click.Option) and param.multiple
            for name in param.opts
        }
        if ctx.resilient_parsing:  # for completion: what the last words belong to
            given = [word for word in args if word.startswith("-")]
            ctx.meta[GOING_ON] = several.get(given[-1]) if given else None
            return super().parse_args(ctx, args)
        return super().parse_args(ctx, [*_repeated(args, several, ctx)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Complete one more word of an option that takes several, or else as ever."""
        option: click.Option | None = ctx.meta.get(GOING_ON)
        if option is None or incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return option.shell_complete(ctx, incomplete)


def _repeated(args: Sequence[str], several: Collection[str], ctx: click.Context) -> Iterator[str]:
    option, waiting = "", False
    for word in (*args, "--"):
        if not word.startswith("-") or word == "-":
            yield from (option, word) if option else (word,)
            waiting = False
            continue
        if waiting:
            raise click.BadOptionUsage(option, f"Option {option!r} requires an argument.", ctx)
        name, given, _ = word.partition("=")
        option = name if name in several else ""
        waiting = bool(option) and not given
        if not waiting:
            yield word
