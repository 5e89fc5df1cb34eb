"""The speed runs' frame: figures are kept, read again, and quoted as they are."""

import pytest

from benchmarks.speed.pages import (
    BLOCK,
    PAGE,
    RECORD_ONLY,
    findings_table,
    growth_lines,
    number,
    quoted,
    shortened,
)
from benchmarks.speed.part import Finding, Growth, Part, keep, kept
from benchmarks.speed.parts import NAMES
from benchmarks.speed.timing import in_turn, ratios

PART = Part(
    name="power",
    title="Power",
    findings=[Finding("1,000 studies", [4.0, 2.0, 3.0], "s", target="≤ 10", note="two processes")],
    growth=[Growth("a study", "participants", [30, 300], [0.5, 5.0], "s")],
    said=["Nothing else ran."],
    versions={"dask": "1"},
)


def test_a_part_is_read_as_it_was_kept(tmp_path):
    keep(PART, on="2026-11-21", folder=tmp_path)
    again, run = kept("power", folder=tmp_path)
    assert again.findings == PART.findings
    assert again.growth == PART.growth
    assert again.versions["dask"] == "1"
    assert run["on"] == "2026-11-21"
    assert run["machine"]["processors"] >= 1


def test_a_finding_is_the_median_of_its_rounds_beside_its_target():
    assert PART.findings[0].value == 3
    assert PART.findings[0].reached is True
    assert Finding("x", [3], "s", target="≤ 2").reached is False
    assert Finding("x", [3], "s", target="≥ 2,000").reached is False
    assert Finding("x", [3], "s").reached is None
    with pytest.raises(ValueError, match="like ≤ 5"):
        _ = Finding("x", [3], "s", target="fast").reached


def test_a_missed_target_is_said_to_be_missed():
    assert "**missed**" in findings_table([Finding("x", [3], "s", target="≤ 2")])
    assert "3 s (2–4) | ≤ 10 |" in findings_table(PART.findings)


def test_numbers_have_three_digits():
    assert [number(x) for x in (0.01234, 1.5, 12.34, 123.4, 12345.6, 7)] == [
        "0.0123", "1.50", "12.3", "123", "12,346", "7",
    ]  # fmt: skip


def test_growth_has_a_cost_for_each_size():
    line = "- a study with 30; 300 participants: 0.500; 5 s\n"
    assert growth_lines(PART.growth) == line
    assert growth_lines([*PART.growth, *PART.growth]) == line + line.replace("a study", "…")


def test_what_a_row_repeats_of_the_row_before_is_left_out():
    assert shortened("1,000 labels: memory", "1,000 labels") == "… memory"
    assert shortened("1,000 labels: memory", "1,000 labels: time") == "… memory"
    assert shortened("1,000 labels: memory", "1,000 labels of pictures") == "1,000 labels: memory"
    assert shortened("1,000 labels", "1,000 labels") == "…"


def test_findings_that_only_the_record_holds_have_no_aim_and_are_there():
    findings = [one for name in NAMES for one in kept(name)[0].findings]
    left_out = [one for one in findings if one.what in RECORD_ONLY]
    assert {one.what for one in left_out} == RECORD_ONLY
    assert not [one.what for one in left_out if one.target or one.headline]


def test_contestants_run_in_turn_once_before_it_counts():
    ran = []
    seconds = in_turn({"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}, rounds=2)
    assert ran == list("ababab")
    assert [len(each) for each in seconds.values()] == [2, 2]
    assert ratios([2, 6], [1, 2]) == [2, 3]


def test_the_page_quotes_the_figures_that_are_kept():
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("<!-- speed: ") == text.count("<!-- end -->") == len(BLOCK.findall(text)) > 0
    assert quoted(text) == text


def test_a_block_is_renewed_between_its_marks_and_can_be_again():
    once = quoted("Before\n<!-- speed: start -->\nold\n<!-- end -->\nafter\n")
    assert once.startswith("Before\n<!-- speed: start -->\n| Measured |")
    assert once.endswith("|\n<!-- end -->\nafter\n")
    assert quoted(once) == once
