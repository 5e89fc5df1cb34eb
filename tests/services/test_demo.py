"""The studies that ``make run`` offers: one of each kind of question at least."""

import pytest

from survey.core.collections.runs import ranking
from survey.core.kinds import KINDS
from survey.core.measures import mentioned_measure
from survey.services import accounts
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.collections import items, picture_folder
from survey.services.exchange.bundle import content_of
from survey.services.machines import stored
from survey.services.machines.machine_results import results_of_machine
from survey.services.operations import demo
from survey.services.studies import lifecycle
from tests.services.test_picture_folder import ALBUMS, read

pytestmark = pytest.mark.slow


def statuses(session):
    return {study.slug: study.status for study in lifecycle.all_studies(session)}


def test_they_are_made_once_and_open_and_each_built_in_kind_has_one(session):
    begun = []
    first = demo.ensure_studies(session, begun.append)
    assert first.slug == "five-systems"
    assert begun == [*demo.DEMO_STUDIES]
    assert demo.ensure_studies(session, begun.append).id == first.id
    assert len(begun) == len(demo.DEMO_STUDIES)
    assert statuses(session) == dict.fromkeys((each.slug for each in begun), "open")
    studies = lifecycle.all_studies(session)
    assert {study.plan.kind for study in studies} == KINDS.keys() - KINDS.packages.keys()
    assert [each.slug for each in studies if not each.plan.practice] == ["five-systems-as-printed"]


def test_none_has_anything_to_mend(session):
    demo.ensure_studies(session)
    for study in lifecycle.all_studies(session):
        findings = lifecycle.check_study(session, study)
        assert lifecycle.to_mend(findings) == [], study.slug
        assert lifecycle.check_verdict(study, findings).endswith("; no warnings.")


def test_they_are_small_where_they_are_not_the_papers(session):
    demo.ensure_studies(session)
    plans = {study.slug: study.plan for study in lifecycle.all_studies(session)}
    assert plans["two-lists"].asked == 4
    assert plans["matching-pictures"].asked == 3
    assert plans["piles-of-pictures"].asked == 2
    assert max(plan.minutes for plan in plans.values() if plan.kind != "ordering") <= 15


def test_a_closed_one_stays_closed_and_another_is_offered(session):
    study = demo.ensure_studies(session)
    lifecycle.close_study(session, study)
    assert demo.ensure_studies(session).slug == "five-systems-in-pictures"
    assert statuses(session)["five-systems"] == "closed"
    assert [each.slug for each, _ in demo.stored_studies(session)] == [*statuses(session)]


def test_a_start_that_is_stopped_leaves_none_and_the_next_makes_all(session):
    def stop(demo_study):
        if demo_study is demo.DEMO_STUDIES[3]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        demo.ensure_studies(session, stop)
    session.rollback()
    assert statuses(session) == {}
    demo.ensure_studies(session)
    assert len(statuses(session)) == len(demo.DEMO_STUDIES)


def test_pictures_have_the_papers_setting_and_measures_contradict_in_every_question(session):
    study = demo.create_picture_study(session)
    assert items.items_summary(session, study)["items"] == 100
    questions = lifecycle.counted_questions(study)
    assert [each.source.topic for each in questions] == [*demo.TOPICS]
    assert {len(row) for each in questions for row in each.lists.values()} == {5}
    assert (study.plan.collection_size, study.plan.measures) == (100, ("AP", "NMRR", "MNRO"))
    checks = [each for each in lifecycle.question_checks(study) if each.question.number]
    assert len(checks) == 10
    assert all(pair.contradictions for check in checks for pair in check.pairs)


def test_matches_among_the_first_results_differ_from_list_to_list_in_every_question(session):
    study = demo.create_picture_study(session)
    for question in lifecycle.counted_questions(study):
        rows = question.lists.values()
        seen = [sum(position <= study.plan.depth for position in row) for row in rows]
        assert sum(seen) >= 8, question.source.topic
        assert sum(count > 0 for count in seen) >= 4, question.source.topic
        firsts = {tuple(each for each in row if each <= study.plan.depth) for row in rows}
        assert len(firsts) == len(seen), question.source.topic


def test_its_topics_are_those_that_are_proposed_for_a_study():
    judged, runs = read(ALBUMS)
    positions = {
        topic: [
            [place for place, each in enumerate(ranking(run[topic]), 1) if each in judged[topic]]
            for run in runs.values()
        ]
        for topic in judged
    }
    assert picture_folder.choose_topics(positions, 100) == [*demo.TOPICS]


def test_a_simulated_machine_has_answered_the_first_and_counts_nowhere(session):
    first = demo.ensure_studies(session)
    records = [
        (study.slug, record)
        for study in lifecycle.all_studies(session)
        for record in stored.machines_of(session, study.id)
    ]
    [(slug, record)] = records
    assert (slug, record.is_simulated) == (first.slug, True)
    assert record.counts == {"answered": first.plan.questions * demo.MACHINE_SAMPLES}
    assert record.about["models"] == ["simulated machine"]  # as the endpoint reports
    assert "machine judged" in {event.kind for event in accounts.events_of(session, first)}
    content = content_of(session, first, include_test=True)
    assert len(content.results.participants) == 0
    results = results_of_machine(content, record, AnalysisOptions(include_test=True))
    assert results.headline.startswith("Simulated machine. It is not shown")


def test_its_answers_are_the_same_everywhere(session):
    def digests():
        first = demo.ensure_studies(session)
        return [record.digest for record in stored.machines_of(session, first.id)]

    before = digests()
    for study in lifecycle.all_studies(session):
        lifecycle.close_study(session, study)
        lifecycle.delete(session, study, "a test")
    assert digests() == before


def test_nothing_that_people_read_of_them_names_a_measure():
    for each in demo.DEMO_STUDIES:
        assert not any(map(mentioned_measure, (each.slug, each.kind, each.task)))
