"""One game, played by one companion: what happens goes in, what it does comes out.

What is registered is remembered until the game begins anew, so that one that lost its
connection goes on. A forced choice is an event; the mind's answer to it is done if it can be,
else an action by chance, which the log is told.
"""

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from websockets.exceptions import ConnectionClosed

from echoic.client.publish import new_event_id, publish
from echoic.doors.deliveries import Deliveries, Delivery
from echoic.doors.engines.seat import REPLACED, Socket
from echoic.doors.neuro import choosing, messages
from echoic.doors.neuro.choosing import Choice
from echoic.doors.neuro.messages import FromGame, GameAction, Outcome
from echoic.errors import RefusedError
from schemas.messages.sensing import TEXT_LIMIT, EventRef, Sensed
from streams.errors import LogUnavailable, StreamsError
from streams.jetstream.hardened_client import BrokerClient

PATIENCE_S = 5.0
"""Seconds that the mind may take to answer what is forced."""
_MOST_TRIES = 20
"""How often a forced choice that fails is made again, as the API asks for."""
_MOST_WAITING = 8
"""Forced choices that wait; the API knows of one at a time."""
_MOST_ASKED = 100
"""Actions without a result that are remembered; the oldest makes room."""

_PAUSE_S = 0.5
_REASON = 500
_URGENCY = {"low": 0.4, "medium": 0.6, "high": 0.8, "critical": 1.0}

