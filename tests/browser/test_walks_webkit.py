"""Every kind of question in WebKit, see ``walks``."""

import pytest

from tests.browser.walks import *  # noqa: F403 - the tests

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def engine():
    return "webkit"
