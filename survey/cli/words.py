"""Options that take several words: ``--run R1 R2 R3 --json``."""

from collections.abc import Collection, Iterator, Sequence

import click


class SeveralWords(click.Command):
    """A command whose repeatable options take every word up to the next option.

    ``--run R1 R2`` is read as ``--run R1 --run R2``; click itself takes one word an option.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the options before their words, then parse as ever."""
        several = {
            name
            for param in self.params
            if isinstance(param, click.Option) and param.multiple
            for name in param.opts
        }
        return super().parse_args(ctx, [*_repeated(args, several, ctx)])


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
