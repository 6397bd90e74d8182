"""Holding what an autonomous character proposes against what was recorded of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from echoic.client.evidence import as_invalid_recording, recordings
from echoic.config.load import Settings
from echoic.errors import EchoicError, NotFoundError
from evaluation.evidence.episodes_of import episodes_of
from handlers.mind.characters.autonomous.holdout import Judged, judge
from projections.folds import proposals
from schemas.messages.learning import CharacterChange
from schemas.packs.autonomous import Autonomous
from schemas.state.agent import AgentState
from schemas.state.autonomy import Act


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What recordings say about a proposal."""

    change: CharacterChange
    judged: Judged
    recorded: int
    """How many actions that ended they hold."""


async def held_out(
    settings: Settings, agent: AgentState, proposal_id: str, names: Sequence[str]
) -> Held:
    """Judge a proposal by the named recordings, or by the agent's whole log.

    Raises:
        NotFoundError: there is no such proposal.
        EchoicError: it is not about a character, or there is no such recording.
    """
    proposal = proposals.find(agent, proposal_id)
    if proposal is None:
        raise NotFoundError(
            f"this agent has no proposal {proposal_id!r}", next_step="echoic tune list"
        )
    if proposal.character is None:
        raise EchoicError(
            f"{proposal_id!r} is about no character: a search has held it out itself",
            next_step="echoic tune list",
        )
    how: Autonomous | None = None
    acts: dict[str, Act] = {}
    async with recordings(settings, names) as found:
        for recording, provider in found:
            with as_invalid_recording(recording):
                episodes = await episodes_of(recording, provider)
            how = episodes.how or how
            acts |= {each.decision_id: each for each in episodes.acts}
    if how is None:
        raise EchoicError("no recording is of an autonomous character")
    judged = judge(
        proposal.character, tuple(acts.values()), how, agent.character.autonomy
    )
    return Held(change=proposal.character, judged=judged, recorded=len(acts))
