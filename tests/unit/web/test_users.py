"""Users, sessions and the rate of requests."""

from urllib.parse import urlsplit

import pytest

from bitrawl.errors import ConfigError, StoreError
from bitrawl.web.app import Serving, address, new_server
from bitrawl.web.operator_settings import UserSection, hashed, interval
from bitrawl.web.security import RateLimit, Users, host_names, secret_of

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


def test_many_addresses_are_not_remembered_for_ever():
    rate = RateLimit(1, most_keys=10)
    for number in range(100):
        assert rate.wait(str(number), float(number * 10)) == 0
    assert len(rate._times) <= 11


def test_a_session_that_was_ended_stays_ended_also_for_the_next_server(tmp_path):
    section = {"anna": UserSection(token_sha256=hashed("first"))}
    users = Users(section, SECRET, ended=tmp_path / "ended")
    user = users.by_token("first")
    assert user is not None
    copied, other = users.new_session(user), users.new_session(user)
    users.end_session(copied)
    users.end_session("anna.1.x.y")  # of nobody: nothing to keep
    for server in (users, Users(section, SECRET, ended=tmp_path / "ended")):
        assert server.by_session(copied) is None
        assert server.by_session(other) == user
    assert copied not in (tmp_path / "ended").read_text()
    assert len((tmp_path / "ended").read_text().splitlines()) == 1


@pytest.mark.parametrize(("text", "hours"), [("12h", 12), ("7d", 168), ("2w", 336)])
def test_an_interval_is_in_hours_days_or_weeks(text: str, hours: int):
    assert interval(text) == hours * 3600


@pytest.mark.parametrize("text", ["7", "d", "0d", "-7d", "7 d", "1.5d", "5m", "7days", "99999d"])
def test_what_is_no_interval_is_refused_wherever_it_stands(tmp_path, text: str):
    (tmp_path / "serve.toml").write_text(f'every = "{text}"\n')
    for serving in (Serving(tmp_path, settings=tmp_path / "serve.toml"), Serving(tmp_path, every=text)):
        with pytest.raises(ConfigError, match="12h, 7d or 2w"):
            new_server(serving)


@pytest.mark.parametrize(
    ("host", "token", "says"),
    [("0.0.0.0", "", "a token is needed"), ("0.0.0.0", "x" * 15, "at least 16"), ("::", "x" * 15, "at least 16")],
)
def test_an_open_address_needs_a_token_that_nobody_guesses(tmp_path, host: str, token: str, says: str):
    with pytest.raises(ConfigError, match=says):
        new_server(Serving(tmp_path, host, token=token))


@pytest.mark.parametrize(("host", "token"), [("0.0.0.0", "x" * 16), ("127.0.0.1", "x"), ("localhost", "")])
def test_long_tokens_are_taken_and_on_this_machine_any(tmp_path, host: str, token: str):
    assert new_server(Serving(tmp_path, host, token=token)).users is not None


@pytest.mark.parametrize(
    ("host", "there"),
    [
        ("0.0.0.0", "http://127.0.0.1:8103/"),
        ("::", "http://[::1]:8103/"),
        ("192.0.2.1", "http://192.0.2.1:8103/"),
        ("127.0.0.1", "http://127.0.0.1:8103/"),
    ],
)
def test_the_address_that_is_printed_is_one_that_the_server_answers_to(host: str, there: str):
    assert address(host, 8103) == there
    assert urlsplit(there).hostname in host_names(host, ())


def test_a_command_sees_the_proxy_of_the_operator(tmp_path):
    (tmp_path / "serve.toml").write_text('[job.fetch]\nproxy = "http://me:hush@proxy:3128"\n')
    server = new_server(Serving(tmp_path / "jobs", settings=tmp_path / "serve.toml"))
    assert server.commands._environment["all_proxy"] == "http://me:hush@proxy:3128"
