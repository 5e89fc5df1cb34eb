"""Pool several bundles: refuse what must not be pooled, and compute what they say together."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence, Set
from itertools import combinations
from pathlib import PurePath
from typing import Any

from survey.core.agreement.pooled_sites import Site
from survey.core.studies.plan import Plan
from survey.errors import SurveyError
from survey.services.analysis.pooled import Pooling
from survey.services.analysis.results import Results
from survey.services.analysis.study_results import AnalysisOptions, LeftOut
from survey.services.exchange.bundle import SUMS
from survey.services.exchange.bundle_reader import read_bundle, replicate, require_bundle
from survey.services.exchange.input_files import Files, file_text
from survey.services.exchange.tables import Content, with_left_out

# What studies of one design may differ in: it changes neither what people see of the lists nor how
# these are drawn. The other fields, texts among them, must be equal.
MAY_DIFFER = frozenset(
    {"seed", "title", "asked_by", "contact", "participants", "minutes", "looks", "personal_until"}
)
# What seeds draw of files: equal files are enough.
OF_FILES = ("own_lists", "own_marks", "provenance")
LONGEST_VALUE = 60  # characters, in a message
FEWEST_PEOPLE = 2  # of whom a standard error can be computed


class PoolingError(SurveyError):
    """Bundles that must not be pooled; ``faults``: of each bundle, by its place, the reasons."""

    def __init__(self, names: Sequence[str], faults: Mapping[int, Sequence[str]]) -> None:
        self.faults = {place: [*faults[place]] for place in sorted(faults) if faults[place]}
        lines = [
            f"{names[place]}: {why}" for place, reasons in self.faults.items() for why in reasons
        ]
        super().__init__("\n".join(lines))


def pool_bundles(
    bundles: Sequence[Files],
    names: Sequence[str],
    *,
    same_design: bool = False,
    include_test: bool = False,
    on_done: Callable[[int], object] = lambda _: None,
) -> Pooling:
    """Return what several studies say together.

    ``names``: of their files. Without ``same_design`` all must have one digest, and so the same
    questions; with it other seeds, and else the same design. ``on_done``: called with 1 whenever a
    bundle is replicated and analysed.

    Raises PoolingError with the reasons for each bundle that cannot be pooled.
    """
    if len(bundles) < 2:
        raise SurveyError(f"{len(bundles)} bundle found; pooling takes two or more.")
    faults: dict[int, list[str]] = {place: [] for place in range(len(bundles))}
    studies: dict[int, tuple[Content, Results]] = {}
    options = AnalysisOptions(include_test=include_test)
    for place, (files, name) in enumerate(zip(bundles, names, strict=True)):
        try:
            studies[place] = _study(files, name, options)
        except SurveyError as error:
            faults[place] += str(error).splitlines()
        on_done(1)
    people = {
        place: {person.public_id for person in content.participants()}
        for place, (content, _) in studies.items()
    }
    for first, second in combinations(studies, 2):
        if same := _same_people(bundles[first], bundles[second], (people[first], people[second])):
            faults[second].append(f"{same} in {names[first]}; count them once")
    differences: list[str] = []
    if not any(faults.values()):
        contents = [content for content, _ in studies.values()]
        of_others, differences = _compare(contents, names, same_design=same_design)
        of_pairs = _pair_faults([*studies.values()]) if not of_others else {}
        for place, why in {**of_others, **of_pairs}.items():
            faults[place] += why
    if any(faults.values()):
        raise PoolingError(names, faults)
    return _pooling([*studies.values()], _site_names(names), differences)


def _study(files: Files, name: str, options: AnalysisOptions) -> tuple[Content, Results]:
    """Return a bundle's study and results; raises SurveyError for one that cannot be pooled."""
    require_bundle(files, name)
    for _ in replicate(files):
        continue
    content, _ = read_bundle(files)
    results = with_left_out(content.analysed(options), content.participants, options)
    if results.not_pooled and not results.site_pairs:
        raise SurveyError(f"a study of {content.plan.kind} cannot be pooled: {results.not_pooled}")
    if not len(results.participants):
        hint = " --include-test counts test data." if results.left_out.test else ""
        raise SurveyError(f"no answer counts: {results.nothing or 'all are left out.'}{hint}")
    people = len(results.participants)
    if people < FEWEST_PEOPLE:
        raise SurveyError(f"{people} person has an answer that counts; two or more are needed")
    if not results.site_pairs:
        raise SurveyError("no pair has answers of two people, which are needed")
    return content, results


