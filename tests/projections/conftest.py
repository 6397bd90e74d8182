"""One real PostgreSQL for all tests of this folder, and a fresh database for each."""

import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
import pytest_asyncio

from projections.postgres.server import embedded_postgres
from projections.store.store import Store

_NUMBERS = itertools.count(1)
_TEMPLATE = "prepared"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A fresh folder that a server's own user can pass to.

    pytest's folders are closed to other users again whenever another run of it begins.
    """
    with TemporaryDirectory(prefix="echoic-postgres-") as made:
        yield Path(made)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def postgres() -> AsyncIterator[str]:
    """The URL of a server whose database `prepared` holds empty read models."""
    with TemporaryDirectory(prefix="echoic-postgres-") as made:
        async with embedded_postgres(Path(made), durable=False) as server:
            _create(server.url, _TEMPLATE)
            with Store(_named(server.url, _TEMPLATE)) as store:
                store.prepare()
            yield server.url


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """The URL of a fresh database with empty read models."""
    with fresh_database(postgres) as url:
        yield url


@contextmanager
def fresh_database(postgres: str) -> Iterator[str]:
    """A database with empty read models, for a test that needs several."""
    name = f"test{next(_NUMBERS)}"
    _create(postgres, name, _TEMPLATE)
    yield _named(postgres, name)
    _execute(postgres, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    """A store over a fresh database."""
    with Store(database) as opened:
        yield opened


def _create(url: str, name: str, template: str = "template1") -> None:
    _execute(url, f"CREATE DATABASE {name} TEMPLATE {template}")


def _execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


def _named(url: str, database: str) -> str:
    return url.rpartition("/")[0] + "/" + database
