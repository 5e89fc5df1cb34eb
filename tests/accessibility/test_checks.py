"""The checks find what they are there to find: a page with a fault, and what is said of it."""

import pytest

from tests.accessibility.looking import axe, prepared
from tests.accessibility.sights import Stage

pytestmark = pytest.mark.slow

PAGE = '<html lang="en"><head><title>t</title></head><body><main><h1>h</h1>{}</main></body></html>'
FAULTS = {
    "small": [
        "<a href='#' style='display:block;width:20px;height:20px'>a</a>"
        "<a href='#' style='display:block;width:20px;height:20px'>b</a>"
    ],
    "smallAnswers": ["<form><input type=checkbox name=choice value=1></form>"],
    "tinyText": [
        "<p style='font-size:12px'>small</p>",
        "<details><summary>more</summary><p>large <small style='font-size:9px'>s</small></details>",
    ],
    "faint": ["<input style='border:1px solid #ddd;background:#fff'>"],
    "sideways": [
        "<div style='width:3000px'>wide</div>",
        "<div style='overflow-x:auto' tabindex=0><table><td><hr style='width:3e3px'></table></div>",
        "<div style='overflow-x:auto'><p style='width:3000px'>x</div>",
    ],
    "cutOff": [
        "<p style='width:50px;overflow:hidden;white-space:nowrap'>A long sentence</p>",
        "<table style='table-layout:fixed;width:80px'><td>aaaaaaaaaaaaaaaa<td>b</table>",
    ],
    "misnamed": [
        "<button aria-label='Close the study'>Send</button>",
        "<label><input type=checkbox>Method 3 <span aria-hidden=true>matches mine</span></label>",
    ],
    "moving": ["<button style='transition:color 1s'>b</button>"],
    "turned": [
        "<div style='display:flex;flex-direction:row-reverse'><a href='#'>a</a></div>",
        "<div style='display:flex'><a style='order:2' href='#'>a</a></div>",
        "<a tabindex=2 href='#'>a</a>",
    ],
    "unseen": [
        "<button style='outline:0'>no ring</button>",
        "<style>button:focus{outline:3px solid #eee}</style><button>faint ring</button>",
        "<button>b</button><div style='position:fixed;inset:0;background:#fff'></div>",
    ],
    "errors": [
        "<p>Something is wrong.</p>",
        "<div role=alert>x <a href='#gone'>y</a></div>",
        "<div role=alert>x</div><input aria-invalid=true>",
    ],
}
CASES = [(check, html) for check, pages in FAULTS.items() for html in pages]
GOOD = (
    "<style>button, input {{ min-width: 48px; min-height: 48px; border: 1px solid #333 }}"
    " :focus {{ outline: 3px solid #005 }}</style>"
    "<div role=alert>It lacks a <a href='#name'>name</a>.</div>"
    "<p><label>Name <input id=name aria-invalid=true aria-describedby=why></label></p>"
    "<p id=why>Type a name.</p><p><button>Send</button></p>"
)


@pytest.fixture(scope="module")
def stage(browser):
    """A tab for all of these tests: each of them writes a page of its own into it."""
    context = prepared(browser)
    yield Stage(context)
    context.close()


@pytest.mark.parametrize(("check", "html"), CASES)
def test_a_fault_is_found(stage, check, html):
    stage.page.set_content(PAGE.format(html))
    assert stage.page.evaluate(f"checks.{check}()"), html


@pytest.mark.parametrize("check", FAULTS)
def test_a_page_without_faults_is_passed(stage, check):
    stage.page.set_content(PAGE.format(GOOD.format()))
    assert stage.page.evaluate(f"checks.{check}()") == []


def test_axe_finds_a_contrast_that_is_too_low(stage):
    stage.page.set_content(PAGE.format("<p style='color:#aaa;background:#fff'>faint</p>"))
    assert "color-contrast" in {fault.rule for fault in axe(stage.page, "")}
