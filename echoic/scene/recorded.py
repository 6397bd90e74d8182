"""Scenes of recordings: the groups of several sessions' files, as one story in time."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from echoic.client.recordings import tell_altered
from echoic.scene.scene import Scene
from replay.recording.recorded_groups import RecordedGroup, recorded_groups
from replay.recording.source import Recording, from_file
from schemas.codec.envelope import Input, Output
from streams.session_files.file import world_of

Step = tuple[datetime, Input, list[Output]]


def opened(paths: Sequence[Path]) -> list[Recording]:
    """Open the sessions of files, of a world's file those of all its members.

    Raises:
        SessionFileError, RecordingError: one of them cannot be read.
    """
    found = []
    for path in paths:
        world = world_of(path)
        members = world.members if world is not None else (None,)
        found += [from_file(path, each) for each in members]
    for each in found:
        tell_altered(each.origin, each.altered)
    return found


async def scene_of(recordings: Sequence[Recording]) -> tuple[Scene, list[Step]]:
    """Return the scene before the recordings, and their groups in order of time.

    Times are the agents' own; of equal ones a recording's own order is kept.

    Raises:
        UnreadableOutputError, LogDamaged, SessionFileError: a recording is not sound.
    """
    scene, steps = Scene(), list[Step]()
    for recording in recordings:
        known = recording.start.agents.get(recording.agent)
        is_known = False
        async for group in recorded_groups(recording):
            if not is_known and group.after.packs:
                scene.know(recording.agent, group.after.packs)
                is_known = True
            step = _step(group)
            if step is not None and step[1].agent == recording.agent:
                steps.append(step)
        if known is not None:
            scene.begin(recording.agent, known.character)
    # Stable, so what is at one time stays in the order of its log.
    steps.sort(key=lambda each: each[0])
    return scene, steps


def _step(group: RecordedGroup) -> Step | None:
    outputs = group.outputs()
    return (outputs[0].at, group.input, outputs) if outputs else None
