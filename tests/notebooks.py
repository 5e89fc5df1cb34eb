"""Run a notebook's cells as Jupyter would, and compare or store what they show.

    python -m tests.notebooks docs/examples/notebook.ipynb

stores what they show now.
"""

import ast
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any


def run_cells(notebook: dict[str, Any]) -> list[str]:
    """Run the cells of code in one namespace; return what each prints and shows."""
    names: dict[str, Any] = {}
    return [_run(_source(cell), names) for cell in notebook["cells"] if _is_code(cell)]


def stored_outputs(notebook: dict[str, Any]) -> list[str]:
    """Return what a notebook says that its cells of code print and show."""
    return [
        "".join("".join(output["data"]["text/plain"]) for output in cell["outputs"])
        for cell in notebook["cells"]
        if _is_code(cell)
    ]


def _run(source: str, names: dict[str, Any]) -> str:
    *statements, last = ast.parse(source).body
    body = ast.Module(statements if isinstance(last, ast.Expr) else [*statements, last], [])
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(body, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            printed.write("" if value is None else repr(value))
    return printed.getvalue()


def _source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _is_code(cell: dict[str, Any]) -> bool:
    return cell["cell_type"] == "code"


def store_outputs(path: Path) -> None:
    """Run a notebook, and write what its cells show into it."""
    notebook = json.loads(path.read_text())
    code = [cell for cell in notebook["cells"] if _is_code(cell)]
    for count, (cell, text) in enumerate(zip(code, run_cells(notebook), strict=True), 1):
        shown = {"text/plain": text.splitlines(keepends=True)}
        result = {"data": shown, "execution_count": count, "metadata": {}}
        cell["outputs"] = [{**result, "output_type": "execute_result"}] if text else []
        cell["execution_count"] = count
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    store_outputs(Path(sys.argv[1]))
