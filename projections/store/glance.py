"""A glance at the read models: a few statements by the driver alone.

A command of the program asks one or two things of the tables, and SQLAlchemy takes longer
to load than both of them together. Whoever writes, or asks all day, uses the `Store`.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Self
from urllib.parse import urlsplit

import psycopg
from psycopg.rows import DictRow, dict_row

from projections.errors import StoreUnavailable, StoreUnusable
from projections.store.places import Position, Version

CONNECT_S = 5
"""How long connecting may take, in seconds; libpq knows whole seconds only."""

_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")


class Closing(ABC):
    """Something on a database that is closed at the end of a `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Close every connection."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Glance(Closing):
    """A database with the read models, to be read from a few times; close it."""

    def __init__(self, url: str) -> None:
        """Name the database; nothing is connected yet.

        Raises:
            StoreUnusable: the URL is no URL of a PostgreSQL.
        """
        scheme = checked(url)
        self._url = f"postgresql{url[len(scheme) :]}"
        self._connection: psycopg.Connection[DictRow] | None = None
        self._lock = Lock()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def rows(self, statement: str, **values: object) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a statement, whose parameters stand as `:name`.

        Raises:
            StoreUnavailable: PostgreSQL is away, or the connection broke.
            StoreUnusable: it refuses the statement.
        """
        named = _PARAMETER.sub(r"%(\1)s", statement.replace("%", "%%"))
        # Callers ask from several threads.
        with self._lock:
            try:
                return self._connected().execute(named.encode(), values).fetchall()
            except psycopg.Error as error:
                self.close()
                raise translated(error, self._where()) from error

    def serving(self) -> Version:
        """Return the version that the views show.

        Raises:
            StoreUnusable: nothing was ever projected here.
        """
        table = "SELECT to_regclass('projection_versions') IS NOT NULL AS made"
        if self.rows(table)[0]["made"]:
            columns = "version AS number, shape, state"
            where = "state = 'serving'"
            for row in self.rows(
                f"SELECT {columns} FROM projection_versions WHERE {where}"
            ):
                return Version(**row)
        raise nothing_yet(self._where())

    def positions(self, version: int) -> dict[int, Position]:
        """Return the position of each partition that a version has begun."""
        columns = "partition, sequence, epoch, message_id"
        where = "version = :version"
        found = self.rows(
            f"SELECT {columns} FROM positions WHERE {where}", version=version
        )
        return {
            row["partition"]: Position(row["sequence"], row["epoch"], row["message_id"])
            for row in found
        }

    def _connected(self) -> psycopg.Connection[DictRow]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(
                self._url,
                autocommit=True,
                row_factory=dict_row,
                connect_timeout=CONNECT_S,
                options="-c timezone=UTC",
            )
        return self._connection

    def _where(self) -> str:
        return place(self._url)


def checked(url: str) -> str:
    """Return the scheme of a URL of a PostgreSQL.

    Raises:
        StoreUnusable: it is none.
    """
    scheme, given, _ = url.partition("://")
    if not given:
        raise StoreUnusable(
            "DATABASE_URL is no URL: write postgresql://user:password@host:5432/name"
        )
    if scheme not in _SCHEMES:
        raise StoreUnusable(
            f"DATABASE_URL begins with {scheme!r}: the read models need"
            " PostgreSQL, so write postgresql://user:password@host:5432/name"
        )
    return scheme


def place(url: str) -> str:
    """Return where a database is, in words, without the password of its URL."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    hidden = f"{user.partition(':')[0]}:***@" if ":" in user else user and f"{user}@"
    return f"PostgreSQL at {parts.scheme}://{hidden}{host}{parts.path}"


def translated(cause: BaseException, where: str) -> StoreUnavailable | StoreUnusable:
    """Return an error of the driver as one of this package; `where` names the database."""
    # The first line says what; those after it may quote values of the statement.
    reason = str(cause).strip().partition("\n")[0]
    if isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError):
        return StoreUnavailable(
            f"{where} is away: {reason}; start it, or set DATABASE_URL to another."
            " The mind goes on, and nothing is lost meanwhile"
        )
    return StoreUnusable(
        f"{where} refuses: {reason}; see `echoic doctor`, and"
        " `echoic projection rebuild` makes the tables again"
    )


def nothing_yet(where: str) -> StoreUnusable:
    """Return the error of a database that nothing was projected into."""
    return StoreUnusable(f"{where} holds no read models yet: run `echoic up` once")
