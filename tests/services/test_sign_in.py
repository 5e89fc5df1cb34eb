"""Researchers' accounts: links good once, passwords, sessions with two ends, a throttle."""

from datetime import timedelta
from importlib.util import find_spec, module_from_spec

import pytest
from argon2 import extract_parameters
from argon2.profiles import RFC_9106_LOW_MEMORY
from sqlalchemy.orm import Session

from survey.db.models import Researcher, SignIn, SignInLink, SignInThrottle
from survey.errors import SurveyError
from survey.services import accounts
from survey.services.accounts import LinkError, TooManyAttemptsError, WrongPasswordError
from survey.services.studies import lifecycle
from survey.tokens import hash_token, is_known_browser, known_browser
from tests.builders import a_plan
from tests.databases import ON_SQLITE

PASSWORD = "a row of four words"


@pytest.fixture
def token(session):
    return accounts.add_researcher(session, "Ada Lovelace")[1]


@pytest.fixture
def ada(session, token):
    return accounts.set_password(session, token, PASSWORD)


@pytest.fixture
def as_shipped(monkeypatch):
    """Passwords cost what they do outside the tests."""
    spec = find_spec(accounts.__name__)
    afresh = module_from_spec(spec)
    spec.loader.exec_module(afresh)
    for name in ("hasher", "_unused_hash"):
        monkeypatch.setattr(accounts, name, getattr(afresh, name))


def later(monkeypatch, **amount):
    """Let the clock of signing in stand so much later."""
    present = accounts.now()
    monkeypatch.setattr(accounts, "now", lambda: present + timedelta(**amount))


def test_a_new_account_has_no_password_and_nobody_can_sign_in(session, token):
    with pytest.raises(WrongPasswordError):
        accounts.sign_in(session, "Ada Lovelace", "")


def test_a_link_sets_a_password_once(session, ada, token):
    assert ada.password_hash.startswith("$argon2id$")
    with pytest.raises(LinkError, match="works once, for 30 minutes"):
        accounts.set_password(session, token, "another row of words")


def test_guessing_costs_what_the_standard_advises_also_where_there_is_nobody(as_shipped):
    for stored in (accounts.hasher.hash(PASSWORD), accounts._unused_hash()):
        assert extract_parameters(stored) == RFC_9106_LOW_MEMORY


@pytest.mark.slow
@ON_SQLITE
def test_a_password_hashed_at_another_cost_is_hashed_anew_at_the_next_sign_in(
    session, ada, as_shipped
):
    assert extract_parameters(ada.password_hash) != RFC_9106_LOW_MEMORY
    assert accounts.sign_in(session, "Ada Lovelace", PASSWORD)
    assert extract_parameters(ada.password_hash) == RFC_9106_LOW_MEMORY
    assert accounts.sign_in(session, "Ada Lovelace", PASSWORD)


def test_looking_at_a_link_does_not_use_it_up(session, token):
    for _ in range(3):
        assert accounts.researcher_of_link(session, token).name == "Ada Lovelace"


@pytest.mark.slow
def test_a_link_is_good_for_thirty_minutes(session, token, monkeypatch):
    later(monkeypatch, minutes=29)
    assert accounts.researcher_of_link(session, token)
    later(monkeypatch, minutes=31)
    with pytest.raises(LinkError):
        accounts.researcher_of_link(session, token)


def test_a_new_link_ends_the_old_one(session, token):
    fresh = accounts.new_link(session, accounts.find_researcher(session, "ada lovelace"))
    with pytest.raises(LinkError):
        accounts.researcher_of_link(session, token)
    assert accounts.researcher_of_link(session, fresh)


def test_the_database_holds_neither_links_nor_sessions(session, ada, token):
    made = accounts.sign_in(session, "Ada Lovelace", PASSWORD)
    stored = {row.token_hash for table in (SignIn, SignInLink) for row in session.query(table)}
    assert len(stored) == 2
    assert not stored & {made, token}


@ON_SQLITE
@pytest.mark.parametrize(
    ("password", "problem"),
    [
        ("short", "has 5 characters; 12 to 128"),
        ("x" * 129, "has 129 characters"),
        ("ababababababab", "too easy"),
        ("ada lovelace 1815", "too easy"),
        ("my password is it", "too easy"),
        ("123456789012", "too easy"),
        ("qwertyuiop12", "too easy"),
        ("zxcvbnmasdfgh", "too easy"),
        ("1q2w3e4r5t6y", "too easy"),
        ("iloveyou4321", "too easy"),
    ],
)
def test_an_easy_password_is_refused_and_the_link_stays_good(session, token, password, problem):
    with pytest.raises(SurveyError, match=problem):
        accounts.set_password(session, token, password)
    assert accounts.set_password(session, token, PASSWORD)


def test_a_name_can_be_taken_once_and_must_be_one(session, ada):
    with pytest.raises(SurveyError, match="There is a researcher 'Ada Lovelace' already"):
        accounts.add_researcher(session, "ada lovelace")
    for name in ("", "<b>", "a" * 65, "\0"):
        with pytest.raises(SurveyError, match="cannot be a researcher's name"):
            accounts.add_researcher(session, name)


