"""Words on the command line of which completion knows possible values."""

import click
from click.shell_completion import CompletionItem


class Kind(click.ParamType[str]):
    """A text; ``name`` says of what. Who presses Tab is told what there is.

    The context's object is then the address of the database, see ``outline``.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002 - click's signature
        incomplete: str,
    ) -> list[CompletionItem[str]]:
        """Return the values there are that begin like this; after a comma, of the last one."""
        from survey.services import suggestions  # for Tab only

        before, comma, begun = incomplete.rpartition(",")
        found: list[CompletionItem[str]] = [
            CompletionItem(f"{before}{comma}{value}")
            for value in suggestions.KINDS[self.name](ctx.obj)
            if value.casefold().startswith(begun.casefold())
        ]
        return found or ([CompletionItem(incomplete, type="file")] if self is TARGET else [])


STUDY = Kind("study")
TARGET = Kind("target")  # a study or a file
RESEARCHER = Kind("researcher")
MEASURES = Kind("measures")
KINDS = {kind.name: kind for kind in (STUDY, TARGET, RESEARCHER, MEASURES)}
