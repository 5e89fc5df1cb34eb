"""What programs read of a study, as JSON: its design, progress, results and bundle.

Addresses: /api/v1/…; a token in the header Authorization opens one study, and nothing else. Pages
of other sites cannot read them: no header allows it.
"""

from functools import wraps
from typing import Any

from flask import Blueprint, Response, current_app, g, jsonify, make_response, request
from flask.typing import ResponseReturnValue

from survey import __version__
from survey.errors import NotFoundError
from survey.services import read_tokens
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange import bundle as bundles
from survey.services.operations.database import snapshot
from survey.services.studies import lifecycle, publications
from survey.web.requests import (
    View,
    attachment,
    bearer_token,
    external_address,
    in_own_process,
    session,
)

blueprint = Blueprint("api", __name__, url_prefix="/api/v1")

REFUSAL = (
    "A token is needed, as `survey token add SLUG` prints it, in a header: Authorization: Bearer "
    "TOKEN. This one is missing, unknown or has ended."
)
PUBLIC = ("api.openapi",)


@blueprint.before_request
def _find_token() -> ResponseReturnValue | None:
    if request.endpoint in PUBLIC:
        return None
    snapshot(session())
    token = read_tokens.find(session(), bearer_token())
    if token is None:
        return {"error": REFUSAL}, 401, {"WWW-Authenticate": "Bearer"}
    g.token_id, g.study = token.id, token.study
    return None


def _answers_program(view: View) -> View:
    """Decorate a view: count the request, refuse other studies, answer 304 if unchanged."""

    @wraps(view)
    def answered(slug: str = "") -> ResponseReturnValue:
        if slug and slug != g.study.slug:
            raise NotFoundError("There is no such study, or the token is of another.")
        session().rollback()  # on SQLite a transaction that has read cannot write
        wait = read_tokens.seconds_to_wait(session(), g.token_id)
        if wait:
            most = read_tokens.MOST_IN_A_MINUTE
            text = f"More than {most} requests in a minute: wait {wait} seconds."
            return {"error": text}, 429, {"Retry-After": str(wait)}
        snapshot(session())
        response = make_response(view())
        if not response.get_etag()[0]:
            response.add_etag()
        response.headers["Cache-Control"] = "private, no-cache"
        response.vary.add("Authorization")
        return response.make_conditional(request)

    return answered


@blueprint.get("/studies")
@_answers_program
def studies() -> ResponseReturnValue:
    """List the studies that the token opens: one."""
    return jsonify([_described()])


@blueprint.get("/studies/<slug>")
@_answers_program
def study() -> ResponseReturnValue:
    """Return the study's design, status and digest."""
    return jsonify(_described())


@blueprint.get("/studies/<slug>/progress")
@_answers_program
def progress() -> ResponseReturnValue:
    """Return how many participants began and finished, and how long it took them."""
    taken = lifecycle.time_taken(session(), g.study)
    return jsonify(
        slug=g.study.slug,
        status=g.study.status_or_closing,
        participants=lifecycle.progress(session(), g.study),
        minutes=vars(taken),
    )


@blueprint.get("/studies/<slug>/results")
@in_own_process
@_answers_program
def results() -> ResponseReturnValue:
    """Return the closed study's results: what `survey analyse --json` prints."""
    unchanged = _closed_version("results")
    if unchanged:
        return unchanged
    computed = bundles.results_of(session(), g.study, AnalysisOptions())
    response = jsonify(computed.all_json())
    response.set_etag(g.version)
    return response


@blueprint.get("/studies/<slug>/bundle")
@in_own_process
@_answers_program
def bundle() -> ResponseReturnValue:
    """Return the closed study's bundle, a zip, without identities."""
    unchanged = _closed_version("bundle")
    if unchanged:
        return unchanged
    expected = bundles.estimate_bytes(session(), g.study)
    chunks = bundles.stream_bundle(session(), g.study)
    response = attachment(chunks, "application/zip", f"{g.study.slug}.zip", expected)
    response.set_etag(g.version)
    return response


@blueprint.get("/openapi.json")
def openapi() -> ResponseReturnValue:
    """Describe these addresses, for tools that read OpenAPI."""
    rules = [rule for rule in current_app.url_map.iter_rules() if rule.endpoint.startswith("api.")]
    paths = {
        rule.rule.replace("<", "{").replace(">", "}"): {"get": _operation(rule.endpoint)}
        for rule in sorted(rules, key=lambda rule: rule.rule)
    }
    return jsonify(
        openapi="3.1.0",
        info={"title": "ranking-survey", "version": __version__},
        servers=[{"url": external_address("home.home").rstrip("/")}],  # paths begin with /
        components={"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        security=[{"token": []}],
        paths=paths,
    )


def _operation(endpoint: str) -> dict[str, Any]:
    """Return how OpenAPI describes an address, from its view's docstring and its arguments."""
    name = endpoint.removeprefix("api.")
    content = "application/zip" if name == "bundle" else "application/json"
    answers = {"200": {"description": "Done", "content": {content: {}}}}
    if endpoint not in PUBLIC:
        answers["304"] = {"description": "It is what the ETag in If-None-Match names"}
        answers["401"] = {"description": "No token, or one that is unknown or has ended"}
        answers["404"] = {"description": "Not there, or not for this token"}
        answers["429"] = {"description": "Too many requests; Retry-After has the seconds to wait"}
    rule = next(current_app.url_map.iter_rules(endpoint))
    parameters = [
        {"name": argument, "in": "path", "required": True, "schema": {"type": "string"}}
        for argument in rule.arguments
    ]
    summary = (current_app.view_functions[endpoint].__doc__ or "").strip()
    return {
        "operationId": name,
        "summary": summary,
        "parameters": parameters,
        "responses": answers,
        **({"security": []} if endpoint in PUBLIC else {}),
    }


def _described() -> dict[str, Any]:
    return lifecycle.describe(g.study)


def _closed_version(what: str) -> Response | None:
    """Note the version of a closed study; return 304 where the program has it already.

    Raises NotFoundError before it is closed: no program looks at results early.
    """
    if g.study.status != "closed":
        raise NotFoundError(
            f"The {what} of {g.study.slug!r} can be read when the study is closed; it is "
            f"{g.study.status_or_closing} now."
        )
    g.version = publications.publication_version(session(), g.study)
    if not request.if_none_match.contains_weak(g.version):
        return None
    response = Response(status=304)
    response.set_etag(g.version)
    return response