@pytest.mark.parametrize("name", ["Özgür Ulusoy", "Σωτήρης", "Straße"])
def test_names_in_any_script_sign_in_in_any_case(session, name):
    _, token = accounts.add_researcher(session, name)
    accounts.set_password(session, token, PASSWORD)
    assert accounts.sign_in(session, name.upper(), PASSWORD)
    with pytest.raises(SurveyError, match=f"There is a researcher '{name}' already"):
        accounts.add_researcher(session, name.upper())


def test_researchers_are_sorted_alike_on_both_databases_in_capitals_or_not(session):
    study = lifecycle.create_study(session, "shared", a_plan())
    for name in ("Zoe", "anna b", "Émile", "Anna-Maria", "bob", "AnnaC"):
        researcher, _ = accounts.add_researcher(session, name)
        accounts.share(session, study, researcher, "owner" if name == "Zoe" else "viewer")
    names = ["anna b", "Anna-Maria", "AnnaC", "bob", "Zoe", "Émile"]
    assert [person.name for person in accounts.all_researchers(session)] == names
    members = [member.researcher.name for member in accounts.members_of(session, study)]
    assert members == ["Zoe", *names[:4], "Émile"]


def test_an_unknown_name_and_a_wrong_password_are_told_alike(session, ada):
    told = set()
    for name, password in (("Nobody", PASSWORD), ("Ada Lovelace", "a wrong row of words")):
        with pytest.raises(WrongPasswordError) as error:
            accounts.sign_in(session, name, password)
        told.add(str(error.value))
    assert len(told) == 1


def test_failures_cost_ever_longer_waits_even_for_the_right_password(session, ada, monkeypatch):
    later(monkeypatch)  # the clock stands, however long a failure takes
    for _ in range(5):
        with pytest.raises(WrongPasswordError):
            accounts.sign_in(session, "Ada Lovelace", "a wrong row of words")
    with pytest.raises(TooManyAttemptsError, match="Please wait"):
        accounts.sign_in(session, " ADA  lovelace ", PASSWORD)
    later(monkeypatch, seconds=3)
    with pytest.raises(WrongPasswordError):
        accounts.sign_in(session, "Ada Lovelace", "a wrong row of words")
    with pytest.raises(TooManyAttemptsError) as error:
        accounts.sign_in(session, "Ada Lovelace", PASSWORD)
    assert error.value.seconds == 2
    later(monkeypatch, minutes=16)
    assert accounts.sign_in(session, "Ada Lovelace", PASSWORD)


@ON_SQLITE
def test_no_wait_is_longer_than_half_a_minute(session, ada):
    row = SignInThrottle(
        name_hash=hash_token("ada lovelace"), failures=1000, last_failed_at=accounts.now()
    )
    session.add(row)
    session.commit()
    with pytest.raises(TooManyAttemptsError) as error:
        accounts.sign_in(session, "Ada Lovelace", PASSWORD)
    assert error.value.seconds <= 30


def fail(session, name, browser=""):
    with pytest.raises(WrongPasswordError):
        accounts.sign_in(session, name, "a wrong row of words", browser)


@ON_SQLITE
def test_a_failure_counted_by_a_wrong_clock_shuts_nobody_out(session, ada, monkeypatch):
    with monkeypatch.context() as wrong:
        later(wrong, days=400)
        for _ in range(5):
            fail(session, "Ada Lovelace")
    assert accounts.sign_in(session, "Ada Lovelace", PASSWORD)
    assert session.query(SignInThrottle).filter(SignInThrottle.failures > 0).count() == 0


def test_strangers_never_make_a_known_browser_wait(session, ada, monkeypatch):
    later(monkeypatch)
    for number in range(10):
        fail(session, "Ada Lovelace" if number < 5 else f"Nobody {number}")
    with pytest.raises(TooManyAttemptsError):
        accounts.sign_in(session, "Ada Lovelace", PASSWORD)
    assert accounts.sign_in(session, "Ada Lovelace", PASSWORD, "a known browser")
    for _ in range(5):
        fail(session, "Ada Lovelace", "a known browser")
    with pytest.raises(TooManyAttemptsError):
        accounts.sign_in(session, "Ada Lovelace", PASSWORD, "a known browser")


def test_the_cookie_of_a_known_browser_is_good_for_one_name():
    cookie = known_browser("a key", "Ada Lovelace", "an id")
    assert is_known_browser("a key", "ada  lovelace", cookie)
    assert not is_known_browser("a key", "Grace Hopper", cookie)
    assert not is_known_browser("another key", "Ada Lovelace", cookie)
    assert not is_known_browser("a key", "Ada Lovelace", "")


