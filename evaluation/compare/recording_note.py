"""Describe a recording: its origin, packs, embedder, seed and strategies at its start."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.compare.document import StrategyPart
from handlers.mind.stages.executive import config_hash
from handlers.mind.strategies.spec import text_of
from projections.folds.learning.heuristics import all_heuristics
from replay.recording.in_force import InForce, with_packs
from replay.recording.source import Recording
from schemas.codec.decode import read_input
from schemas.messages.controls import SessionStarted
from schemas.messages.experiments import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingNote:
    """The provenance of a recording, for the document."""

    agent: str
    sessions: tuple[str, ...]
    title: str
    origin: str
    digest: str
    epoch: str
    first: int
    last: int
    packs: tuple[tuple[str, str, str], ...]
    """Name, version and digest of each pack in force at its start."""
    embedder: str
    seed: str
    strategies: tuple[StrategyPart, ...]
    """As they stand at its start: the baseline's, then each challenger's."""


async def note_of(
    recording: Recording, strategies: Sequence[Variant]
) -> tuple[RecordingNote, dict[str, str]]:
    """Return the note on a recording, and what the heuristics are called, by id."""
    in_force = await with_packs(
        InForce.of(recording.start, recording.agent), recording.log
    )
    # An agent's own version of a pack is in force in place of the shared one.
    refs = {**in_force.shared.packs, **in_force.agent.packs}
    note = RecordingNote(
        agent=recording.agent,
        sessions=recording.sessions,
        title=await _title(recording),
        origin=recording.origin,
        digest=recording.digest,
        epoch=str(recording.log.epoch),
        first=recording.first,
        last=recording.last,
        packs=tuple(
            (refs[name].name, refs[name].version, refs[name].digest)
            for name in sorted(refs)
        ),
        embedder=in_force.settings.embedder,
        seed=in_force.settings.seed,
        strategies=tuple(_strategy(each, in_force) for each in strategies),
    )
    return note, _names(in_force)


def _strategy(variant: Variant, in_force: InForce) -> StrategyPart:
    strategy = in_force.asked(variant).strategy
    return StrategyPart(
        label=_label(variant, in_force),
        personality=variant.personality,
        template=variant.template,
        name=strategy.name,
        version=strategy.version,
        config=strategy.config,
        config_hash=config_hash(strategy),
    )


def _names(in_force: InForce) -> dict[str, str]:
    """Return the names of the heuristics in force, by id."""
    found = all_heuristics(in_force.agent, in_force.packs)
    return {each.heuristic_id: each.name for each in found}


async def _title(recording: Recording) -> str:
    first = await recording.log.record(recording.first)
    message = read_input(first).message if first is not None else None
    # Only a session that somebody started has a title; others begin with any input.
    return message.title if isinstance(message, SessionStarted) else ""


def _label(variant: Variant, in_force: InForce) -> str:
    name = text_of(variant.strategy or in_force.strategy)
    if variant.template is not None:
        name = f"{name}, {variant.template}"
    return name if variant.personality is None else f"{name}, another personality"
