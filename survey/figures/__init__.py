"""Draw a figure from its exhibit, as a file or as SVG inside a page.

matplotlib and what draws each kind of exhibit are imported inside functions: commands that draw
nothing need not wait for them. pyplot, which keeps global state, is not used.
"""

import io
import re
import threading
from collections import UserDict
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING
from xml.etree import ElementTree  # nosec B405 # reads our own drawings only

from survey.figures.exhibit import (
    FIGURE_FORMATS,
    FONTS,
    GREY,
    SMALLEST,
    STYLE,
    UNDATED,
    Exhibit,
    Look,
    fit_titles,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "DRAWINGS",
    "FIGURE_FORMATS",
    "FONTS",
    "Look",
    "as_image",
    "as_svg",
    "can_draw",
    "draw",
    "render",
]

PAGE = Look()

# What draws an exhibit's rows on axes, and what tells from their number how high the figure is, in
# inches.
Drawing = tuple[Callable[["Axes", Exhibit], None], Callable[[int], float]]


class Drawings(UserDict[str, Drawing]):
    """Drawings by the exhibit's kind or name; raises ValueError for a name of the survey's own."""

    def __setitem__(self, name: str, drawing: Drawing) -> None:
        """Register a drawing under a name that no drawing of the survey has."""
        from survey.figures import paper

        if own := _own_drawings().get(name) or paper.FIGURES.get(name):
            draws = [f"{each.__module__}.{each.__qualname__}" for each in (own[0], drawing[0])]
            raise ValueError(
                f"{name!r} is the name of the survey's own drawing {draws[0]}; the drawing "
                f"{draws[1]} needs another name"
            )
        super().__setitem__(name, drawing)


# The drawings of exhibits that kinds of question from outside bring.
DRAWINGS = Drawings()

# An image has neither colour nor font of the page around it: these are --ink of static/survey.css,
# and the font by which the drawing was laid out. The page asks for the image of its theme, since
# WebKit does not tell an image which theme its page has.
INK = {False: "#1b2330", True: "#e8edf4"}
IMAGE_STYLE = (
    '<style>svg {{ color: {ink}; font-family: "DejaVu Sans", system-ui, sans-serif }}</style>'
)
SVG = "http://www.w3.org/2000/svg"
_drawing_lock = threading.Lock()  # matplotlib's settings are global


def draw(exhibit: Exhibit, look: Look = PAGE) -> "Figure":
    """Return the exhibit as a figure; raise ValueError where its ``why`` says it is empty.

    The MNRO paper's figures have widths of their own.
    """
    if exhibit.why:
        raise ValueError(f"{exhibit.name} cannot be drawn: {exhibit.why}")
    from matplotlib.figure import Figure

    from survey.figures import paper

    if not exhibit.kind and exhibit.name in paper.FIGURES:
        draw_on, size = paper.FIGURES[exhibit.name]
        figure = Figure(figsize=size, layout="constrained")
        draw_on(figure, exhibit)
    else:
        draw_rows, height = _drawings()[exhibit.kind or exhibit.name]
        figure = Figure(figsize=(look.width, height(len(exhibit.rows))), layout="constrained")
        draw_rows(figure.add_subplot(), exhibit)
    if exhibit.mark:
        figure.supxlabel(exhibit.mark, color=GREY, fontsize=SMALLEST)
    fit_titles(figure)
    return figure


def can_draw(exhibit: Exhibit) -> bool:
    """Return whether a drawing is registered for an exhibit's kind or name."""
    from survey.figures import paper

    name = exhibit.kind or exhibit.name
    return name in _drawings() or (not exhibit.kind and name in paper.FIGURES)


def _drawings() -> dict[str, Drawing]:
    return {**DRAWINGS, **_own_drawings()}


def _own_drawings() -> dict[str, Drawing]:
    from survey.figures import analysis, answers, arrivals, curves, judging

    modules = (analysis, answers, arrivals, curves, judging)
    return {name: drawing for each in modules for name, drawing in each.FIGURES.items()}


def render(exhibit: Exhibit, ending: str, look: Look = PAGE) -> bytes:
    """Return the content of a file in this format; the same exhibit gives the same bytes."""
    from matplotlib import rc_context, rcdefaults, rcParams

    buffer = io.BytesIO()
    with _drawing_lock, rc_context():
        rcdefaults()  # otherwise a matplotlibrc on this machine changes the drawing
        rcParams.update(STYLE)
        rcParams.update(FONTS[look.font])
        draw(exhibit, look).savefig(
            buffer,
            format=ending,
            dpi=300,
            transparent=ending == "svg",  # for pages in a dark theme
            metadata=dict(UNDATED[ending]),
        )
    return buffer.getvalue()


@lru_cache(maxsize=256)
def as_svg(exhibit: Exhibit) -> str:
    """Return a figure for a page: it scales, has the page's text colour, and describes itself.

    Styles become attributes, since pages allow no inline styles.
    """
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(render(exhibit, "svg"))  # noqa: S314 # nosec B314 # our own drawing
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    for element in list(root.iter()):
        for child in list(element):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                element.remove(child)
        _move_style_to_attributes(element)
    _add_description(root, exhibit)
    return _prefix_ids(ElementTree.tostring(root, encoding="unicode"), exhibit.name)


def as_image(exhibit: Exhibit, *, dark: bool = False) -> str:
    """Return a figure as an image of a page, with the text colour of its light or dark theme."""
    return as_svg(exhibit).replace(">", f">{IMAGE_STYLE.format(ink=INK[dark])}", 1)


def _move_style_to_attributes(element: ElementTree.Element) -> None:
    """Turn an element's style into attributes, and black into the page's text colour."""
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
        element.set("href", link)  # HTML ignores XML prefixes
    for name in ("stroke", "fill"):
        if element.get(name) == "#000000":
            element.set(name, "currentColor")


def _add_description(root: ElementTree.Element, exhibit: Exhibit) -> None:
    title, description = (ElementTree.Element(f"{{{SVG}}}{tag}") for tag in ("title", "desc"))
    title.text, description.text = exhibit.title, exhibit.alternative
    title.set("id", "title")
    description.set("id", "words")
    root.insert(0, title)
    root.insert(1, description)
    root.set("role", "img")
    root.set("aria-labelledby", "title words")


def _prefix_ids(svg: str, name: str) -> str:
    """Prefix all ids with the exhibit's name, so that figures of one page do not clash."""
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\1{name}-", svg)
    return svg.replace(
        'aria-labelledby="title words"', f'aria-labelledby="{name}-title {name}-words"'
    )
