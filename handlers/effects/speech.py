"""Speaking: run the operator's command with the words, and stop it where it must stop.

The words go to the command's standard input, or are one argument of it; no shell ever sees
them. One utterance of an agent at a time; the queue of speech keeps that order.
"""

import asyncio
import os
import shlex
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import IO, Literal

from handlers.effects.spoken_words import spoken, with_numbers
from schemas.messages.asks import DeliveryAsked

_HEARD_S = 1.0
"""How long something is heard at least before what is more urgent cuts it off."""
LONGEST_S = 120.0
"""A command that takes longer hangs, and is stopped."""
_ENDING_S = 0.5
"""How long a command has to end by itself when it is told to."""

_USUAL_WPM = 175
"""Words a minute at speed 1, as espeak-ng has it."""

_DETAIL_LIMIT = 500

_UNWANTED = 1_000
"""Of how many asks it is remembered that they were stopped before they began."""

_OURS = ("ECHOIC_", "NATS_URL", "DATABASE_URL")
"""Variables that may hold passwords: nothing that a command for speech needs."""

_CutReason = Literal["urgent", "asked"]


class SpeechError(Exception):
    """The command could not be run, or said that it failed."""


@dataclass(frozen=True, slots=True)
class SpeechCommand:
    """What speaks: a command with places for what differs."""

    template: str
    """`{text}` the words, as one says them (without it they go to standard input),
    `{voice}`, `{speed}` (a factor), `{wpm}` (words a minute), `{length}` (1 / speed, as
    piper has it), `{id}`."""
    voice: str = ""
    """The voice where the personality names none."""
    may_interrupt: bool = True
    """Whether an alert may cut off what is being said."""
    numbers: str = "off"
    """In which language numbers become words, en or de; `voice`: the voice's; else none."""

    def __post_init__(self) -> None:
        """Check that it can be read.

        Raises:
            ValueError: it is empty, a quotation in it is not closed, or words would stand
                in a script.
        """
        parts = shlex.split(self.template)
        if not parts:
            raise ValueError("a command")
        # `sh -c 'say {text}'`: the shell would run what somebody else wrote.
        if any("{text}" in each and any(map(str.isspace, each)) for each in parts):
            raise ValueError("{text} stands in a script: read standard input there")

    def arguments(self, ask_id: str, asked: DeliveryAsked) -> list[str]:
        """Return the command's arguments for an utterance."""
        speed = asked.speed or 1.0
        # A NUL would end the argument, a dash at its start make an option of it.
        words = self.words(asked).replace("\0", " ")
        places = {
            "{voice}": asked.voice or self.voice,
            "{speed}": f"{speed:g}",
            "{wpm}": str(round(_USUAL_WPM * speed)),
            "{length}": f"{1.0 / speed:.3g}",
            "{id}": ask_id,
            "{text}": f" {words}" if words.startswith("-") else words,
        }
        return [_filled(part, places) for part in shlex.split(self.template)]

    def words_for_input(self, asked: DeliveryAsked) -> bytes:
        """Return what goes to standard input: the words, if they are no argument."""
        if "{text}" in self.template:
            return b""
        return f"{self.words(asked)}\n".encode()

    def words(self, asked: DeliveryAsked) -> str:
        """Return what one says of an utterance, with its numbers as the voice wants them."""
        voice = (asked.voice or self.voice)[:2].lower()
        language = voice if self.numbers == "voice" else self.numbers
        return with_numbers(spoken(asked.text), language)


@dataclass(frozen=True, slots=True)
class _Spoken:
    """How an utterance ended that had begun."""

    cut: _CutReason | None
    """Why it was cut off; None: it was said whole."""
    after_ms: float


@dataclass(eq=False, slots=True)
class _Utterance:
    ask_id: str
    is_alert: bool
    began_s: float
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    cut: _CutReason | None = None


