"""The base of the stylesheets: Bootstrap's and the typeface as released, all values in one file."""

import re
from hashlib import sha256
from pathlib import Path

from survey.services.analysis import report

STATIC = Path(__file__).parents[1] / "static"
FONTS = {
    "source-sans-3-latin-wght-normal.woff2": "Latin",
    "source-sans-3-greek-wght-normal.woff2": "Greek",
}
MOST_OF_FONTS = 45_000  # bytes; a page in one language fetches at most both
MOST_OF_A_FONT = 30_000
# A colour that is written out: #fff, rgb(…), a name.
COLOUR = re.compile(
    r"#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|oklch)\(|:\s*(?:white|black|red|grey|gray)\b"
)


def test_bootstraps_reboot_is_as_it_was_released_with_its_licence():
    content = (STATIC / "bootstrap-reboot.min.css").read_bytes()
    assert b"Bootstrap Reboot v5.3.9" in content
    assert sha256(content).hexdigest() == (
        "d6c4460973c13a2debdc9ebfeb4c4cfe1c2175a693b37aa5903ad510df6ab200"
    )
    assert "The MIT License" in (STATIC / "bootstrap-LICENSE.txt").read_text()


def test_the_typeface_is_light_and_comes_with_its_licence():
    sizes = [(STATIC / name).stat().st_size for name in FONTS]
    assert max(sizes) < MOST_OF_A_FONT
    assert sum(sizes) < MOST_OF_FONTS
    assert all((STATIC / name).read_bytes().startswith(b"wOF2") for name in FONTS)
    assert "SIL Open Font License, Version 1.1" in (STATIC / "source-sans-3-OFL.txt").read_text()
    tokens = (STATIC / "tokens.css").read_text()
    assert all(f"url({name})" in tokens for name in FONTS)


def test_every_colour_is_in_tokens_css():
    for path in STATIC.glob("*.css"):
        if path.name in ("tokens.css", "bootstrap-reboot.min.css"):
            continue
        rules = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        values = re.findall(r"[\w-]+\s*:[^;{}]*;", rules)
        written = [value for value in values if COLOUR.search(value)]
        assert written == [], path.name


def test_every_variable_that_a_style_sheet_uses_is_declared():
    declared = set()
    sheets = [path.read_text() for path in STATIC.glob("*.css") if "bootstrap" not in path.name]
    for sheet in sheets:
        declared |= set(re.findall(r"(--[\w-]+)\s*:", sheet))
    for sheet in sheets:
        used = set(re.findall(r"var\((--[\w-]+)\)", sheet))
        assert used <= declared, used - declared


def test_a_report_as_a_file_has_all_that_its_styles_use_and_asks_for_no_other_file():
    style = report.style()
    declared = set(re.findall(r"(--[\w-]+)\s*:", style))
    used = set(re.findall(r"var\((--[\w-]+)\)", style))
    assert {name for name in used - declared if not name.startswith("--bs-")} == set()
    assert "url(" not in re.sub(r'url\("?data:', "", style)
