"""What a real pointer does in WebKit, the engine of Safari."""

import pytest
from sqlalchemy import select

from survey.app import db
from survey.db.models import Presentation
from survey.db.models.ordering import StoredOrderingAnswer
from tests.browser.webkit import webkit
from tests.builders import Visitor
from tests.serving import OverHttp

pytestmark = pytest.mark.slow
__all__ = ["webkit"]


def start(window, link):
    """Open question 1 as a participant who has come as far."""
    address, slug = link.split("/s/")
    visitor = Visitor(OverHttp(address), slug)
    visitor.go("/q/1")
    window.open(f"{address}/healthz")
    for cookie in visitor.client.browser.cookies:
        window.send("cookie", cookie={"name": cookie.name, "value": cookie.value, "path": "/"})
    window.open(f"{link}/q/1")


def places(window):
    """The place of each letter, as it is sent."""
    return window.run(
        "return Object.fromEntries([...document.querySelectorAll('[name^=rank-]')]"
        ".map((select) => [select.name.slice(-1), select.value]))"
    )


def stored_orders(server):
    with server.app.app_context():
        orders = list(db.session.scalars(select(StoredOrderingAnswer.own)))
        db.session.remove()
    return [str(order) for order in orders]


def refusals(server):
    """How often the form of the newest participant's question was refused."""
    with server.app.app_context():
        newest = select(Presentation.refusals).order_by(Presentation.id.desc())
        number = db.session.scalars(newest).first()
        db.session.remove()
    return number


def test_letters_are_pressed_and_the_order_is_stored(server, webkit):
    link = server.open_study("in-webkit", practice=False, questions=1)
    start(webkit, link)
    for letter in "DACB":
        webkit.click(f"[data-letter={letter}]")
    assert places(webkit) == {"D": "1", "A": "2", "C": "3", "B": "4", "E": "5"}
    webkit.click("#undo")
    assert places(webkit) == {"D": "1", "A": "2", "C": "3", "B": "", "E": ""}
    webkit.click("#equal")
    webkit.click("[data-letter=E]")
    assert places(webkit) == {"D": "1", "A": "2", "C": "3", "E": "3", "B": "5"}
    webkit.click("button.go")
    webkit.wait_until("location.pathname.endsWith('/review')")
    assert stored_orders(server)[-1] == "D>A>C=E>B"


def test_a_refused_form_is_sent_once_and_its_page_works(server, webkit):
    link = server.open_study("refused-in-webkit", practice=False, questions=1)
    start(webkit, link)
    webkit.click("[data-letter=D]")
    entries = webkit.run("return history.length")
    webkit.click("button.go")
    webkit.wait_until("document.activeElement.id === 'problems'")
    assert refusals(server) == 1
    for letter in "ACB":
        webkit.click(f"[data-letter={letter}]")
    assert places(webkit) == {"D": "1", "A": "2", "C": "3", "B": "4", "E": "5"}
    assert webkit.run("return history.length") == entries
    webkit.click("button.go")
    webkit.wait_until("location.pathname.endsWith('/review')")
    assert refusals(server) == 0
    assert stored_orders(server)[-1] == "D>A>C>B>E"
