"""Promise 3: every measure stands behind every label and in every column equally often."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2

from survey.core.studies.questions import draw_blinding
from survey.db.models import Participant
from survey.services.participation import participants
from tests.builders import Visitor
from tests.promises.walks import DESIGNS, OWN, new_study
from tests.promises.worlds import Chance, as_shipped, living_in
from tests.rows import shown_rows

PEOPLE, QUESTIONS, LIMIT = 500, 20, 0.001


SHUFFLED = {"shuffle_columns": True, "shuffle_lists": True}


@pytest.fixture
def place(tmp_path):
    with living_in(as_shipped(), tmp_path / "world") as place:
        yield place


@pytest.mark.slow
def test_labels_columns_and_rows_say_nothing_of_measures(place, measured):
    plan = {"questions": QUESTIONS, "practice": False, "minutes": 45, **SHUFFLED}
    study = new_study(place, "plain-en", **plan)
    for number in range(PEOPLE):
        inform_someone(place, study, number)
    rows = shown_rows(place.session)
    shown = [drawn for _, drawn in rows]
    assert len(shown) == PEOPLE * QUESTIONS
    p = {name: p_value(table) for name, table in tables_of(shown).items()}
    for number in range(1, QUESTIONS + 1):
        one = [drawn for each, drawn in rows if each.position == number]
        p |= {
            f"{name}, question {number}": p_value(table) for name, table in tables_of(one).items()
        }
    assert min(p.values()) > LIMIT / len(p), p
    measured(
        f"{len(shown):,} presentations: measure × label p = {p['measure × label']:.2f}, measure × "
        f"column p = {p['measure × column']:.2f}, list × row p = {p['list × row']:.2f} "
        f"(chi-square); the smallest of {len(p)} p values, single questions included, is "
        f"{min(p.values()):.4f}, with {LIMIT / len(p):.6f} as the limit"
    )


def inform_someone(place, study, number):
    """Let someone come as far as the questions, by the service that draws how they are shown."""
    text = study.consent_texts[0]
    participant = Participant(
        study_id=study.id,
        public_id=f"P-{number:08}",
        resume_hash=f"{number:064}",
        started_at=place.clock.now(),
        consented_at=place.clock.now(),
        consent_id=text.id,
    )
    place.session.add(participant)
    place.session.flush()
    participants.confirm_scenario(place.session, participant)
    return participant


def tables_of(shown):
    """How often what stood where."""
    measures, letters = sorted(shown[0].label_order), sorted(shown[0].list_order)
    columns = [[one.label_order[label - 1] for label in one.column_order] for one in shown]
    return {
        "measure × label": counted(measures, [one.label_order for one in shown]),
        "measure × column": counted(measures, columns),
        "label × column": counted([1, 2, 3], [one.column_order for one in shown]),
        "list × row": counted(letters, [one.list_order for one in shown]),
    }


def counted(things, orders):
    counts = Counter((thing, place) for order in orders for place, thing in enumerate(order))
    return np.array([[counts[thing, place] for place in range(len(things))] for thing in things])


def p_value(table):
    """Chi-square of whole orders: each fills every row and every column of the table once.

    So the cells vary less than those of a table of single draws, by (k − 1)/k (Anderson 1959).
    """
    size, expected = len(table), table.sum() / table.size
    statistic = ((table - expected) ** 2 / expected).sum() * (size - 1) / size
    return chi2.sf(statistic, (size - 1) ** 2)


class Lazy(Chance):
    """Chance that leaves things as they are once in five times."""

    def sample(self, population, k, **more):
        lazy = self.random() < 0.2
        return list(population)[:k] if lazy else super().sample(population, k, **more)


def test_the_counts_would_show_chance_that_is_a_little_lazy():
    measures, letters = as_shipped().names, "ABCDE"
    for chance, fair in ((Chance(3, {}), True), (Lazy(3, {}), False)):
        drawn = [draw_blinding(measures, letters, chance, **SHUFFLED) for _ in range(10_000)]
        for name, table in tables_of(drawn).items():
            assert bool(p_value(table) > LIMIT) == fair, name


def test_the_p_values_of_fair_orders_are_uniform():
    chance, found = Chance(1, {}), []
    for _ in range(400):
        orders = [chance.sample("ABCDE", 5) for _ in range(100)]
        found.append(p_value(counted("ABCDE", orders)))
    assert abs(np.mean(found) - 0.5) < 0.06
    assert abs(np.mean(np.array(found) < 0.1) - 0.1) < 0.06


def test_orders_come_from_chance_and_from_nothing_a_participant_could_know(place):
    study = new_study(place, "plain-en")
    stream = place.chance
    start = stream.getstate()
    orders = []
    for number in (1, 2):
        stream.setstate(start)
        place.clock.move(days=number)
        someone = inform_someone(place, study, number)
        orders.append(orders_of(place, someone))
    other = orders_of(place, inform_someone(place, study, 3))
    assert orders[0] == orders[1] != other


def orders_of(place, participant):
    rows = shown_rows(place.session, participant_id=participant.id)
    return [(one.label_order, one.column_order, one.list_order) for _, one in rows]


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_a_fresh_question_has_nothing_ticked(place, design):
    study = new_study(place, f"{design}-en", **DESIGNS[design])
    visitor = Visitor(place.app.test_client(), study.slug)
    visitor.prepare()
    while visitor.path == "/practice":
        assert ticked(visitor, lists=3) == []
        visitor.submit("/practice", choice="2")
    assert visitor.path == "/q/1"
    assert ticked(visitor) == []
    if study.plan.columns == "after":
        visitor.submit(visitor.path, **OWN)
        # One's own ranking and no method.
        assert ticked(visitor) == sorted(OWN.values())


def ticked(visitor, lists=5):
    """What a page has chosen already."""
    chosen = visitor.page.select("[checked], option[selected]:not([value=''])")
    assert len(visitor.page.select("select")) == lists
    return sorted(one["value"] for one in chosen)


@pytest.mark.slow
def test_what_is_taken_along_holds_no_column_before_its_page_shows_it(place):
    study = new_study(place, "rank-first-en", **DESIGNS["rank-first"])
    visitor = Visitor(place.app.test_client(), study.slug)
    visitor.prepare()
    assert seen_in_own_data(visitor) == []
    while visitor.path == "/practice":
        visitor.submit("/practice")
    assert seen_in_own_data(visitor) == [(1, 0)]
    visitor.insist("/q/1", **OWN)
    assert seen_in_own_data(visitor) == [(1, 3)]
    visitor.insist("/q/1", choice="own", **OWN)
    assert seen_in_own_data(visitor) == [(1, 3), (2, 0)]


def seen_in_own_data(visitor):
    """Which questions the file has, and how many methods of each."""
    data = visitor.client.get(f"{visitor.home}/my-data.json").json
    return [(one["question"], len(one["methods"])) for one in data["questions"]]
