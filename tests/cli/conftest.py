"""The command line on a test's database."""

import pytest
from click.testing import CliRunner

from survey.cli import survey
from tests.cli.desk import desk, furnished
from tests.commands import environment_of

__all__ = ["desk", "furnished"]


@pytest.fixture
def run(empty_app):
    """Run a command against the test's database; it must succeed unless told otherwise."""

    def invoke(*arguments, status=0):
        empty_app.extensions["test_session"].rollback()
        result = CliRunner().invoke(survey, [*map(str, arguments)], env=environment_of(empty_app))
        assert result.exit_code == status, result.output
        assert "Traceback" not in result.output
        return result.stdout if "--json" in arguments else result.output

    return invoke
