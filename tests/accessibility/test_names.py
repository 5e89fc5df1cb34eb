"""What a screen reader says of the question: every cell by its list and method, every control."""

import re

import pytest

from tests.accessibility.catalogue import LANGUAGES, sights_of
from tests.accessibility.sights import Stage
from tests.accessibility.walks_through_questions import answering, answering_otherwise

pytestmark = pytest.mark.slow

SIZES = (360, 1280)
CELLS = {"cell", "gridcell", "columnheader", "rowheader"}
NUMBER = re.compile(r"\d+([.,]\d+)?")


def tree_of(page):
    """The accessibility tree, as the browser hands it to screen readers."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return {node["nodeId"]: node for node in nodes}


def role(node):
    return node.get("role", {}).get("value", "")


def name(node):
    return node.get("name", {}).get("value", "")


def below(tree, node, roles):
    """All nodes of these roles under a node, in reading order; nothing inside of them."""
    for child in node.get("childIds", []):
        if child not in tree:
            continue
        if role(tree[child]) in roles:
            yield tree[child]
        else:
            yield from below(tree, tree[child], roles)


def text_of(tree, node):
    """Everything that is read out of a node."""
    if role(node) == "StaticText":
        return name(node)
    parts = (text_of(tree, tree[child]) for child in node.get("childIds", []) if child in tree)
    return " ".join(part for part in parts if part)


def root_of(tree):
    return next(iter(tree.values()))


def tables_of(tree):
    """The page's tables, each with its rows of cells."""
    for table in below(tree, root_of(tree), {"table", "grid"}):
        yield table, [list(below(tree, row, CELLS)) for row in below(tree, table, {"row"})]


def questions(house, language):
    """Sights of the table with methods: as in the paper, marked, large."""
    kept = [
        *sights_of(house, answering, language),
        *sights_of(house, answering_otherwise, language),
    ]
    states = ("empty", "saved", "graded lists", "lists with clusters", "ten lists and six methods")
    return [one for one in kept if one.page == "Question" and one.state in states]


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_cell_is_told_by_its_list_and_its_method(house, stage, language, width):
    for sight in questions(house, language):
        page = stage.show(sight)
        page.set_viewport_size({"width": width, "height": 800})
        page.locator("details.scores").evaluate_all("all => all.forEach((one) => one.open = true)")
        tree = tree_of(page)
        letters = "ABCDEFGHIJ"[: page.locator("select[name^=rank-]").count()]
        (positions, (_, *lists)), *others = tables_of(tree)
        _, (header, *rows) = others[-1]
        assert name(positions), f"{sight}: the table of positions has no name"
        labels = [NUMBER.search(text_of(tree, cell)) for cell in header[1:]]
        assert sorted(int(found[0]) for found in labels) == list(range(1, len(labels) + 1))
        for row, letter in zip((*lists, *rows), 2 * letters, strict=True):
            assert role(row[0]) == "rowheader"
            assert text_of(tree, row[0]).startswith(letter), f"{sight}: {text_of(tree, row[0])}"
            assert all(NUMBER.search(text_of(tree, cell)) for cell in row[1:]), f"{sight}: {letter}"
        assert {len(row) for row in rows} == {len(header)}


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_control_says_which_method_or_list_it_is_for(house, stage, language, width):
    for sight in questions(house, language):
        page = stage.show(sight)
        page.set_viewport_size({"width": width, "height": 800})
        tree = tree_of(page)
        boxes = [name(one) for one in below(tree, root_of(tree), {"checkbox"})]
        values = page.locator("input[name=choice]").evaluate_all("all => all.map((o) => o.value)")
        for told, value in zip(boxes, values, strict=True):
            assert value == "own" or re.search(rf"\D\s{value}\b", told), f"{sight}: {told}"
            assert len(told) > len("Method 1")
        assert len(set(boxes)) == len(boxes)
        lists = page.locator("select[name^=rank-]").count()
        buttons = [name(one) for one in below(tree, root_of(tree), {"button"})]
        keys = [told[0] for told in buttons if re.match(r"[A-J]\b", told)]
        assert keys == [*"ABCDEFGHIJ"[:lists]], f"{sight}: {buttons}"


def test_the_checked_and_the_unchecked_look_different_in_forced_colours(browser, house):
    sight = questions(house, "en")[0]
    context = browser.new_context(forced_colors="active", color_scheme="dark")
    page = Stage(context).show(sight)
    for box in page.locator("input[name=choice]").all():
        before = box.screenshot()
        box.check()
        page.keyboard.press("Escape")
        assert box.screenshot() != before
        box.uncheck()
    context.close()
