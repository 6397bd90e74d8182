"""Answer a shipped recording again, in place: `python -m bench.reanswer FILE…`.

For a change of what the mind decides. The inputs stay as they were recorded, the outputs are
today's; results of asks that are made no more are left out, and asks that nobody answered
are named. What differs is to be looked at before it is committed.
"""

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path

from msgspec import structs

from echoic.embedders import embedder
from echoic.run.process import prepare
from handlers.aids import AidProvider, PackLibrary
from handlers.mind import turn as turns
from replay.recording.source import Recording, from_file
from schemas.codec.decode import read_input
from schemas.messages.results import Result
from schemas.values.record import Record
from streams.groups import Group
from streams.session_files.file import (
    SessionFile,
    read_session,
    world_of,
    write_session,
)
from streams.session_files.reading import SessionTrailer


@dataclass(slots=True)
class Answered:
    """A recording that was answered again."""

    records: list[Record] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)
    """The inputs that are answered otherwise."""
    left_out: list[int] = field(default_factory=list)
    """Results of asks that are made no more."""
    unanswered: set[str] = field(default_factory=set)
    """Asks that were not made before, so that nobody answered them."""
    chain: str = ""


async def answered(recording: Recording) -> Answered:
    """Answer each input of a recording, in order."""
    embeds = embedder("wordllama")
    provider = AidProvider(embeds, PackLibrary(recording.log, embeds))
    state, found, gone = recording.start, Answered(), set[str]()
    made: list[tuple[Group, list[Record]]] = []
    await provider.fetch_packs_of(state)
    async for group in recording.groups():
        input_ = read_input(group.input)
        if isinstance(input_.message, Result) and input_.message.ask_id in gone:
            found.left_out.append(group.input.sequence)
            continue
        [aids] = await provider.for_inputs([input_])
        turn = turns.answer(state, input_, aids, recording.log.epoch)
        state = turn.state
        outputs = [each.record for each in turn.outputs]
        before = {each.headers["ce-id"] for each in group.outputs}
        after = {each.headers["ce-id"]: each for each in outputs}
        gone |= before - after.keys()
        if [each.body for each in outputs] != [each.body for each in group.outputs]:
            found.changed.append(group.input.sequence)
            new = after.keys() - before
            found.unanswered |= {id_ for id_ in new if ".ask." in after[id_].subject}
        made.append((group, outputs))
    found.records = sorted(_placed(made), key=lambda each: each.sequence)
    agent = state.agents.get(recording.agent)
    found.chain = agent.chain if agent is not None else ""
    return found


def _placed(made: Sequence[tuple[Group, Sequence[Record]]]) -> Iterator[Record]:
    """Give each output its place in the log: where one stood, else the next that is free.

    Inputs stay where they are, for the ids of outputs derive from that.
    """
    taken = {group.input.sequence for group, _ in made}
    at = 0
    for group, outputs in made:
        yield group.input
        at = max(at, group.input.sequence)
        for output, slot in zip_longest(outputs, group.outputs[: len(outputs)]):
            at = max(at + 1, slot.sequence if slot is not None else 0)
            while at in taken:
                at += 1
            time_ns = group.outputs[0].time_ns if slot is None else slot.time_ns
            yield structs.replace(output, sequence=at, time_ns=time_ns)


def answer_again(path: Path) -> Answered:
    """Answer a file's session again, and write it if anything differs.

    Raises:
        ValueError: it is a world's.
    """
    if world_of(path) is not None:
        raise ValueError(f"{path} is a world's: make it anew by its own command")
    session = read_session(path)
    found = asyncio.run(answered(from_file(path)))
    if found.changed:
        write_session(path, _with(session, found))
    return found


def _with(session: SessionFile, found: Answered) -> SessionFile:
    records = tuple(found.records)
    trailer = SessionTrailer(messages=len(records), chain=found.chain)
    return replace(session, records=records, trailer=trailer)


def main() -> None:
    """Answer again, and say what differs."""
    prepare()
    parser = argparse.ArgumentParser(prog="python -m bench.reanswer")
    parser.add_argument("files", nargs="+", type=Path)
    for path in parser.parse_args().files:
        found = answer_again(path)
        print(
            f"{path}: {len(found.changed)} inputs answered otherwise {found.changed},"
            f" results left out {found.left_out}, asks unanswered"
            f" {sorted(found.unanswered)}"
        )


if __name__ == "__main__":
    main()
