"""The server: which tools and resources there are, and what callers are told of them."""

from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import orjson
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp_types import ToolAnnotations

from echoic.doors.mcp.reach import Reach
from echoic.doors.mcp.reading import Looks, Reading, explanation
from echoic.doors.mcp.voting import Voting
from echoic.explain.gates import REASONS
from schemas.values.prompt_fencing import RULE

_ABOUT = f"""Echoic decides whether, when and how a companion responds to what its sensors
notice, and keeps all of it in a log. These tools read that log: start with `decisions` or
`why_silent`, then `explain`. Nothing here changes what an agent does, but for votes.

{RULE}"""

_JSON = "application/json"

_READS = ToolAnnotations(
    read_only_hint=True, idempotent_hint=True, open_world_hint=False
)
_VOTES = ToolAnnotations(
    read_only_hint=False,
    destructive_hint=False,
    idempotent_hint=True,
    open_world_hint=False,
)


def mcp_server(reach: Reach, looks: Looks, **more: Any) -> MCPServer[Any]:
    """Return a server; `more` is for the library, such as who checks tokens.

    The tools are those that some caller may use: without a vote there is no `feedback`, and one
    agent's callers do not get to the checks of the whole machine.
    """
    server: MCPServer[Any] = MCPServer(
        "echoic",
        title="Echoic",
        version=version("echoic"),
        instructions=_ABOUT,
        log_level="WARNING",
        **more,
    )
    is_one_by_one = bool(more)
    for tool in _read_tools(Reading(reach, looks)):
        if tool.__name__ == "doctor" and (is_one_by_one or reach.rights().agent):
            continue
        server.add_tool(tool, annotations=_READS)
    if is_one_by_one or reach.rights().actor is not None:
        server.add_tool(Voting(reach).feedback, annotations=_VOTES)
    _add_resources(server, reach)
    return server


def _read_tools(tools: Reading) -> Iterator[Callable[..., Any]]:
    yield from (tools.agents, tools.status, tools.doctor, tools.sessions)
    yield from (tools.decisions, tools.explain, tools.why_silent, tools.state)
    yield from (tools.heuristics, tools.recall, tools.facts)


def _add_resources(server: MCPServer[Any], reach: Reach) -> None:
    def reasons() -> str:
        """Every reason for silence, and for an answer that was dropped, in words."""
        return orjson.dumps(dict(REASONS)).decode()

    async def decision(agent: str, decision_id: str) -> str:
        """A decision, and why it came out so."""
        try:
            async with reach.agent(agent) as connection:
                found = await explanation(connection, decision_id)
        except ToolError as error:
            raise ResourceError(str(error)) from error
        return orjson.dumps(found).decode()

    one = "echoic://agents/{agent}/decisions/{decision_id}"
    server.resource("echoic://reasons", mime_type=_JSON)(reasons)
    server.resource(one, mime_type=_JSON)(decision)
