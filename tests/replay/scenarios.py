"""Scenarios as recordings: a session that was made up, kept as a file would keep it."""

from collections.abc import Sequence
from uuid import UUID

import orjson
from msgspec import structs

from bench import world
from handlers.mind.turn import Turn
from replay.recording.source import Recording, of_file
from schemas.codec import checkpoint
from schemas.messages.decisions import Decided
from schemas.packs.compiled import CompiledPack
from schemas.packs.manifest import to_blob
from schemas.state.agent import PartitionState
from schemas.values.record import Record
from schemas.values.vectors import Limits, Vector
from streams.session_files.file import SessionFile
from streams.session_files.reading import SessionHeader, SessionTrailer
from tests.bench.session import AGENT, EPOCH, PARTITION, Session
from tests.factories import DIMENSION, LIMITS, embed
from tests.factories import EPOCH as LIFE_EPOCH
from tests.scenario import Scenario


def everything(events: int = 300) -> Session:
    """A scenario in which everything happens that may, told by `tests.bench.session`."""
    session = Session(heuristics=400, seed=3)
    session.run(world.events(events, seed=5))
    spoken = [
        output
        for turn in session.turns
        for output in turn.outputs
        if isinstance(output.message, Decided) and output.message.path == "heuristic"
    ]
    for number, fire in enumerate(spoken[:20]):
        session.report(number, fire)
    return session


def file_of(session: Session) -> SessionFile:
    """The whole scenario as one session's file."""
    return file_of_turns(
        session.turns, (session.pack,), agent=AGENT, partition=PARTITION, epoch=EPOCH
    )


def file_of_turns(
    turns: Sequence[Turn],
    packs: Sequence[CompiledPack],
    *,
    agent: str,
    partition: int,
    epoch: UUID,
) -> SessionFile:
    """Turns from the first on as one session's file."""
    return SessionFile(
        header=SessionHeader(
            epoch=epoch,
            agent=agent,
            session_id="all",
            partition=partition,
            first=turns[0].input.sequence,
            last=turns[-1].input.sequence,
            checkpoint=orjson.loads(checkpoint.dump(PartitionState())),
        ),
        records=tuple(record for turn in turns for record in records_of(turn)),
        blobs={pack.digest: to_blob(pack.pack) for pack in packs},
        trailer=SessionTrailer(
            messages=sum(1 + len(turn.outputs) for turn in turns),
            chain=turns[-1].state.agents[agent].chain,
        ),
    )


def recording_of(session: Session) -> Recording:
    """The whole scenario as a recording."""
    return of_file(file_of(session), "everything")


def records_of(turn: Turn) -> list[Record]:
    """A turn as the log holds it."""
    taken = turn.input.record
    outputs = [
        structs.replace(
            output.record, sequence=taken.sequence + 1 + index, time_ns=taken.time_ns
        )
        for index, output in enumerate(turn.outputs)
    ]
    return [taken, *outputs]


def recording_of_scenario(scenario: Scenario) -> Recording:
    """A scenario that a test told, as a recording."""
    return of_file(file_of_scenario(scenario), "scenario")


def file_of_scenario(scenario: Scenario) -> SessionFile:
    """A scenario that a test told, as one session's file."""
    return file_of_turns(
        scenario.turns,
        tuple(scenario.blobs.values()),
        agent=scenario.agent,
        partition=scenario.partition,
        epoch=LIFE_EPOCH,
    )


class WordsEmbedder:
    """The embedder of scenarios that tests tell."""

    name = "words"
    exact = True
    digest = "words"
    limits = Limits(LIMITS.match, LIMITS.duplicate, LIMITS.endorse)
    dimension = DIMENSION

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text."""
        return [embed(text) for text in texts]