_GONE = Outcome(id="", success=True)
"""Ends the wait for a result that does not come."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Asked:
    """An action that the game was asked for."""

    choice: Choice
    of: str | EventRef
    """The decision, or the event that it was made on."""
    by_chance: bool
    ended: "asyncio.Future[Outcome]"


class NeuroSeat:
    """The seat of one companion; `open` it before a game comes."""

    def __init__(
        self,
        client: BrokerClient,
        agent: str,
        source: str,
        patience_s: float = PATIENCE_S,
        *,
        has_model: bool = False,
    ) -> None:
        """Use a connection with the rights of this source, which the caller closes.

        For a model the question holds all that can be chosen; to heuristics that would only
        make it unlike what they know.
        """
        self._client = client
        self._agent = agent
        self._source = source
        self._deliveries = Deliveries(client, agent, self._heard)
        self._patience_s = patience_s
        self._has_model = has_model
        self._socket: Socket | None = None
        self._actions: dict[str, GameAction] = {}
        self._forced: asyncio.Queue[messages.Forced] = asyncio.Queue(_MOST_WAITING)
        self._answers: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        """By event: what waits for the mind's answer to it."""
        self._asked: OrderedDict[str, _Asked] = OrderedDict()
        self._ending: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Begin to hear what the companion does and says."""
        await self._deliveries.open()

    def close(self) -> None:
        """Let go of what waits."""
        self._begin_anew()

    async def play(self, socket: Socket) -> None:
        """Serve a game until it leaves, or another takes its place."""
        before, self._socket = self._socket, socket
        if before is not None:
            # Not awaited: one that was lost does not answer.
            ending = asyncio.create_task(before.close(REPLACED, "another game is here"))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
        choosing_ = asyncio.create_task(self._choose())
        try:
            while True:
                await self._hear(await socket.recv())
        finally:
            choosing_.cancel()
            await asyncio.gather(choosing_, return_exceptions=True)
            if self._socket is socket:
                # What was asked stays: a game that comes back may tell how it went.
                self._socket = None
                self._forget_forced()

    async def _hear(self, text: str | bytes) -> None:
        try:
            message = messages.read(text)
        except (ValueError, RecursionError) as error:
            # The API has no answer to what is wrong.
            _log.warning("a message of the game is passed over: %s", str(error)[:300])
            return
        await self._take(message)

    async def _take(self, message: FromGame) -> None:
        match message:
            case messages.Startup():
                self._actions.clear()
                self._begin_anew()
                await self._tell("startup", f"{message.game} begins.", is_news=False)
            case messages.Context(data=told):
                text = told.message or "Nothing is said."
                await self._tell("context", text, is_news=not told.silent)
            case messages.Register(data=registered):
                for each in registered.actions:
                    if len(self._actions) < messages.MOST_ACTIONS:
                        self._actions.setdefault(each.name, each)
            case messages.Unregister(data=gone):
                for name in gone.action_names:
                    self._actions.pop(name, None)
            case messages.Force(data=forced):
                with suppress(asyncio.QueueFull):
                    self._forced.put_nowait(forced)
            case messages.Result(data=outcome):
                await self._ended(outcome)

    async def _choose(self) -> None:
        while True:
            forced = await self._forced.get()
            refused: list[Choice] = []
            problem = ""
            while len(refused) < _MOST_TRIES:
                outcome = await self._chosen(forced, refused, problem)
                if outcome is None or outcome.success:
                    break
                problem = outcome.message or "it failed"

    async def _chosen(
        self, forced: messages.Forced, refused: list[Choice], problem: str
    ) -> Outcome | None:
        """Choose once, and return how it went; None if nothing can be chosen."""
        names = dict.fromkeys(forced.action_names)
        open_ = {name: self._actions[name] for name in names if name in self._actions}
        id_ = new_event_id()
        answer = self._answers[id_] = asyncio.get_running_loop().create_future()
        fields: dict[str, Any] = {"actions": " ".join(open_), "tries": len(refused)}
        if forced.state:
            fields["state"] = forced.state[:TEXT_LIMIT]
        question = forced.query or "Choose."
        if self._has_model:
            question = _question(forced, open_, problem)
        said: Mapping[str, Any] = {}
        try:
            await self._tell(
                "force",
                question,
                id_=id_,
                fields=fields,
                urgency=_URGENCY[forced.priority],
            )
            with suppress(TimeoutError):
                async with asyncio.timeout(self._patience_s):
                    said = await answer
        finally:
            self._answers.pop(id_, None)
        # The game may have taken some back meanwhile.
        open_ = {name: each for name, each in open_.items() if name in self._actions}
        choice = choosing.by_answer(said, open_)
        by_chance = choice is None or choice in refused
        if by_chance:
            choice = choosing.by_chance(open_.values(), refused, Random(id_))
        if choice is None:
            _log.warning("none of the forced actions can be done: %s", list(names))
            return None
        refused.append(choice)
        of = EventRef(source=self._source, event_id=id_)
        ended = await self._act(id_, _asked(choice, of, by_chance=by_chance))
        return await ended

    async def _act(self, id_: str, asked: _Asked) -> "asyncio.Future[Outcome]":
        """Ask the game for an action, and return what will hold its result."""
        self._asked[id_] = asked
        if len(self._asked) > _MOST_ASKED:
            self._asked.popitem(last=False)
        told = {"id": id_, "name": asked.choice.name}
        if asked.choice.data is not None:
            told["data"] = asked.choice.data
        if self._socket is not None:
            # One that is just going notices by itself.
            with suppress(ConnectionClosed):
                await self._socket.send(json.dumps({"command": "action", "data": told}))
        return asked.ended

    async def _ended(self, outcome: Outcome) -> None:
        """Tell the log how an action went, and whoever waits for it."""
        asked = self._asked.pop(outcome.id, None)
        if asked is None:
            return
        went = "succeeded" if outcome.success else "failed"
        words = outcome.message or went
        data = f" {asked.choice.data}" if asked.choice.data else ""
        await self._tell(
            "result",
            f"{asked.choice.name}{data}: {words}",
            fields={
                "action": asked.choice.name,
                "success": outcome.success,
                "by": "chance" if asked.by_chance else "decision",
            },
            in_reply_to=asked.of,
            # What chance did is no evidence on what the mind had wanted.
            outcome="overridden" if asked.by_chance else went,
            reason=words[:_REASON],
        )
        if not asked.ended.done():
            asked.ended.set_result(outcome)

    async def _heard(self, delivery: Delivery) -> None:
        """Give the mind's answer to whom waits for it, or do what it wants by itself."""
        said = delivery.said
        answer = self._answers.get(said["event_id"])
        if answer is not None:
            if not answer.done():
                answer.set_result(said)
            return
        choice = choosing.by_answer(said, self._actions)
        if choice is not None and self._socket is not None:
            asked = _asked(choice, said["decision_id"], by_chance=False)
            await self._act(delivery.id, asked)

    async def _tell(
        self,
        type_: str,
        text: str,
        *,
        id_: str | None = None,
        is_news: bool = True,
        **fields: Any,
    ) -> None:
        """Publish an event, however long the broker is away."""
        if not is_news:
            fields["intent"] = "informational"
        event = Sensed(
            source=self._source, type=type_, text=text[:TEXT_LIMIT], **fields
        ).checked()
        id_ = id_ or new_event_id()
        while True:
            try:
                await publish(self._client, self._agent, event, event_id=id_)
            except LogUnavailable:
                await asyncio.sleep(_PAUSE_S)
            except (RefusedError, StreamsError) as error:
                _log.warning("%s is not stored: %s", type_, error)
                return
            else:
                return

    def _begin_anew(self) -> None:
        """End what waits for a game that is gone."""
        self._forget_forced()
        for asked in self._asked.values():
            if not asked.ended.done():
                asked.ended.set_result(_GONE)
        self._asked.clear()

    def _forget_forced(self) -> None:
        while not self._forced.empty():
            self._forced.get_nowait()


def _asked(choice: Choice, of: str | EventRef, *, by_chance: bool) -> _Asked:
    ended: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
    return _Asked(choice, of, by_chance, ended)


def _question(
    forced: messages.Forced, actions: dict[str, GameAction], problem: str
) -> str:
    """Return in words what is to be chosen, and how to answer."""
    lines = [forced.query]
    if forced.state:
        lines.append(f"It stands so: {forced.state[: TEXT_LIMIT // 2]}")
    if problem:
        lines.append(f"What was tried before failed: {problem[:_REASON]}")
    lines.append('Answer by one JSON object with "name" and "data". What can be done:')
    for each in actions.values():
        form = f" {json.dumps(each.form)}" if each.form else ""
        lines.append(f"- {each.name}: {each.description}{form}")
    return "\n".join(lines)
