"""Reading what was sent: at once, and never more than is allowed."""

from flask import request


def take_form() -> None:
    """Read the form before the database is asked to write: a slow sender holds no lock.

    Raises RequestEntityTooLarge for more than is allowed. A body in chunks, which names no
    length, Werkzeug would cut at the limit without a word.
    """
    request.form  # noqa: B018 - reading it is the point
    if request.content_length is None:
        request.stream.read(1)  # refused at the limit
