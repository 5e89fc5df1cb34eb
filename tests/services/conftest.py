"""Both databases for each test, in `make test` too: queries and transactions are in question."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import database_of_a_test


@pytest.fixture(params=["sqlite", "postgresql"])
def database_uri(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of each kind, whichever stage the tests are in."""
    yield from database_of_a_test(request, tmp_path)
