"""The program ``survey``, also ``python -m survey``: runs a command or completes it on Tab."""

from click.shell_completion import add_completion_class

from survey.cli import survey
from survey.cli.completion import PROGRAM, BashCompleteWithSpaces


def main() -> None:
    """Run the command line, or print suggestions if the shell asks for completion."""
    add_completion_class(BashCompleteWithSpaces)
    survey(prog_name=PROGRAM)


if __name__ == "__main__":
    main()
