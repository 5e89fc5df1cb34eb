"""The texts of a registration: one for people, two in the order of registries' forms."""

from collections.abc import Iterator, Mapping
from typing import Any

from survey.services.studies.registration import (
    FILES,
    ITEMS,
    NOT_STATED,
    ONLY_THERE,
    REGISTRATION_FILE,
    canonical,
    in_words,
    sum_of,
)

DRAFT = "The study is a draft: no one can take part before it opens."


def registration_files(registration: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and text of each file of a registration."""
    parts = _parts(registration)
    texts = (
        registration_text(registration),
        canonical(registration),
        _form(registration, "OSF Preregistration", _osf(registration, parts)),
        _form(registration, "AsPredicted", _as_predicted(parts)),
    )
    yield from zip(FILES, texts, strict=True)


def registration_text(registration: Mapping[str, Any]) -> str:
    """Return a registration as one page of Markdown."""
    parts, items = _parts(registration), registration["items"]
    rows = [f"- {ITEMS[name]}: {in_words(items[name])}" for name in ITEMS if name in items]
    sections = [
        ("Hypothesis", parts["hypothesis"]),
        ("Data already seen", parts["existing_data"]),
        ("Materials", parts["materials"]),
        ("Procedure", parts["procedure"]),
        ("Design", f"{parts['design']} {parts['conditions']}"),
        ("Randomisation and blinding", f"{parts['randomisation']} {parts['blinding']}"),
        ("Sample", f"{parts['sample']} {parts['rationale']}"),
        ("Power", parts["power"]),
        ("Stopping", parts["stopping"]),
        ("Outcome", parts["outcome"]),
        ("Analysis", parts["analysis"]),
        ("Exclusions and missing answers", f"{parts['exclusion']} {parts['missing']}"),
        ("Items with which the analysis is compared", "\n".join(rows)),
        (
            "Files",
            f"SHA-256 of {REGISTRATION_FILE}: {sum_of(canonical(registration))}. {ONLY_THERE}",
        ),
    ]
    return _form(registration, "Registration", sections)


def _form(registration: Mapping[str, Any], name: str, sections: list[tuple[str, str]]) -> str:
    title = f"# {name}: {registration['title']}\n"
    return "\n".join([title, *(f"## {heading}\n\n{text.strip()}\n" for heading, text in sections)])


def _parts(registration: Mapping[str, Any]) -> dict[str, str]:
    """Return the paragraphs that the texts are made of, by what they are of."""
    items, power, typed = (registration[name] for name in ("items", "power", "typed"))
    design: dict[str, str] = {**registration["design"]}
    texts = {name: in_words(items.get(name)) for name in ITEMS}
    stated = {name: typed.get(name) or NOT_STATED for name in ("hypothesis", "existing_data")}
    stated["rationale"] = typed.get("rationale") or "The reason for it is not stated."
    simulated = ""
    if "seed" in power:
        simulated = f" Simulated {power['replicates']} times each, with the seed {power['seed']}."
    return {
        **{name: design.get(name, "") for name in PARTS_OF_DESIGN},
        **stated,
        "sample": f"{texts['sample_size']} participants who finish.",
        "power": f"{power.get('sentence', NOT_STATED)}{simulated}",
        "tests": f"Pairs: {texts['pairs']}. Test: {texts['test']}.",
        "inference": (
            f"A corrected test decides below p = {texts['level']}. Correction: "
            f"{texts['correction']}. Results are for {texts['scope']}. {design.get('equality', '')}"
        ).strip(),
        "analysis": (
            f"Pairs: {texts['pairs']}. Test: {texts['test']}. Correction: {texts['correction']}. "
            f"A corrected test decides below p = {texts['level']}. Results are for "
            f"{texts['scope']}. {design.get('equality', '')}"
        ).strip(),
        "other": (
            f"The study at {registration['address']}, of the kind {registration['kind']}, has the "
            f"digest {texts['digest']}: the SHA-256 of all that participants are shown. Made with "
            f"ranking-survey {texts['version']}. SHA-256 of {REGISTRATION_FILE}: "
            f"{sum_of(canonical(registration))}."
        ),
    }


PARTS_OF_DESIGN = (
    *("materials", "procedure", "design", "randomisation", "blinding", "exclusion", "missing"),
    *("stopping", "outcome", "conditions"),
)


def _as_predicted(parts: Mapping[str, str]) -> list[tuple[str, str]]:
    fields = (
        ("Data collected", f"{parts['existing_data']}\n\n{DRAFT}"),
        ("Hypothesis", parts["hypothesis"]),
        ("Dependent variable", parts["outcome"]),
        ("Conditions", f"{parts['conditions']} {parts['design']} {parts['randomisation']}"),
        ("Analyses", parts["analysis"]),
        ("Outliers and exclusions", f"{parts['exclusion']} {parts['missing']}"),
        (
            "Sample size",
            f"{parts['sample']} {parts['rationale']}\n\n{parts['power']}\n\n{parts['stopping']}",
        ),
        ("Other", parts["other"]),
    )
    return [(f"{number}. {name}", text) for number, (name, text) in enumerate(fields, 1)]


def _osf(registration: Mapping[str, Any], parts: Mapping[str, str]) -> list[tuple[str, str]]:
    return [
        ("Title", registration["title"]),
        ("Description", f"{parts['materials']} {parts['other']}"),
        ("Hypotheses", parts["hypothesis"]),
        ("Study type", "Experiment: what participants are shown is drawn for each of them."),
        ("Blinding", parts["blinding"]),
        ("Study design", parts["design"]),
        ("Randomisation", parts["randomisation"]),
        ("Existing data", f"{parts['existing_data']}\n\n{DRAFT}"),
        ("Data collection procedures", parts["procedure"]),
        ("Sample size", parts["sample"]),
        ("Sample size rationale", f"{parts['rationale']}\n\n{parts['power']}"),
        ("Stopping rule", parts["stopping"]),
        ("Manipulated variables", parts["conditions"]),
        ("Measured variables", parts["outcome"]),
        ("Indices", "Each pair's difference is the mean over all answers that count."),
        ("Statistical models", parts["tests"]),
        ("Transformations", "None."),
        ("Inference criteria", parts["inference"]),
        ("Data exclusion", parts["exclusion"]),
        ("Missing data", parts["missing"]),
        ("Exploratory analysis", "Everything else that is reported is exploratory."),
    ]
