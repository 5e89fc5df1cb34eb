"""What a chosen file holds, in a sentence, before a study is made of it."""

import pytest

from survey.services import new_studies
from survey.services.collections import file_reports


@pytest.mark.parametrize(
    ("field", "name", "content", "words"),
    [
        ("pool_file", "pool.csv", None, "6 topics, 56 documents to judge."),
        ("judged", "judged.txt", None, "6 topics, 12 documents judged, 12 relevant."),
        ("gold", "gold.csv", None, "8 documents with known answers, of 6 topics."),
        ("gold", "gold.csv", b"topic,document\nt,d\n", "no column relevance. Columns found"),
    ],
)
def test_a_file_of_a_pool_is_shown_with_what_it_holds(field, name, content, words):
    sentence, fits = file_reports.report(field, name, content or new_studies.example_content(name))
    assert sentence.startswith(words)
    assert fits is (content is None)