class Speaker:
    """Speaks for all agents; who speaks is known, so that it can be stopped."""

    def __init__(self, command: SpeechCommand) -> None:
        """Speak by `command`."""
        self.command = command
        self._now: dict[str, _Utterance] = {}
        """What each agent is saying."""
        self._unwanted: dict[str, bool] = {}
        """What is not to be said, by ask."""

    async def say(self, agent: str, ask_id: str, asked: DeliveryAsked) -> _Spoken:
        """Say it to its end, or until it is cut off.

        A cancellation stops the command before it is raised.

        Raises:
            SpeechError: the command could not be run, failed, or hung.
        """
        clock = asyncio.get_running_loop().time
        if self._unwanted.pop(ask_id, False):
            return _Spoken("asked", 0.0)
        if not spoken(asked.text):
            # A picture or a gesture alone: there is nothing to be heard of it.
            return _Spoken(None, 0.0)
        with TemporaryFile() as words, TemporaryFile() as complaints:
            words.write(self.command.words_for_input(asked))
            words.seek(0)
            arguments = self.command.arguments(ask_id, asked)
            is_alert = asked.response_type == "alert"
            mine = _Utterance(ask_id, is_alert, clock())
            # Known before the command runs: it may be stopped from here on.
            self._now[agent] = mine
            try:
                process = await _started(arguments, words, complaints)
                try:
                    await _ended(process, mine.stop)
                finally:
                    await _stop(process)
            finally:
                del self._now[agent]
            after_ms = round((clock() - mine.began_s) * 1000, 3)
            if mine.cut is not None:
                return _Spoken(mine.cut, after_ms)
            if process.returncode:
                complaints.seek(0)
                said = complaints.read(_DETAIL_LIMIT).decode(errors="replace").strip()
                raise SpeechError(f"it ended with {process.returncode}: {said}")
            return _Spoken(None, after_ms)

    def make_way(self, agent: str, asked: DeliveryAsked) -> None:
        """Let an alert cut off what the agent is saying, once a second of it was heard."""
        now = self._now.get(agent)
        is_urgent = asked.response_type == "alert" and self.command.may_interrupt
        if now is None or now.is_alert or not is_urgent:
            return
        at_s = now.began_s + _HEARD_S
        asyncio.get_running_loop().call_at(at_s, _cut, now, "urgent")

    def stop(self, agent: str, ask_id: str) -> None:
        """Stop an utterance at once; one that has not begun is not said at all."""
        now = self._now.get(agent)
        if now is not None and now.ask_id == ask_id:
            _cut(now, "asked")
            return
        self._unwanted[ask_id] = True
        if len(self._unwanted) > _UNWANTED:
            # The oldest: a dict keeps the order of insertion.
            del self._unwanted[next(iter(self._unwanted))]


def _filled(part: str, places: Mapping[str, str]) -> str:
    """Return an argument with its places filled, each once: words may hold braces."""
    if part == "{text}":
        return places["{text}"]
    head, found, tail = part.partition("{")
    if not found:
        return head
    name, closed, rest = tail.partition("}")
    place = f"{{{name}{closed}"
    if place in places:
        return head + places[place] + _filled(rest, places)
    return head + found + _filled(tail, places)


def _cut(utterance: _Utterance, reason: _CutReason) -> None:
    utterance.cut = utterance.cut or reason
    utterance.stop.set()


async def _started(
    arguments: list[str], words: IO[bytes], complaints: IO[bytes]
) -> Process:
    known = {
        name: value for name, value in os.environ.items() if not name.startswith(_OURS)
    }
    try:
        # Files, not pipes: a command that reads or writes slowly holds nothing up.
        return await asyncio.create_subprocess_exec(
            *arguments,
            stdin=words,
            stdout=DEVNULL,
            stderr=complaints,
            env=known,
            # A group of its own, so that a player which it starts is stopped with it.
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise SpeechError(f"{arguments[0]} cannot be run: {error}") from error


async def _ended(process: Process, stop: asyncio.Event) -> None:
    """Wait until the command has ended or is to be stopped.

    Raises:
        SpeechError: it hangs.
    """
    ends = [asyncio.create_task(each) for each in (process.wait(), stop.wait())]
    try:
        done, _ = await asyncio.wait(
            ends, timeout=LONGEST_S, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        for each in ends:
            each.cancel()
    if not done:
        raise SpeechError(f"it took longer than {LONGEST_S:g} s, and was stopped")


async def _stop(process: Process) -> None:
    """End what is left of the command: gently, then for certain."""
    if process.returncode is not None:
        return
    _signal(process, signal.SIGTERM)
    try:
        # Shielded: a cancellation meanwhile may not leave it speaking.
        await asyncio.wait_for(asyncio.shield(process.wait()), _ENDING_S)
    except (TimeoutError, asyncio.CancelledError):
        _signal(process, signal.SIGKILL)
        await process.wait()


def _signal(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