def _pair_faults(studies: Sequence[tuple[Content, Results]]) -> dict[int, list[str]]:
    """Return why the pairs of studies that are alike cannot be pooled, by the studies' places."""
    pairs = [results.site_pairs for _, results in studies]
    if not set.intersection(*({of_pair.pair for of_pair in of_study} for of_study in pairs)):
        why = "no pair has answers of two people in every study, so nothing can be pooled"
        return {place: [why] for place in range(len(pairs))}
    if len({content.digest for content, _ in studies}) == 1:
        return {}
    why = (
        "it has too few answers to tell how much its questions differ; a study with questions of "
        "its own takes two questions, each answered by two people"
    )
    return {
        place: [why]
        for place, of_study in enumerate(pairs)
        if any(of_pair.kind is None for of_pair in of_study)
    }


def _same_people(first: Files, second: Files, people: Sequence[Set[str]]) -> str:
    """Return that two bundles hold the same participants, with whom; "" where they do not.

    ``people``: the ids in each. These are random, so two people never have the same one.
    """
    if file_text(first, SUMS) == file_text(second, SUMS):
        return "it is the same bundle as that"
    same = sorted(people[0] & people[1])
    if not same:
        return ""
    more = f" and {len(same) - 3} more" if len(same) > 3 else ""
    are = "is" if len(same) == 1 else "are"
    return f"{', '.join(same[:3])}{more} {are} also"


def _compare(
    contents: Sequence[Content], names: Sequence[str], *, same_design: bool
) -> tuple[dict[int, list[str]], list[str]]:
    """Return why studies must not be pooled, by their places, and in what those that may differ."""
    first, digests = contents[0], [content.digest for content in contents]
    faults: dict[int, list[str]] = {}
    if len({*digests}) == 1:
        return faults, []
    differences: list[str] = []
    for place, content in enumerate(contents[1:], 1):
        earlier = names[digests.index(content.digest)] if content.digest in digests[:place] else ""
        if earlier and (same_design or content.digest != first.digest):
            why = (
                f"it has the questions of {earlier}, and other studies have questions of their "
                "own; pool studies with the same questions, or studies with their own"
            )
            faults[place] = [why]
            continue
        if content.digest == first.digest:
            continue
        barred, allowed = _plan_differences(first, content, names[0])
        differences += [f"{names[place]} from {names[0]} in {text}" for text in allowed]
        seeds = [other.plan.seed for other in contents[:place]]
        if not barred and content.plan.seed in seeds:
            remedy = (
                f"the seed {content.plan.seed} is that of another study: it draws the "
                "same questions, so the plans must be the same"
            )
            barred = [remedy] if same_design else []
        else:
            remedy = "--same-design pools studies that differ in nothing else"
        if same_design and barred:
            faults[place] = barred
        elif not same_design:
            reasons = [*barred, *(f"it differs from {names[0]} in {text}" for text in allowed)]
            if not barred:
                reasons.append(remedy)
            faults[place] = [f"its digest differs from that of {names[0]}", *reasons]
    return faults, differences


