"""How tools reach an instance: a connection for each call, as a command has.

A server may thus be started before its instance, and outlive it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from echoic.client import asking, known_agents
from echoic.client.connection import Connection, connect
from echoic.config.load import Settings
from echoic.doors.mcp.rights import Rights
from echoic.errors import EchoicError
from projections.errors import ProjectionError
from projections.store.store import Store
from schemas.values.base import first_fault
from schemas.values.prompt_fencing import shown
from schemas.values.subjects import is_agent
from streams.errors import StreamsError

_T = TypeVar("_T")

_WHY = 600
"""Characters of an error."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a caller may reach."""

    settings: Settings
    rights: Callable[[], Rights]
    """Returns those of whoever calls now."""

    @asynccontextmanager
    async def instance(self) -> AsyncIterator[Connection]:
        """Connect to the instance for the length of the block.

        Raises:
            ToolError: the caller may not read, nothing runs, or the block raised an error of
                ours, which the caller is told.
        """
        self.check_reading()
        async with told(), connect(self.settings) as connection:
            yield connection

    @asynccontextmanager
    async def agent(
        self, name: str | None, *, reads: bool = True
    ) -> AsyncIterator[Connection]:
        """Connect to the instance as to one agent: the named one, else the usual one.

        Raises:
            ToolError: it is out of the caller's reach, or unknown; as `instance`.
        """
        if reads:
            self.check_reading()
        # As of a flag: one that the log does not know is an error, and no empty answer.
        origins = {**self.settings.origins, "agent": "flag of the call"}
        settings = replace(self.settings, agent=self._own(name), origins=origins)
        async with told(), connect(settings) as connection:
            await known_agents.check(connection)
            yield connection

    def check_reading(self) -> None:
        """Check that the caller may read.

        Raises:
            ToolError: it may not.
        """
        if not self.rights().may_read:
            raise ToolError("this token has no scope 'read'")

    def _own(self, name: str | None) -> str:
        """Return the agent that is meant.

        Raises:
            ToolError: it is out of the caller's reach.
        """
        own = self.rights().agent
        found = name or own or self.settings.agent
        if own is not None and found != own:
            # The same whether there is such an agent or not.
            raise ToolError(f"only the agent {own!r} is within reach here")
        if not is_agent(found):
            raise ToolError("an agent is 1 to 64 of A-Z a-z 0-9 _ -, and not '_' alone")
        return found


@asynccontextmanager
async def told() -> AsyncIterator[None]:
    """Turn errors of ours, which say what to do, into what the caller is told."""
    try:
        yield
    except EchoicError as error:
        step = f"; next: {error.next_step}" if error.next_step else ""
        raise ToolError(shown(error.what + step, _WHY)) from error
    except ValidationError as error:
        raise ToolError(shown(first_fault(error, "the request"), _WHY)) from error
    except (StreamsError, ProjectionError, OSError) as error:
        raise ToolError(shown(f"{error}; next: echoic doctor", _WHY)) from error


async def ask(
    connection: Connection, service: str, body: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the instance replies to a call of the agent's service.

    Raises:
        EchoicError, StreamsError: as `asking.ask`.
    """
    agent = connection.settings.agent
    return await asking.ask(connection.client, agent, service, body)


async def stored(connection: Connection, read: Callable[[Store], _T]) -> _T:
    """Return what a question to the read models brings.

    Raises:
        NotRunningError: there are none.
        ProjectionError: they do not answer.
    """
    url = connection.needed_database()

    def work() -> _T:
        with Store(url) as store:
            return read(store)

    # The store's driver blocks.
    return await asyncio.to_thread(work)