def test_random_names_are_slowed_down_together_and_forgotten(session, ada, monkeypatch):
    later(monkeypatch)
    for number in range(10):
        fail(session, f"Nobody {number}")
    hashed = []
    monkeypatch.setattr(accounts, "is_password", lambda *of: hashed.append(of))
    with pytest.raises(TooManyAttemptsError) as error:
        accounts.sign_in(session, "Nobody at all", PASSWORD)
    assert (hashed, error.value.seconds) == ([], 10)
    monkeypatch.undo()
    later(monkeypatch, hours=1, minutes=1)
    assert accounts.sign_in(session, "Ada Lovelace", PASSWORD)
    assert session.query(SignInThrottle).filter(SignInThrottle.failures > 0).count() == 0


@ON_SQLITE
def test_a_process_hashes_one_password_at_a_time(session, ada, monkeypatch):
    monkeypatch.setattr(accounts, "LONGEST_QUEUE", 0.01)
    with accounts._hashing, pytest.raises(TooManyAttemptsError):
        accounts.is_password(ada.password_hash, PASSWORD)
    assert accounts.is_password(ada.password_hash, PASSWORD)


def test_a_new_password_is_hashed_while_no_one_waits_for_the_database(
    session, engine, ada, monkeypatch
):
    """Nor beside another hash, however many forms for a new password are sent at once."""
    hashed = accounts.hasher.hash

    def hash_beside_writers(_, password):
        assert accounts._hashing.locked()
        with Session(engine) as other:
            accounts.new_link(other, other.get_one(Researcher, 1))
        return hashed(password)

    monkeypatch.setattr(type(accounts.hasher), "hash", hash_beside_writers)
    accounts.store_password(session, ada, "another row of words")
    session.commit()
    monkeypatch.setattr(type(accounts.hasher), "check_needs_rehash", lambda *_: True)
    accounts.sign_in(session, "Ada Lovelace", "another row of words")
    with pytest.raises(LinkError):  # replaced while the password was hashed
        accounts.set_password(session, accounts.new_link(session, ada), PASSWORD)


def test_a_session_ends_when_idle_and_in_any_case(session, ada, monkeypatch):
    token = accounts.sign_in(session, "Ada Lovelace", PASSWORD)
    later(monkeypatch, minutes=59)
    assert accounts.find_sign_in(session, token)
    later(monkeypatch, minutes=2)
    assert accounts.find_sign_in(session, token) is None


def test_a_clock_that_was_ahead_lengthens_no_session_and_no_link(session, ada, monkeypatch):
    with pytest.MonkeyPatch.context() as ahead:
        later(ahead, days=400)
        token = accounts.sign_in(session, "Ada Lovelace", PASSWORD)
        link = accounts.new_link(session, ada)
        assert accounts.find_sign_in(session, token)
    assert accounts.find_sign_in(session, token) is None
    with pytest.raises(LinkError):
        accounts.researcher_of_link(session, link)
    with pytest.MonkeyPatch.context() as ahead:  # as another server's clock may be
        later(ahead, seconds=5)
        token = accounts.sign_in(session, "Ada Lovelace", PASSWORD)
        link = accounts.new_link(session, ada)
    assert accounts.is_confirmed(accounts.find_sign_in(session, token))
    assert accounts.researcher_of_link(session, link)
    later(monkeypatch, minutes=31)
    with pytest.raises(LinkError):
        accounts.researcher_of_link(session, link)


def test_being_seen_puts_off_the_idle_end_but_not_the_other(session, ada, monkeypatch):
    token = accounts.sign_in(session, "Ada Lovelace", PASSWORD)
    for _ in range(12):
        later(monkeypatch, minutes=49)
        accounts.refresh(session, token)
    assert accounts.find_sign_in(session, token)
    later(monkeypatch, minutes=20)
    assert accounts.find_sign_in(session, token) is None


def test_a_new_password_and_signing_out_everywhere_end_all_sessions(session, ada):
    tokens = [accounts.sign_in(session, "Ada Lovelace", PASSWORD) for _ in range(3)]
    assert len(accounts.live_sign_ins(session, ada)) == 3
    accounts.sign_out(session, tokens[0])
    assert accounts.find_sign_in(session, tokens[0]) is None
    assert accounts.find_sign_in(session, tokens[1])
    accounts.sign_out_everywhere(session, ada)
    assert accounts.live_sign_ins(session, ada) == []
    token = accounts.sign_in(session, "Ada Lovelace", PASSWORD)
    accounts.set_password(session, accounts.new_link(session, ada), "words in another row")
    assert accounts.find_sign_in(session, token) is None


def test_the_password_counts_as_just_typed_for_ten_minutes(session, ada, monkeypatch):
    token = accounts.sign_in(session, "Ada Lovelace", PASSWORD)
    later(monkeypatch, minutes=11)
    assert not accounts.is_confirmed(accounts.find_sign_in(session, token))
    with pytest.raises(WrongPasswordError):
        accounts.confirm(session, token, "a wrong row of words")
    accounts.confirm(session, token, PASSWORD)
    assert accounts.is_confirmed(accounts.find_sign_in(session, token))


def test_the_first_start_prints_links_until_someone_has_a_password(session):
    first = accounts.ensure_researcher(session)
    second = accounts.ensure_researcher(session)
    assert first != second
    accounts.set_password(session, second, PASSWORD)
    assert accounts.ensure_researcher(session) is None
