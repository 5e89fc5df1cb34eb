"""Files as people have them, each with what is right: the cases of tests/cases/intake."""

import json
import shutil
from pathlib import Path

import pytest

from tests.databases import ON_SQLITE

CASES = Path(__file__).parents[1] / "cases/intake"


def value_at(content, keys):
    for key in keys:
        content = content[key]
    return content


def warned(content, expected):
    """The warnings of a code, of a run where one is named."""
    return [
        each
        for each in content["warnings"]
        if each["code"] == expected.get("warning", expected.get("no_warning"))
        and expected.get("run", each["of"]) == each["of"]
    ]


def check(expected, output, content):
    if "warning" in expected:
        of_code, words = warned(content, expected), expected.get("text_has", ())
        [found] = [each for each in of_code if all(word in each["text"] for word in words)]
        for key in ("count", "total"):
            assert expected.get(key, found[key]) == found[key]
    elif "no_warning" in expected:
        assert warned(content, expected) == []
    elif "json" in expected:
        value = value_at(content, expected["json"])
        assert value == pytest.approx(expected.get("near", expected.get("is")), abs=1e-6)
    else:
        assert all(word in output for word in expected.get("output_has", ()))
        assert not any(word in output for word in expected.get("output_lacks", ()))


@ON_SQLITE
@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_what_comes_in_is_what_was_meant(run, tmp_path, monkeypatch, case):
    folder = tmp_path / case
    shutil.copytree(CASES / case, folder)
    monkeypatch.chdir(folder)
    run("init")
    for step in json.loads((folder / "case.json").read_text())["steps"]:
        output = run(*step["run"], status=step["rc"])
        content = json.loads(output) if "--json" in step["run"] else {}
        for expected in step.get("expect", ()):
            check(expected, output, content)
