"""A figure drawn from its exhibit, and written as a file.

matplotlib is loaded where it is used, since it takes half a second, and only its
object-oriented side: pyplot keeps global state.
"""

import io
import re
import threading
from functools import lru_cache
from typing import TYPE_CHECKING
from xml.etree import ElementTree  # nosec B405 # reads our own drawings only

from survey.core.agreement.exhibits import Exhibit
from survey.figures import analysis, paper
from survey.figures.style import GREY, STYLE, UNDATED, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SVG = "http://www.w3.org/2000/svg"
_one_at_a_time = threading.Lock()  # matplotlib's settings are global


def draw(exhibit: Exhibit) -> "Figure":
    """Draw an exhibit; raises ValueError for one with nothing to be drawn."""
    if exhibit.why:
        raise ValueError(f"{exhibit.name} cannot be drawn: {exhibit.why}")
    from matplotlib.figure import Figure

    if exhibit.name in paper.DRAWN:
        figure = Figure(figsize=paper.SIZES[exhibit.name], layout="constrained")
        paper.DRAWN[exhibit.name](figure, exhibit)
    else:
        size = (WIDTH, analysis.HEIGHTS[exhibit.name](exhibit))
        figure = Figure(figsize=size, layout="constrained")
        analysis.DRAWN[exhibit.name](figure.add_subplot(), exhibit)
    if exhibit.mark:
        figure.supxlabel(exhibit.mark, color=GREY, fontsize=7)
    return figure


def written(exhibit: Exhibit, ending: str) -> bytes:
    """Return a figure as a file of that kind; the same exhibit gives the same bytes."""
    from matplotlib import rc_context, rcdefaults, rcParams

    sink = io.BytesIO()
    with _one_at_a_time, rc_context():
        rcdefaults()  # a machine's own matplotlibrc would draw otherwise
        rcParams.update(STYLE)
        draw(exhibit).savefig(
            sink,
            format=ending,
            dpi=300,
            transparent=ending == "svg",  # a page may be dark
            metadata=dict(UNDATED[ending]),
        )
    return sink.getvalue()


@lru_cache(maxsize=256)
def as_svg(exhibit: Exhibit) -> str:
    """Return a figure to stand in a page: it scales, takes the page's ink, and can be read out.

    Styles become attributes, since pages allow no inline styles.
    """
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(written(exhibit, "svg"))  # noqa: S314 # nosec B314 # our own drawing
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    for element in list(root.iter()):
        for child in list(element):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                element.remove(child)
        _attributes(element)
    _tell(root, exhibit)
    return _own_ids(ElementTree.tostring(root, encoding="unicode"), exhibit.name)


def _attributes(element: ElementTree.Element) -> None:
    """Turn an element's style into attributes, and black into the page's ink."""
    for rule in filter(None, element.attrib.pop("style", "").split(";")):
        name, _, value = rule.partition(":")
        if name.strip() == "font":
            size = re.search(r"([\d.]+)px", value)
            element.set("font-size", size.group(1) if size else "9")
        else:
            element.set(name.strip(), value.strip())
    if element.tag == f"{{{SVG}}}text":
        element.attrib.pop("font-family", None)
        element.set("fill", "currentColor")
    link = element.attrib.pop("{http://www.w3.org/1999/xlink}href", None)
    if link is not None:
        element.set("href", link)  # in a page of HTML, prefixes of XML mean nothing
    for name in ("stroke", "fill"):
        if element.get(name) == "#000000":
            element.set(name, "currentColor")


def _tell(root: ElementTree.Element, exhibit: Exhibit) -> None:
    title, words = (ElementTree.Element(f"{{{SVG}}}{tag}") for tag in ("title", "desc"))
    title.text, words.text = exhibit.title, exhibit.alternative
    title.set("id", "title")
    words.set("id", "words")
    root.insert(0, title)
    root.insert(1, words)
    root.set("role", "img")
    root.set("aria-labelledby", "title words")


def _own_ids(svg: str, name: str) -> str:
    """Give ids the exhibit's name, so that several figures can stand in one page."""
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\1{name}-", svg)
    return svg.replace(
        'aria-labelledby="title words"', f'aria-labelledby="{name}-title {name}-words"'
    )
