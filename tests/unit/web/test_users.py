"""Users, sessions and the rate of requests."""

import pytest

from bitrawl.errors import StoreError
from bitrawl.web.operator_settings import UserSection, hashed
from bitrawl.web.security import RateLimit, Users, secret_of

SECRET = b"of the test" * 3
TOKENS = {"anna": "first", "ben.b": "second"}


@pytest.fixture
def users() -> Users:
    return Users({name: UserSection(token_sha256=hashed(token)) for name, token in TOKENS.items()}, SECRET)


def test_each_token_names_its_user(users: Users):
    for name, token in TOKENS.items():
        user = users.by_token(token)
        assert user is not None
        assert user.name == name
    assert users.by_token("third") is None
    assert users.by_token("") is None
    assert users.open is None


def test_a_session_is_its_users(users: Users):
    for token in TOKENS.values():
        user = users.by_token(token)
        assert user is not None
        cookie = users.new_session(user)
        assert users.by_session(cookie) == user
        assert users.by_session(cookie[:-1]) is None
        assert users.by_session("you" + cookie) is None


def test_odd_cookies_are_nobodys(users: Users):
    for cookie in ("", ".", "...", "anna", "anna.1.x", "anna.١.x.y", "anna.99999999999.x.0", "\udcff.1.2.3"):
        assert users.by_session(cookie) is None


def test_a_session_ends_with_its_token(users: Users):
    user = users.by_token("first")
    assert user is not None
    cookie = users.new_session(user)
    changed = Users({"anna": UserSection(token_sha256=hashed("another"))}, SECRET)
    assert changed.by_session(cookie) is None


def test_a_form_is_bound_to_its_session(users: Users):
    assert users.csrf_of("one") != users.csrf_of("two")
    assert users.csrf_of("one") == users.csrf_of("one")


def test_without_users_and_token_everybody_is_one():
    user = Users({}, SECRET).open
    assert user is not None
    assert user.admin
    assert Users({}, SECRET, token="x").open is None


def test_the_secret_is_made_once_and_for_its_owner_only(tmp_path):
    first = secret_of(tmp_path)
    assert len(first) == 32
    assert secret_of(tmp_path) == first
    assert (tmp_path / ".secret").stat().st_mode & 0o077 == 0
    (tmp_path / ".secret").write_bytes(b"cut")
    assert len(secret_of(tmp_path)) == 32


def test_a_folder_that_cannot_be_written_is_an_error_that_says_so(tmp_path):
    (tmp_path / ".secret").mkdir()  # permissions would not stop root
    with pytest.raises(StoreError, match=r"cannot be written.*check its permissions"):
        secret_of(tmp_path)


def test_a_rate_is_counted_for_each_key_over_a_minute():
    rate = RateLimit(2)
    assert [rate.wait("a", at) for at in (0.0, 1.0)] == [0, 0]
    assert rate.wait("a", 2.0) == 58.0
    assert rate.wait("b", 2.0) == 0
    assert rate.wait("a", 60.5) == 0


def test_many_addresses_are_not_remembered_for_ever(monkeypatch):
    monkeypatch.setattr(RateLimit, "MOST_KEYS", 10)
    rate = RateLimit(1)
    for number in range(100):
        assert rate.wait(str(number), float(number * 10)) == 0
    assert len(rate._times) <= 11
