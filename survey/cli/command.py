"""Commands whose help ends with examples, and groups of them in the order in which one needs them.

Light on purpose: the help of ``survey`` waits for no library.
"""

from collections.abc import Sequence
from typing import Any

import click

WHOLE_SENTENCE = 200  # characters; the list of commands wraps by itself


class Command(click.Command):
    """A command with examples, which a test runs; each is a line (or lines) as one types it."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)
        for param in self.params:
            if param.type.name.startswith(("integer", "float")):
                param.metavar = param.metavar or "NUMBER"  # people do not say INTEGER RANGE

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """End the help with the examples."""
        super().format_epilog(ctx, formatter)
        write_examples(formatter, self.examples)


class Topic(click.Group):
    """A group of commands about one thing, listed in the order in which they were added."""

    command_class = Command

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the commands' names, in the order in which they were added."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with its whole first sentence."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, self.commands[name].get_short_help_str(WHOLE_SENTENCE))
                    for name in self.list_commands(ctx)
                ]
            )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """End the help with the examples."""
        super().format_epilog(ctx, formatter)
        write_examples(formatter, self.examples)


def write_examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    """Write examples as they are typed, one after the other."""
    if examples:
        with formatter.section("Examples"):
            for example in examples:
                for line in example.splitlines():
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
