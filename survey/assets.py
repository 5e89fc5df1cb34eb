"""Where templates and static files are."""

from pathlib import Path


def folder(name: str) -> Path:
    """Find templates or static: inside the package of a wheel, beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / name
    return inside if inside.is_dir() else package.parent / name
