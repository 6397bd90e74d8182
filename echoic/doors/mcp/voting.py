"""The one tool that writes: a vote on a decision, as whom the server's operator chose."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from echoic.client import publish
from echoic.client.connection import Connection
from echoic.doors.mcp.marking import marked
from echoic.doors.mcp.reach import Reach, ask
from echoic.doors.mcp.reading import Agent, DecisionId, one
from schemas.messages.feedback import Aspect, FeedbackGiven
from schemas.messages.learning import FeedbackApplied

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Voting:
    """The tool that votes, for whoever calls."""

    reach: Reach

    async def feedback(
        self,
        decision_id: DecisionId,
        rating: Literal["positive", "negative", "scaled"],
        value: Annotated[
            float | None,
            Field(ge=-1, le=1, description="With 'scaled' alone: -1 to 1."),
        ] = None,
        comment: Annotated[str | None, Field(max_length=2_000)] = None,
        aspect: Annotated[
            Aspect,
            Field(
                description="What is judged: 'condition', it should not have spoken;"
                " 'action', the wrong words; 'timing', the wrong moment."
            ),
        ] = "overall",
        agent: Agent = None,
    ) -> Fields:
        """Judge a decision for the person at the keyboard, and only when that person said so.

        The last vote counts. The reply tells what it moved: the confidence of the rule that
        answered, and the rapport with whoever votes.
        """
        actor = self.reach.rights().actor
        if actor is None:
            raise ToolError("nobody may vote here")
        async with self.reach.agent(agent, reads=False) as connection:
            log, name = connection.log, connection.settings.agent
            record = await one(connection, decision_id)
            before = await _figures(connection, record.heuristic_id, actor)
            given = FeedbackGiven(
                decision_id=record.id,
                rating=rating,
                value=value,
                aspect=aspect,
                actor=actor,
                comment=comment,
                channel="mcp",
            ).checked()
            outputs = await publish.tell(log, name, given)
            # A refusal was raised.
            applied = next(
                each.message
                for each in outputs
                if isinstance(each.message, FeedbackApplied)
            )
            after = await _figures(connection, record.heuristic_id, actor)
        counted = applied.as_fields()
        return marked({"counted": counted, "before": before, "after": after})


async def _figures(
    connection: Connection, heuristic_id: str | None, actor: str
) -> Mapping[str, object]:
    """Return what a vote can move: confidence, if a heuristic answered, and rapport."""
    state = (await ask(connection, "state", {}))["state"]
    found = {"rapport": state["rapport"].get(actor)}
    if heuristic_id is None:
        return found
    reply = await ask(connection, "heuristic", {"heuristic_id": heuristic_id})
    return found | {"confidence": reply["heuristic"]["confidence"]}
