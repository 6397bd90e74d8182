"""Tokens: who bears one may do what it says, until it is revoked."""

import os
from pathlib import Path
from typing import Any

import pytest

from echoic.doors.http.limits import GUESSES, MOST_GUESSERS, REQUESTS, STREAMS, Limits
from echoic.doors.http.problems import ProblemError
from echoic.doors.http.tokens import AccessToken, TokenFile, new_token
from echoic.errors import EchoicError, NotFoundError


def token(**wanted: Any) -> AccessToken:
    """Of a kitchen's sensor, unless something else is wanted."""
    usual = {"name": "kitchen", "agent": "ada", "scopes": ("events",)}
    return new_token(**usual | wanted)


def test_a_secret_is_found_and_kept_as_a_hash(tmp_path: Path) -> None:
    """The file never holds what a client sends, and nobody else may read it."""
    file = TokenFile(tmp_path)

    secret = file.create(token())

    found = file.find(secret)
    assert found is not None
    assert found.name == "kitchen"
    path = tmp_path / "http" / "tokens.json"
    assert secret not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    assert file.find(secret + "x") is None


def test_a_revoked_token_ends_for_a_running_door(tmp_path: Path) -> None:
    """A door that read the file before sees the change, whoever made it."""
    door, command = TokenFile(tmp_path), TokenFile(tmp_path)
    secret = command.create(token())
    found = door.find(secret)
    assert found is not None

    command.revoke("kitchen")

    assert door.find(secret) is None
    assert not door.holds(found)


def test_two_tokens_of_one_name_are_refused(tmp_path: Path) -> None:
    """The name says whose key an id was made from."""
    file = TokenFile(tmp_path)
    file.create(token())

    with pytest.raises(EchoicError, match="already"):
        file.create(token(agent="ben"))


def test_what_is_not_there_cannot_be_revoked(tmp_path: Path) -> None:
    """The error names the command that lists them."""
    with pytest.raises(NotFoundError, match="nobody"):
        TokenFile(tmp_path).revoke("nobody")


@pytest.mark.parametrize("body", [b"", b"[{}]", b'{"a": 1}', b"\xff\xfe"])
def test_a_damaged_file_is_named(tmp_path: Path, body: bytes) -> None:
    """It is an error that says which file, never a door that is open."""
    (tmp_path / "http").mkdir()
    (tmp_path / "http" / "tokens.json").write_bytes(body)

    with pytest.raises(EchoicError, match=r"tokens\.json"):
        TokenFile(tmp_path).find("x")


@pytest.mark.parametrize(
    "wanted",
    [
        {"scopes": ("everything",)},
        {"scopes": ()},
        {"agent": "a.b"},
        {"sources": ("*",)},
        {"person": "ada\x07"},
        {"per_s": 0},
        {"burst": 0},
    ],
)
def test_a_token_that_cannot_be_is_refused(wanted: dict[str, Any]) -> None:
    """Each field has its range."""
    with pytest.raises(EchoicError, match=next(iter(wanted))):
        token(**wanted)


def test_a_bucket_empties_and_fills() -> None:
    """Two at once, then one a second."""
    clock = iter([0.0, 0.0, 0.0, 1.0, 1.0])
    limits, given = Limits(lambda: next(clock)), token(per_s=1.0, burst=2)
    limits.take(given)
    limits.take(given)

    with pytest.raises(ProblemError) as refused:
        limits.take(given)
    assert refused.value.problem.status == 429
    assert refused.value.headers == {"Retry-After": "1"}

    limits.take(given)
    with pytest.raises(ProblemError):
        limits.take(given)


def test_one_token_does_not_starve_another(tmp_path: Path) -> None:
    """Each has a bucket of its own."""
    file, limits = TokenFile(tmp_path), Limits(lambda: 0.0)
    for name in ("one", "two"):
        file.create(token(name=name, burst=1))
    one, two = file.tokens
    limits.take(one)

    with pytest.raises(ProblemError):
        limits.take(one)
    limits.take(two)


def test_streams_are_counted_while_they_are_open() -> None:
    """A closed one makes room."""
    limits, given = Limits(), token()
    open_ = [limits.stream(given) for _ in range(STREAMS)]
    for each in open_:
        each.__enter__()

    with pytest.raises(ProblemError, match="streams"), limits.stream(given):
        raise AssertionError

    open_[0].__exit__(None, None, None)
    with limits.stream(given):
        pass


def test_requests_are_counted_while_they_are_open() -> None:
    """Who keeps many open waits; another does not."""
    limits, given = Limits(), token(name="greedy", burst=1000)
    other = given.model_copy(update={"digest": "1" * 64})
    open_ = [limits.request(given) for _ in range(REQUESTS)]
    for each in open_:
        each.__enter__()

    with pytest.raises(ProblemError, match="requests"), limits.request(given):
        raise AssertionError
    with limits.request(other):
        pass


def test_an_address_that_guesses_waits() -> None:
    """One a second is counted then, and others do not wait at all."""
    now = 0.0
    limits = Limits(lambda: now)
    for _ in range(GUESSES):
        limits.guess("10.0.0.1")

    with pytest.raises(ProblemError) as refused:
        limits.guess("10.0.0.1")
    assert refused.value.problem.status == 429
    limits.guess("10.0.0.2")
    now = 1.0
    limits.guess("10.0.0.1")


def test_guessers_take_bounded_memory() -> None:
    """The one that was quiet for longest is forgotten, not the one that goes on."""
    limits = Limits(lambda: 0.0)
    for _ in range(GUESSES):
        limits.guess("first")
    for number in range(2 * MOST_GUESSERS):
        limits.guess(f"a{number}")
        with pytest.raises(ProblemError):
            limits.guess("first")

    assert len(limits._guessed) == MOST_GUESSERS


def test_nobody_reads_the_file_while_it_is_written(tmp_path: Path) -> None:
    """It is replaced whole, whatever mask the process has."""
    before = os.umask(0)
    try:
        TokenFile(tmp_path).create(token())
    finally:
        os.umask(before)

    assert (tmp_path / "http" / "tokens.json").stat().st_mode & 0o077 == 0
