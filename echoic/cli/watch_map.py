"""The map of `echoic watch --map`: drawn live, played from recordings, or shown once."""

import asyncio
import shutil
import time as clock
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live

from echoic.cli.connected import on_instance
from echoic.cli.keys import QUIT, Keys, is_interactive, single_keys
from echoic.cli.options import Call
from echoic.client.connection import Connection
from echoic.errors import EchoicError
from echoic.packs import bundled
from echoic.scene.figures import Figure, Happening
from echoic.scene.live import LiveScene
from echoic.scene.recorded import Step, opened, scene_of
from echoic.scene.scene import Scene
from echoic.terminal.map import screen
from echoic.terminal.output import terminal
from echoic.terminal.screen import Terminal

_FRAME_S = 0.1
"""Seconds between two looks at what is to be drawn."""
_LATEST = 200
_FASTEST, _SLOWEST = 86_400.0, 1.0


@dataclass(slots=True)
class _Shown:
    """What is drawn: the scene, and what happened last."""

    scene: Scene
    latest: deque[Happening] = field(default_factory=lambda: deque(maxlen=_LATEST))
    note: str = "q ends"

    def page(self, within: Terminal, height: int) -> Group:
        """Return the screen."""
        return Group(*screen(self.scene, list(self.latest), within, height))


def live(call: Call, *, once: bool) -> None:
    """Draw the characters of a running instance until q or Ctrl-C; once if nobody looks."""
    is_once = once or call.as_json or not is_interactive()
    on_instance(call, lambda each: _live(each, call, is_once=is_once))


def recorded(
    call: Call, files: Sequence[Path], at: str | None, speed: float, *, once: bool
) -> None:
    """Play recordings on the map; once, at a time or their end, if nobody looks."""
    paths = [each for file in files for each in sessions_at(file)]
    scene, steps = asyncio.run(scene_of(opened(paths)))
    if not steps:
        raise EchoicError("nothing happens in these recordings")
    begins = steps[0][0]
    until = min(_moment(at, begins), steps[-1][0]) if at is not None else None
    shown, place = _Shown(scene), 0
    if until is not None or once or call.as_json or not is_interactive():
        place = _take(shown, steps, 0, until or steps[-1][0])
    if once or call.as_json or not is_interactive():
        _once(call, shown)
        return
    scene.at = scene.at or begins
    _play(shown, steps, place, speed)


def sessions_at(path: Path) -> list[Path]:
    """Return a session's file, or all of a folder.

    Raises:
        EchoicError: the folder has none.
    """
    found = bundled.found(path)
    if not found.is_dir():
        return [found]
    files = sorted(found.glob("*.echoic"))
    if not files:
        raise EchoicError(f"no recording lies in {str(path)!r}")
    return files


def _once(call: Call, shown: _Shown) -> None:
    height = shutil.get_terminal_size((120, 40)).lines
    parts = screen(shown.scene, list(shown.latest), terminal(), height)
    call.show(_fields(shown), parts)


def _play(shown: _Shown, steps: Sequence[Step], place: int, speed: float) -> None:
    """Play on from a place: space pauses, + and - change the pace, q ends."""
    is_paused, before = False, clock.monotonic()
    with single_keys() as keys, _screen(shown) as drawn:
        while (key := keys.pressed(_FRAME_S)) not in QUIT:
            if key == " ":
                is_paused = not is_paused
            elif key in ("+", "-"):
                speed = min(max(speed * (2 if key == "+" else 0.5), _SLOWEST), _FASTEST)
            now = clock.monotonic()
            if not is_paused and place < len(steps):
                reached = _reached(shown) + timedelta(seconds=(now - before) * speed)
                place = _take(shown, steps, place, reached)
                shown.scene.at = reached
            before = now
            drawn.update(_page(shown), refresh=True)


def _reached(shown: _Shown) -> datetime:
    assert shown.scene.at is not None, "it was set before it is played"
    return shown.scene.at


def _take(shown: _Shown, steps: Sequence[Step], place: int, until: datetime) -> int:
    """Take all groups up to a time, and return the place of the next one."""
    while place < len(steps) and steps[place][0] <= until:
        _, input_, outputs = steps[place]
        shown.latest.extend(shown.scene.take(input_, outputs))
        place += 1
    shown.scene.at = until
    return place


async def _live(connection: Connection, call: Call, *, is_once: bool) -> None:
    follower = LiveScene(connection)
    await follower.begin()
    shown = _Shown(follower.scene)
    if is_once:
        _once(call, shown)
        return

    async def follow() -> None:
        async for found in follower.happenings():
            shown.latest.extend(found)

    following = asyncio.create_task(follow())
    try:
        with single_keys() as keys, _screen(shown) as drawn:
            while not following.done() and not await _is_ended(keys):
                drawn.update(_page(shown), refresh=True)
        if following.done():
            # Why it cannot be followed any more.
            following.result()
    finally:
        following.cancel()


async def _is_ended(keys: Keys) -> bool:
    return await asyncio.to_thread(keys.pressed, 2 * _FRAME_S) in QUIT


def _screen(shown: _Shown) -> Live:
    console = Console(no_color=not terminal().colour, highlight=False)
    # Drawn by the loop alone: a thread of its own would draw a scene that changes.
    return Live(_page(shown), console=console, screen=True, auto_refresh=False)


def _page(shown: _Shown) -> Group:
    size = shutil.get_terminal_size()
    return shown.page(Terminal(size.columns, terminal().colour), size.lines)


def _moment(text: str, begins: datetime) -> datetime:
    """Return a time of a recording: in full, or the first such time of day in it.

    Raises:
        EchoicError: it is none.
    """
    try:
        if "-" in text:
            found = datetime.fromisoformat(text)
            return found if found.tzinfo is not None else found.astimezone()
        of_day = time.fromisoformat(text.rjust(5, "0"))
    except ValueError as error:
        raise EchoicError(
            f"--at {text!r} is no time", next_step="--at 14:30"
        ) from error
    found = datetime.combine(begins.date(), of_day, begins.tzinfo)
    return found if found >= begins else found + timedelta(days=1)


def _fields(shown: _Shown) -> dict[str, object]:
    scene = shown.scene
    at = scene.at
    return {
        "at": at,
        "characters": [_figure(each, at) for each in scene.drawn] if at else [],
    }


def _figure(each: Figure, at: datetime) -> dict[str, object]:
    deed = each.doing(at)
    return {
        "agent": each.name,
        "x": each.x,
        "y": each.y,
        "place": each.place,
        "doing": deed.what if deed is not None else None,
        "layer": each.layer or None,
        "why": deed.why if deed is not None else None,
        "says": each.saying(at) or None,
        "conversation": each.talk,
        "absent": each.absent or None,
    }
