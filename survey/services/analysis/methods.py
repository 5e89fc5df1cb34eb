"""The methods of a paper, in Markdown and LaTeX, of the numbers that the analysis has as JSON."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from survey.core.statistics.significance import p_text, rounded
from survey.services.analysis.latex import caption_of, escape_latex
from survey.services.analysis.results import Results, Tested

ETHICS = "[Name the ethics committee, its decision and its number.]"
CONSENT = "Participants read a consent text and agreed to it before they began."
NO_REGISTRATION = "There is no registration with which the analysis was compared."
CAPTIONS = "Captions"
DIGEST = re.compile("[0-9a-f]{64}")


def methods_parts(results: Results) -> list[tuple[str, list[str]]]:
    """Return heading and paragraphs of each part; needs the results' ``paper_facts``."""
    design: Mapping[str, str] = results.paper_facts["texts"]
    described = [*_people(results.paper_facts), *_by_reason(results.paper_facts)]
    return [
        ("Participants", [" ".join([*results.analysed, *described])]),
        ("Materials", [design["materials"]]),
        ("Procedure", [design["procedure"]]),
        ("Design", [f"{design['design']} {design['randomisation']} {design['blinding']}"]),
        (
            "Analysis",
            [
                " ".join(
                    filter(
                        None,
                        (
                            design["outcome"],
                            *results.analysis_sentences,
                            design["equality"],
                            design["exclusion"],
                            design["missing"],
                        ),
                    )
                ),
                *(map(tested_sentence, results.tested) if results.tested else [results.headline]),
            ],
        ),
        ("Deviations from the registration", _deviations(results)),
        ("Ethics", [f"{ETHICS} {CONSENT}"]),
        ("Software and digest", [" ".join(results.sources)]),
    ]


def methods_files(results: Results) -> Iterator[tuple[str, str]]:
    """Yield methods.md and methods.tex, the captions of all figures behind the methods."""
    parts = methods_parts(results)
    captions = [
        (exhibit.name, caption_of(exhibit, results.numbers))
        for exhibit in results.exhibits
        if not exhibit.why
    ]
    yield "methods.md", "".join(_markdown(parts, captions))
    yield "methods.tex", "".join(_latex(parts, captions))


def tested_sentence(test: Tested) -> str:
    """Return what was tested of a pair: mean, t, df, p and interval."""
    if test.mean is None or test.t is None or test.df is None:
        return f"{test.pair.title}: not tested, {p_text(test.p)}."
    interval = ""
    if test.ci95:
        interval = f", 95 % interval {rounded(test.ci95[0], 3)} to {rounded(test.ci95[1], 3)}"
    of = "questions of this kind" if test.of_kind else "these questions alone"
    return (
        f"{test.pair.title}: mean difference {rounded(test.mean, 3)}{interval}, "
        f"t({rounded(test.df)}) = {rounded(test.t, 2)}, {p_text(test.p)}, {test.correction} ({of})."
    )


def _people(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield mean and standard deviation of what is known of the participants as numbers."""
    for name, spread in facts["people"].items():
        if spread["mean"] is not None:
            deviation = "" if spread["sd"] is None else f", SD = {rounded(spread['sd'], 2)}"
            mean = f"M = {rounded(spread['mean'], 2)}{deviation}"
            yield f"{name.capitalize()}: {mean}, n = {spread['n']}."


def _by_reason(facts: Mapping[str, Any]) -> Iterator[str]:
    reasons = [f"{count} ({reason})" for reason, count in facts["excluded_by_reason"].items()]
    if reasons:
        yield f"Excluded, by reason: {'; '.join(reasons)}."


def _deviations(results: Results) -> list[str]:
    if results.registered is None:
        return [NO_REGISTRATION]
    return [" ".join([results.registered.sentence, *results.registered.deviations])]


Parts = list[tuple[str, list[str]]]


def _markdown(parts: Parts, captions: list[tuple[str, str]]) -> Iterator[str]:
    yield "# Methods\n"
    for heading, paragraphs in parts:
        yield f"\n## {heading}\n"
        yield from (f"\n{paragraph}\n" for paragraph in paragraphs)
    yield f"\n# {CAPTIONS}\n"
    yield from (f"\n**{name}.** {text}\n" for name, text in captions)


def _latex(parts: Parts, captions: list[tuple[str, str]]) -> Iterator[str]:
    yield "% To be read with \\input in a document of your own.\n"
    yield "\\begingroup\\sloppy % else long numbers stand out of a narrow column\n"
    yield "\\section{Methods}\n"
    for heading, paragraphs in parts:
        yield f"\n\\subsection{{{escape_latex(heading)}}}\n"
        yield from (f"\n{_broken(paragraph)}\n" for paragraph in paragraphs)
    yield f"\n% {CAPTIONS} of the figures; figures.tex has each with its figure.\n"
    yield f"\\section{{{CAPTIONS}}}\n"
    for name, text in captions:
        yield f"\n\\paragraph{{{escape_latex(name)}}} {_broken(text)}\n"
    yield "\n\\par\\endgroup\n"


def _broken(text: str) -> str:
    """Return a paragraph in LaTeX, with places at which a digest may be broken."""
    return DIGEST.sub(
        lambda match: r"\allowbreak{}".join(re.findall(".{8}", match[0])), escape_latex(text)
    )