def _plan_differences(first: Content, second: Content, name: str) -> tuple[list[str], list[str]]:
    """Return in what two studies differ: what no pooling allows, and what one design may have.

    ``name``: of the first study's file.
    """
    kinds = [content.plan.kind for content in (second, first)]
    if kinds[0] != kinds[1]:
        return [f"it is a study of {kinds[0]}, and {name} one of {kinds[1]}"], []
    plans = [content.plan.as_json() for content in (first, second)]
    barred, allowed = [], []
    files = _files_of(first.plan)
    same_files = bool(files) and files == _files_of(second.plan)
    for field in dict.fromkeys([*plans[0], *plans[1]]):
        own, other = plans[1].get(field), plans[0].get(field)
        if own == other:
            continue
        if field in OF_FILES and same_files:
            if field == OF_FILES[0]:
                allowed.append("lists, of the same files")
            continue
        texts = _texts(own, other)
        if field in MAY_DIFFER:
            allowed.append(f"{field}: {texts[0]} and {texts[1]}")
        else:
            barred.append(f"{field}: {texts[0]} found; {name} has {texts[1]}")
    if first.generator_version != second.generator_version:
        barred.append(
            f"version of the generator: {second.generator_version} found; {name} has "
            f"{first.generator_version}"
        )
    return barred, allowed


def _files_of(plan: Plan) -> Any:
    """Return the files that a plan's lists come from, None without such."""
    provenance = getattr(plan, "provenance", None)
    return provenance and (provenance.runs, provenance.sources)


def _texts(own: Any, other: Any) -> tuple[str, str]:
    """Return two values in few words, long ones from where they begin to differ."""
    texts = [_text(value) for value in (own, other)]
    if texts[0] == texts[1]:  # but for line breaks
        texts = [json.dumps(value, ensure_ascii=False) for value in (own, other)]
    same = next((at for at, both in enumerate(zip(*texts, strict=False)) if len({*both}) > 1), 0)
    start = max(0, same - 20) if max(map(len, texts)) > LONGEST_VALUE else 0
    short = [f"{'…' * (start > 0)}{text[start : start + LONGEST_VALUE]}" for text in texts]
    first, second = (
        f"{text}{'…' * (len(whole) > start + LONGEST_VALUE)}"
        for text, whole in zip(short, texts, strict=True)
    )
    return (f"“{first}”", f"“{second}”") if isinstance(own, str) else (first, second)


def _text(value: Any) -> str:
    """Return a plan's value as a file of the plan has it, in one line."""
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())


def _site_names(names: Sequence[str]) -> list[str]:
    """Return the names of sites: those of the files without ending, each once.

    Where files in several folders have one name, the folders tell them apart.
    """
    paths = [PurePath(name) for name in names]
    stems = [path.stem or "study" for path in paths]
    sites: list[str] = []
    for path, stem in zip(paths, stems, strict=True):
        has_folder = stems.count(stem) > 1 and path.parent.name
        name = f"{path.parent.name}-{stem}" if has_folder else stem
        again = sum(site == name or site.startswith(f"{name}-") for site in sites)
        sites.append(f"{name}-{again + 1}" if name in sites else name)
    return sites


def _pooling(
    studies: Sequence[tuple[Content, Results]], names: Sequence[str], differences: Sequence[str]
) -> Pooling:
    digests = sorted(content.digest for content, _ in studies)
    seed = int(hashlib.sha256("".join(digests).encode()).hexdigest()[:8], 16)
    sites, people, simulated = [], [], []
    for name, (content, results) in zip(names, studies, strict=True):
        ids = [str(person) for person in results.participants]
        people += [f"{name}:{person}" for person in ids]
        simulated += [f"{name}:{person}" for person in results.simulated_ids]
        pairs = results.site_pairs
        questions = content.plan.questions
        site = Site(name, content.plan.title, content.digest, len(ids), questions, pairs)
        sites.append(site)
    left_out = [results.left_out for _, results in studies]
    return Pooling(
        sites=sites,
        people=people,
        is_shared=len({*digests}) == 1,
        seed=seed,
        design_differences=differences,
        study={"slug": "pooled", "title": f"{len(sites)} studies pooled"},
        simulated_ids=frozenset(simulated),
        left_out=LeftOut(
            sum(results.test for results in left_out),
            sum(results.excluded for results in left_out),
            sum(results.flagged for results in left_out),
        ),
    )
