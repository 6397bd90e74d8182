"""The episodes of an autonomous character in a recording, by folding it again."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from evaluation.evidence.gather import UnprovenError
from handlers.aids import AidProvider
from projections.folds.characters.body import mind_of
from projections.folds.fold_context import FoldContext
from projections.folds.partition import fold_recorded
from replay.recording.source import Recording
from schemas.packs.autonomous import Autonomous
from schemas.state.agent import STRANGER
from schemas.state.autonomy import Act


@dataclass(frozen=True, slots=True)
class _Episodes:
    """What a character did in a recording."""

    how: Autonomous | None
    """As its pack describes it at the end; None: it is no autonomous character."""
    acts: Sequence[Act]
    """Those that ended, oldest first."""


async def episodes_of(recording: Recording, provider: AidProvider) -> _Episodes:
    """Return the episodes of a recording, all of them, however many its state keeps.

    Raises:
        UnprovenError: the recording does not fold to its own chain.
        LogDamaged, MissingPackError: it is not sound, or not whole.
    """
    state, how = recording.start, None
    acts: dict[str, Act] = {}
    await provider.fetch_packs_of(state)
    async with aclosing(recording.groups()) as groups:
        async for group, input_, aids in provider.for_recorded(groups):
            state = fold_recorded(state, input_, group.outputs, aids)
            agent = state.agents.get(recording.agent, STRANGER)
            # One may end in the group in which the next begins.
            for each in agent.character.autonomy.acts[-2:]:
                if each.outcome is not None:
                    acts[each.decision_id] = each
            if input_.agent == recording.agent:
                context = FoldContext(state.shared, agent, input_, aids, input_.at)
                mind = mind_of(context.packs)
                how = mind.autonomous if mind is not None else None
    agent = state.agents.get(recording.agent, STRANGER)
    if recording.chain and agent.chain != recording.chain:
        raise UnprovenError(
            f"input {recording.last}: it does not fold to its own chain"
        )
    return _Episodes(how, tuple(acts[each] for each in acts))
