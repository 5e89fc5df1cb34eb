"""Researchers' second factor: codes as RFC 6238 has them, each accepted once, on both databases."""

from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy.orm import Session

from survey.db.models import Researcher
from survey.errors import SurveyError
from survey.services import accounts, second_factor
from survey.services.accounts import TooManyAttemptsError, WrongPasswordError
from tests.at_once import AtOnce
from tests.builders import KEY
from tests.databases import ON_SQLITE

PASSWORD = "a row of four words"
SEED = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
SECRET = second_factor.secret_of(KEY, SEED)
STEP = 60_000_000


@pytest.fixture
def ada(session):
    return accounts.set_password(session, accounts.add_researcher(session, "Ada")[1], PASSWORD)


@pytest.fixture
def clock(monkeypatch):
    """Return a function that sets the clock to a step."""

    def at(step):
        moment = datetime.fromtimestamp(step * second_factor.STEP + 7, UTC)
        monkeypatch.setattr(second_factor, "now", lambda: moment)

    at(STEP)
    return at


@pytest.fixture
def recovery_codes(session, ada, clock):
    codes = second_factor.set_up(session, KEY, ada, SEED, code(STEP))
    session.commit()
    return codes


def code(step):
    return second_factor.code_at(SECRET, step)


def sign_in(session, typed, **more):
    return accounts.sign_in(session, "Ada", PASSWORD, code=typed, key=KEY, **more)


def is_refused(session, typed):
    with pytest.raises(WrongPasswordError, match="each code works once"):
        sign_in(session, typed)
    accounts.reset_failures(session, "Ada")
    accounts.reset_failures(session, "")
    session.commit()
    return True


@pytest.mark.parametrize(
    ("seconds", "digits"),
    [
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
        (20000000000, "353130"),
    ],
)
def test_codes_are_those_of_appendix_b_of_rfc_6238(seconds, digits):
    assert second_factor.code_at(b"12345678901234567890", seconds // 30) == digits


def test_an_app_gets_name_server_and_a_secret_that_depends_on_the_servers_key():
    parts = urlsplit(second_factor.app_address(SECRET, "Ada Lovelace", "a.example:8000"))
    assert (parts.scheme, parts.netloc) == ("otpauth", "totp")
    assert parts.path == "/a.example%3A8000:Ada%20Lovelace"
    fields = parse_qs(parts.query)
    assert fields == {"secret": [second_factor.as_text(SECRET)], "issuer": ["a.example:8000"]}
    assert len(fields["secret"][0]) == 32
    assert second_factor.secret_of("another key", SEED) != SECRET


def test_a_second_factor_is_set_up_only_with_the_code_of_its_app(session, ada, clock):
    with pytest.raises(SurveyError, match="not the code"):
        second_factor.set_up(session, KEY, ada, SEED, "12345")
    assert sign_in(session, "")
    assert (
        len(second_factor.set_up(session, KEY, ada, SEED, f" {code(STEP)[:3]} {code(STEP)[3:]}"))
        == 10
    )


def test_a_sign_in_needs_a_code_and_each_code_is_accepted_once(session, recovery_codes, clock):
    assert is_refused(session, "")
    assert is_refused(session, code(STEP))  # with which it was set up
    assert sign_in(session, code(STEP + 1))  # a phone whose clock is ahead
    for typed in (code(STEP), code(STEP + 1), code(STEP + 2)):
        assert is_refused(session, typed)
    clock(STEP + 3)
    assert is_refused(session, code(STEP + 1))
    assert sign_in(session, code(STEP + 2))  # a phone whose clock is behind


def test_a_recovery_code_is_accepted_once_however_it_is_typed(session, ada, recovery_codes):
    assert len(set(recovery_codes)) == 10
    assert sign_in(session, recovery_codes[3].lower().replace("-", " "))
    assert is_refused(session, recovery_codes[3])
    assert sign_in(session, recovery_codes[4])
    assert len(ada.recovery_codes) == 8
    assert not set(recovery_codes) & set(ada.recovery_codes)


def test_without_a_second_factor_no_code_is_needed_again(session, ada, recovery_codes):
    second_factor.remove(ada)
    session.commit()
    assert sign_in(session, "")
    assert (ada.last_code_step, ada.recovery_codes) == (None, [])


def test_a_clock_that_was_ahead_keeps_nobody_out(session, recovery_codes, clock):
    clock(STEP + 1_000_000)
    assert sign_in(session, code(STEP + 1_000_000))
    clock(STEP + 2)
    assert sign_in(session, code(STEP + 2))
    assert is_refused(session, code(STEP + 2))


@ON_SQLITE
def test_wrong_codes_are_slowed_down_as_wrong_passwords_are(session, recovery_codes, monkeypatch):
    moment = accounts.now()
    monkeypatch.setattr(accounts, "now", lambda: moment)
    for _ in range(5):
        with pytest.raises(WrongPasswordError) as wrong_code:
            sign_in(session, "000000")
    with pytest.raises(TooManyAttemptsError):
        sign_in(session, code(STEP + 1))
    monkeypatch.setattr(accounts, "now", lambda: moment + timedelta(minutes=1))
    with pytest.raises(WrongPasswordError) as wrong_password:
        accounts.sign_in(session, "Ada", "another row of words", code=code(STEP + 1), key=KEY)
    assert str(wrong_code.value) == str(wrong_password.value)


@pytest.mark.slow
def test_a_code_sent_twice_at_once_is_accepted_once(session, engine, recovery_codes, clock):
    session.close()
    both = AtOnce(engine)
    for number in range(1, 20):
        clock(STEP + number)

        def enter(browser, number=number):
            with Session(engine) as mine:
                return accounts.sign_in(mine, "Ada", PASSWORD, browser, code(STEP + number), KEY)

        first, second = (partial(enter, f"{name}{number}") for name in "ab")
        results = both.run(first, second, number)
        assert sum(isinstance(result, WrongPasswordError) for result in results) == 1, results
        if not both.reached:
            break
    assert session.query(Researcher).one().last_code_step == STEP + number
