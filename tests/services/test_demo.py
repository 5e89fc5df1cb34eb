"""The studies that ``make run`` offers: the paper's, and one with pictures."""

import pytest

from survey.services.collections import items, picture_folder
from survey.services.operations import demo
from survey.services.studies import lifecycle
from tests.guides.supposed import albums

pytestmark = pytest.mark.slow


def test_both_are_made_once_and_open(session):
    first = demo.ensure_studies(session)
    assert first.slug == "five-systems"
    assert demo.ensure_studies(session).id == first.id
    studies = lifecycle.all_studies(session)
    assert [(each.slug, each.status) for each in studies] == [
        ("five-systems", "open"),
        ("five-systems-in-pictures", "open"),
    ]
    assert items.summary(session, studies[1])["items"] == 100


def test_pictures_have_the_papers_setting_and_measures_contradict_in_every_question(session):
    demo.ensure_studies(session)
    study = lifecycle.find_study(session, demo.PICTURES_SLUG)
    questions = lifecycle.counted_questions(study)
    assert [each.source.topic for each in questions] == [*demo.TOPICS]
    assert {len(row) for each in questions for row in each.lists.values()} == {5}
    assert (study.plan.collection_size, study.plan.measures) == (100, ("AP", "NMRR", "MNRO"))
    assert all(
        any(pair.contradictions for pair in check.pairs)
        for check in lifecycle.question_checks(study)
    )


def test_its_topics_are_those_in_which_measures_contradict_most(tmp_path):
    albums(tmp_path)
    collection = picture_folder.collect(tmp_path / "albums", tmp_path / "collection")
    assert len(collection.chosen) == len(demo.TOPICS)
    assert len({*collection.chosen} & {*demo.TOPICS}) >= 8  # of patches written a second time
