"""Public pages of closed studies: their list, results, bundle, citation, and a question to try.

Participants' pages do not link to them.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

from flask import (
    Blueprint,
    Response,
    current_app,
    g,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from flask.typing import ResponseReturnValue

from survey import __version__
from survey.core.kinds import kind_of
from survey.services.analysis.results import Results, as_svg
from survey.services.analysis.sheets import printed_table
from survey.services.collections import items
from survey.services.exchange import bundle as bundles
from survey.services.exchange.description import SCHEMA_ORG, dataset, left_out
from survey.services.exchange.public_bundle import (
    public_content,
    stream_public_bundle,
    tried_sheet,
)
from survey.services.exchange.registry import (
    copy_version,
    printed_points,
    runs_of_study,
    stored_runs,
)
from survey.services.exchange.tables import Content
from survey.services.operations.database import snapshot
from survey.services.participation import answers
from survey.services.studies import publications
from survey.services.studies.citation import LICENCES, Citation
from survey.services.studies.languages import ENGLISH
from survey.web.forms import AnswerForm
from survey.web.language import and_join, filled, set_language
from survey.web.participant.trial import TriedSteps, answer_or_page, steps_or_page
from survey.web.participant.visit import pages_of, picture_response, whole_text_page
from survey.web.requests import (
    View,
    attachment,
    external_address,
    in_own_process,
    session,
    settled_address,
    take_slug,
)

if TYPE_CHECKING:
    from survey.db.models import Publication
    from survey.figures.exhibit import Exhibit

blueprint = Blueprint("published", __name__, url_prefix="/studies")
take_slug(blueprint)

TRIED = 1  # the number of the question that visitors can try


@blueprint.before_request
def _find_publication() -> None:
    snapshot(session())
    if g.slug is not None:
        g.publication = publications.find_public(session(), g.slug)
        g.study = g.publication.study
        g.plan = g.study.plan


def _unless_unchanged(view: View) -> View:
    """Decorate a view: answer 304 to browsers that have the page of the study's present version.

    Caches must ask each time, or they would show a page after an erasure or after it was taken
    back.
    """

    @wraps(view)
    def answered(**values: object) -> ResponseReturnValue:
        version = publications.publication_version(session(), g.study)
        version += copy_version(current_app.config["INSTANCE"])  # what the page says of other runs
        if request.if_none_match.contains_weak(version):
            response = Response(status=304)
        else:
            response = make_response(view(**values))
        response.set_etag(version)
        response.headers["Cache-Control"] = "public, no-cache"
        return response

    return answered


@blueprint.get("")
def studies() -> ResponseReturnValue:
    """List the published studies."""
    return render_template("published/studies.html", published=publications.all_public(session()))


@blueprint.get("/<slug>", endpoint="page")
@_unless_unchanged
@in_own_process
def published_study() -> ResponseReturnValue:
    """Show what was asked, the results, and how to replicate and to cite the study."""
    return public_page(g.publication)


def public_page(publication: "Publication", **more: object) -> str:
    """Render a publication's page; the study and its plan are in ``g``."""
    content = public_content(session(), g.study)
    results: Results = content.results
    people, answered = publications.people_in(session(), g.study)
    return render_template(
        "published/page.html",
        publication=publication,
        citation=citation(publication),
        licence=LICENCES[publication.licence].partition(":")[0],
        version=__version__,
        packages=and_join(sorted({*g.study.packages.values()})),
        asked=_in_its_language(g.plan.question_text),
        people=people,
        answered=answered,
        results=results,
        lead=_svg_of(results.lead),
        printed=printed_table,
        left_out=left_out(g.plan),
        departures=kind_of(g.plan).departures(g.plan),
        **runs_shown(results),
        metadata=_metadata(replace(content, citation=citation(publication))),
        **more,
    )


def runs_shown(results: Results) -> dict[str, Any]:
    """Return what templates need to show the runs of the study elsewhere."""
    instance = current_app.config["INSTANCE"]
    if not (g.study.digest and stored_runs(instance, g.study.digest)):
        return {"runs": None}
    own = [external_address(f"published.{name}", slug=g.study.slug) for name in ("page", "bundle")]
    publication = publications.current_publication(session(), g.study)
    doi = publication.doi if publication else ""
    leads, people = results.pair_points, len(results.participants)
    return {
        "runs": runs_of_study(instance, g.study.digest, leads, people, [*own, doi]),
        "printed_points": printed_points,
    }


