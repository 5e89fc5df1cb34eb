"""Promise 5: two forms that are sent at the same moment are both answered without a fault."""

import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.at_once import AtOnce
from tests.databases import ON_BOTH
from tests.promises.filled import columns_in, everything_in
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


MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
DRAWN = ("presentation", "ordering_presentation")  # by chance, so that rows are counted only


def changes(engine, before):
    """Return the rows that went and came, in each table, without what time and chance made."""
    known = {cell for rows in before.values() for row in rows for cell in row}
    columns = columns_in(engine)

    def plain(table, row):
        if table in DRAWN:
            return table
        return tuple(
            "moment" if MOMENT.match(cell) else cell if cell in known or len(cell) < 5 else "new"
            for name, cell in zip(columns[table], row, strict=True)
            if name != "id" and not name.endswith("_id")
        )

    found = {}
    for table, rows in everything_in(engine).items():
        old, new = Counter(before[table]), Counter(rows)
        came = Counter(plain(table, row) for row in (new - old).elements())
        went = Counter(plain(table, row) for row in (old - new).elements())
        found[table] = (came - went, went - came)  # not those whose moments alone have changed
    return found


class Pairs:
    """Pairs of forms sent at once, and how they were answered."""

    def __init__(self, hall, *, in_order=False):
        """``in_order``: whether to compare with one form after the other, which takes longer."""
        self.hall, self.both, self.in_order = hall, AtOnce(hall.engine), in_order
        self.sent, self.met, self.answers = 0, 0, {}
        self.before = everything_in(hall.engine)

    def send(self, first, second, at):
        """Send the second form where the first is at a statement; forget both."""
        results = self.both.run(lambda: self._knock(first), lambda: self._knock(second), at)
        self.sent, self.met = self.sent + 1, self.met + self.both.reached
        for status in results:
            assert isinstance(status, int), (first.door, second.door, at, status)
            assert status < 500, (first.door, second.door, at, status)
            self.answers[status] = self.answers.get(status, 0) + 1
        if self.in_order and self.both.reached and first is not second:
            self._require_an_order(first, second, at)
        self.hall.forget()

    def _require_an_order(self, first, second, at):
        """Compare what is stored with what both forms leave when sent in one order or the other."""
        together, orders = changes(self.hall.engine, self.before), []
        for one, other in ((first, second), (second, first)):
            self.hall.forget()
            self._knock(one)
            self._knock(other)
            orders.append(changes(self.hall.engine, self.before))
            if together == orders[-1]:
                return
        differing = [
            (table, together[table], *(order[table] for order in orders))
            for table in together
            if any(together[table] != order[table] for order in orders)
        ]
        assert together in orders, (first.door, second.door, at, differing)

    def _knock(self, form):
        return self.hall.knock(form.door, Material(), form.fields).status_code

    def told(self):
        counts = ", ".join(f"{n:,} × {status}" for status, n in sorted(self.answers.items()))
        kind = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[self.hall.engine.dialect.name]
        return (
            f"{kind}: {self.sent:,} generated pairs of {len(self.hall.forms)} filled-in forms, in "
            f"{self.met:,} of which the second began in the middle of the first, were answered "
            f"{counts}{', and left what the two leave in one order' if self.in_order else ''}"
        )


def send_generated(hall, examples, *, in_order=False):
    pairs = Pairs(hall, in_order=in_order)
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
    measured(send_generated(hall, 500, in_order=True).told())
