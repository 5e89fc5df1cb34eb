"""An application that does the least: it stores a row for each form, and has one page.

What it reaches on our server is the limit of server, framework and disk, whatever the survey does.
Run it with a port, a file for its database and a file with the page of question 10.
"""

import sqlite3
import sys
from pathlib import Path
from threading import local

from flask import Flask, Response, redirect, request
from werkzeug.wrappers import Response as Answer

from benchmarks.speed.rush.servers import HOME, HOST
from survey.server import listen, serve

CREATE = "CREATE TABLE IF NOT EXISTS answer (question INTEGER, choice TEXT)"


def bare_application(database: str, page: str) -> Flask:
    """Return the application; ``page``: the question's page, the same for all questions."""
    app, of_thread = Flask("bare"), local()

    def connection() -> sqlite3.Connection:
        if not hasattr(of_thread, "connection"):
            of_thread.connection = sqlite3.connect(database, isolation_level=None, timeout=10)
            of_thread.connection.execute("PRAGMA journal_mode = WAL")
            of_thread.connection.execute("PRAGMA synchronous = FULL")
            of_thread.connection.execute(CREATE)
        return of_thread.connection  # type: ignore[no-any-return] # a local has no types

    @app.get(HOME)
    def begin() -> Answer:
        return redirect(f"{HOME}/q/1", 303)

    @app.get(f"{HOME}/q/<int:number>")
    def question(number: int) -> Response:
        return Response(page.replace("/q/10", f"/q/{number}"), mimetype="text/html")

    @app.post(f"{HOME}/q/<int:number>")
    def answer(number: int) -> Answer:
        row = (number, request.form["choice"])
        connection().execute("BEGIN IMMEDIATE")
        connection().execute("INSERT INTO answer VALUES (?, ?)", row)
        connection().execute("COMMIT")
        return redirect(f"{HOME}/q/{number + 1}", 303)

    return app


if __name__ == "__main__":
    port, database, page = sys.argv[1:]
    app = bare_application(database, Path(page).read_text(encoding="utf-8"))
    serve(app.wsgi_app, listen(HOST, int(port)), workers=2)
