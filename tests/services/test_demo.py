"""The studies that ``make run`` offers: the paper's, and one with pictures."""

import pytest

from survey.core.collections.runs import ranking
from survey.services.collections import items, picture_folder
from survey.services.operations import demo
from survey.services.studies import lifecycle
from tests.services.test_picture_folder import TEXTURES, read

pytestmark = pytest.mark.slow


def test_they_are_made_once_and_open(session):
    first = demo.ensure_studies(session)
    assert first.slug == "five-systems"
    assert demo.ensure_studies(session).id == first.id
    studies = lifecycle.all_studies(session)
    assert [(each.slug, each.status) for each in studies] == [
        ("five-systems", "open"),
        ("five-systems-as-printed", "open"),
        ("five-systems-in-pictures", "open"),
    ]
    assert items.items_summary(session, studies[2])["items"] == 100
    assert [each.plan.practice for each in studies] == [True, False, True]


def test_pictures_have_the_papers_setting_and_measures_contradict_in_every_question(session):
    demo.ensure_studies(session)
    study = lifecycle.find_study(session, demo.PICTURES_SLUG)
    questions = lifecycle.counted_questions(study)
    assert [each.source.topic for each in questions] == [*demo.TOPICS]
    assert {len(row) for each in questions for row in each.lists.values()} == {5}
    assert (study.plan.collection_size, study.plan.measures) == (100, ("AP", "NMRR", "MNRO"))
    checks = [each for each in lifecycle.question_checks(study) if each.question.number]
    assert all(any(pair.contradictions for pair in check.pairs) for check in checks)
    assert sum(pair.contradictions > 0 for check in checks for pair in check.pairs) == 28  # of 30


def test_its_topics_are_those_in_which_measures_contradict_most():
    judged, runs = read(TEXTURES)
    positions = {
        topic: [
            [place for place, each in enumerate(ranking(run[topic]), 1) if each in judged[topic]]
            for run in runs.values()
        ]
        for topic in judged
    }
    assert picture_folder.choose_topics(positions, 100) == [*demo.TOPICS]
