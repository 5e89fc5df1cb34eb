"""What all forms share."""

import gc
import weakref

import pytest

from survey.kinds.ordering.pages import ordering_form
from survey.kinds.ordering.plan import OrderingPlan
from survey.web.researcher.plan import form_of
from tests.databases import ON_SQLITE

pytestmark = ON_SQLITE


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ordering_form(3, 5), form_of(OrderingPlan)])
def test_a_form_goes_when_its_page_is_done_without_the_garbage_collector(app, kind):
    gc.collect()
    gc.disable()
    try:
        with app.test_request_context():
            form = kind(formdata=None)
            gone = weakref.ref(form)
            del form
            assert gone() is None
    finally:
        gc.enable()


def test_backquotes_become_code_and_nothing_else_becomes_markup(app):
    with_code = app.jinja_env.filters["with_code"]
    assert with_code("For <b> give `--ids <x>`.") == (
        "For &lt;b&gt; give <code>--ids &lt;x&gt;</code>."
    )