def _metadata(content: Content) -> dict[str, Any]:
    """Return the study as schema.org describes a dataset, for search engines."""
    download = {
        "@type": "DataDownload",
        "contentUrl": external_address("published.bundle", slug=g.slug),
        "encodingFormat": "application/zip",
    }
    described = dataset(content, bundles.csv_tables(content))
    return {"@context": SCHEMA_ORG, **described, "distribution": download}


def _in_its_language(text: str) -> str:
    """Return a text of the study with its placeholders filled in, in the study's language."""
    set_language(g.plan.language)
    filled_text = filled(text)
    set_language(ENGLISH)
    return filled_text


def _svg_of(exhibit: "Exhibit | None") -> str | None:
    return None if exhibit is None or exhibit.why else as_svg(exhibit)


def citation(publication: "Publication") -> Citation:
    """Return how a study is cited, with the address of its public page."""
    return publications.citation_of(publication, external_address("published.page", slug=g.slug))


@blueprint.get("/<slug>/bundle.zip")
@_unless_unchanged
@in_own_process
def bundle() -> ResponseReturnValue:
    """Stream the bundle without personal fields and free texts."""
    expected = bundles.estimate_bytes(session(), g.study)
    chunks = stream_public_bundle(session(), g.study, settled_address("published.page"))
    return attachment(chunks, "application/zip", f"{g.slug}.zip", expected)


@blueprint.get("/<slug>/CITATION.cff")
@_unless_unchanged
def cff() -> ResponseReturnValue:
    """Send the citation as tools for repositories read it."""
    return attachment(citation(g.publication).cff(), "application/yaml", "CITATION.cff")


@blueprint.get("/<slug>/citation.bib")
@_unless_unchanged
def bibtex() -> ResponseReturnValue:
    """Send the citation as BibTeX reads it."""
    return attachment(citation(g.publication).bibtex(), "text/x-bibtex", f"{g.slug}.bib")


@blueprint.get("/<slug>/pictures/<size>/<name>.webp")
def picture(size: str, name: str) -> ResponseReturnValue:
    """Return a picture of the study, by its random name, for the question that can be tried."""
    return picture_response(size, name)


@blueprint.get("/<slug>/texts/<name>.html")
def whole_text(name: str) -> ResponseReturnValue:
    """Show a document's whole text, by its random name, for the question that can be tried."""
    g.at, g.bar = _address_of, "published/_bar.html"
    set_language(g.plan.language)
    return whole_text_page(name)


@blueprint.route("/<slug>/try", methods=["GET", "POST"])
@in_own_process
def try_question() -> ResponseReturnValue:
    """Show one question as participants saw it, then the results on it; store nothing."""
    if request.form.get("go") == "back":
        return redirect(url_for("published.page"), 303)
    plan, variant = g.plan, answers.usual_variant(g.plan)
    # The study's contact is for participants, so visitors do not see it.
    g.plan = replace(plan.in_arm(next(iter(plan.arms), None)), contact="").for_question(TRIED)
    g.at, g.bar = _address_of, "published/_bar.html"
    set_language(g.plan.language)
    if pages_of(g.plan).form(g.plan).takes_steps:
        template = pages_of(g.plan).question_template
        sent = steps_or_page(TRIED, variant, template)
        return _tried_page(variant, *sent) if isinstance(sent, TriedSteps) else sent
    question = answers.preview(session(), g.study, TRIED, variant)
    sent = answer_or_page(question, TRIED, pages_of(g.plan).question_template, saved=0)
    if isinstance(sent, AnswerForm):
        return _tried_page(variant, (), sent)
    return sent


def _tried_page(variant: str, steps: Sequence[object], form: AnswerForm) -> ResponseReturnValue:
    """Return the page that compares a visitor's answer with those of the study."""
    set_language(ENGLISH)
    _, drawn = answers.drawn_variant(g.study, TRIED, variant, steps)
    sheet = tried_sheet(session(), g.study, TRIED, drawn, form.answer)
    of_documents = sheet.columns[0] == "document"  # which visitors know by their pictures alone
    shown = items.shown(session(), g.study).documents if of_documents else {}
    pictures = {
        document: url_for("published.picture", size="small", name=name)
        for document, (name, _) in shown.items()
        if name
    }
    return render_template(
        "published/tried.html", sheet=sheet, printed=printed_table, pictures=pictures
    )


def _address_of(page: str, position: int | None = None, **query: Any) -> str:  # noqa: ARG001 - as ``at`` is called
    if page in ("picture", "whole_text"):
        return url_for(f"published.{page}", **query)
    return url_for("published.page")
