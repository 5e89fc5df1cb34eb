"""A researcher at a desk, with a draft."""

import pytest

from survey.services import accounts
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment
from tests.builders import a_plan
from tests.web.desk import Desk


@pytest.fixture
def desk(app, session):
    return Desk(app, session)


@pytest.fixture
def study(session, desk):
    ada = accounts.find_researcher(session, "Ada")
    made = lifecycle.create_owned_study(session, ada, "a-study", a_plan(), Recruitment())
    session.rollback()
    return made
