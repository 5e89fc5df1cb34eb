"""What pages tell people to type and no test runs; each line is read by bash all the same."""

import re

# How a command begins, as a pattern → why it is not run.
UNRUN = {
    r"pip install \.( |$)": "tests/test_wheel.py builds and runs the wheel",
    "sudo (?!-u survey )": "asks for rights on a server that a test has not",
    r"make (?!run\b)": "makes an environment, or runs the tests; .ci/run makes some",
}


def reason_not_to_run(command: str) -> str | None:
    """Return why a command is not run, or None where it is."""
    return next((why for start, why in UNRUN.items() if re.match(start, command)), None)
