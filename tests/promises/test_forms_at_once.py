"""Promise 5: two forms that are sent at the same moment are both answered without a fault."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.at_once import AtOnce
from tests.databases import ON_BOTH
from tests.promises.hall import Hall
from tests.promises.material import Material

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Unclosed file <tempfile.Spooled:ResourceWarning"),
]
ON_POSTGRESQL = pytest.mark.parametrize("database_uri", ["postgresql"], indirect=True)
MOST_STATEMENTS = 16  # a later statement than a form's last makes the second form follow the first


@pytest.fixture
def hall(app, session, engine):
    made = Hall(app, session, engine)
    yield made
    made.leave()


class Pairs:
    """Pairs of forms sent at once, and how they were answered."""

    def __init__(self, hall):
        self.hall, self.both = hall, AtOnce(hall.engine)
        self.sent, self.met, self.answers = 0, 0, {}

    def send(self, first, second, at):
        """Send the second form where the first is at a statement; forget both."""
        results = self.both.run(lambda: self._knock(first), lambda: self._knock(second), at)
        self.sent, self.met = self.sent + 1, self.met + self.both.reached
        for status in results:
            assert isinstance(status, int), (first.door, second.door, at, status)
            assert status < 500, (first.door, second.door, at, status)
            self.answers[status] = self.answers.get(status, 0) + 1
        self.hall.forget()

    def _knock(self, form):
        return self.hall.knock(form.door, Material(), form.fields).status_code

    def told(self):
        counts = ", ".join(f"{n:,} × {status}" for status, n in sorted(self.answers.items()))
        kind = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[self.hall.engine.dialect.name]
        return (
            f"{kind}: {self.sent:,} generated pairs of {len(self.hall.forms)} filled-in forms, in "
            f"{self.met:,} of which the second began in the middle of the first, were answered "
            f"{counts}"
        )


def send_generated(hall, examples):
    pairs = Pairs(hall)
    forms = st.sampled_from(hall.forms)

    # Not shrunk: the pair that failed is named with the statement.
    @settings(
        max_examples=examples, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(forms, forms, st.integers(1, MOST_STATEMENTS))
    def one_pair(first, second, at):
        pairs.send(first, second, at)

    one_pair()
    return pairs


@ON_BOTH
def test_no_pair_of_forms_at_once_is_answered_with_a_fault(hall, measured):
    measured(send_generated(hall, 40).told())


@ON_POSTGRESQL
def test_no_form_at_once_with_an_erasure_is_answered_with_a_fault(hall):
    pairs = Pairs(hall)
    erasures = {form.door.who: form for form in hall.forms if form.door.rule.endswith("/erase")}
    for form in hall.forms:
        if form.door.who in erasures:
            for at in (2, 4):
                pairs.send(form, erasures[form.door.who], at)


@pytest.mark.trial
@ON_BOTH
def test_no_pair_of_many_forms_at_once_is_answered_with_a_fault(hall, measured):
    measured(send_generated(hall, 1_500).told())
