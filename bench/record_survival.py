"""Record the session that `packs/survival` ships: a real game, answered live.

It runs a whole instance over a throw-away folder, plays Crafter in lockstep with it (one
step is one second of the session's clock), gives the thumbs of a scripted person, and
exports the session. The two that are shipped come from

    python -m bench.record_survival packs/survival/recording/evening.echoic
    python -m bench.record_survival packs/survival/recording/explored.echoic \\
        --seed 21 --title "An evening of trying things" --explore STRATEGY --rate 0.4 \\
        --model openai/smollm2 --api-base http://127.0.0.1:8399/v1

where the model is SmolLM2-135M on a server of one's own.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nats.aio.msg import Msg

from bench.beside import beside
from echoic.client.publish import publish_raw, tell
from echoic.client.watch import decisions
from echoic.config.load import Settings, load
from echoic.run.instance import Instance, instance
from handlers.aids import AidProvider, PackLibrary
from packs.survival.sensor.playing import Plan, play
from replay.recording.sessions import export, find_session
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.feedback import FeedbackGiven
from schemas.values.record import Wire
from streams.session_files.file import write_session

ROOT = Path(__file__).parents[1]
AGENT = "companion"
# Fixed, so that the same seed records the same times: the session's clock is the events'.
BASE = datetime(2026, 11, 20, 20, 0, tzinfo=UTC)
THUMB_EVERY = 2
"""The person judges every second report."""
PATIENCE_S = 60.0
"""How long the game waits for a model."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What to record."""

    steps: int
    seed: int
    title: str
    explore: str | None
    """The challenger whose arms are tried."""
    rate: float
    model: str | None
    api_base: str | None

    @property
    def session(self) -> str:
        """The session's id."""
        return f"survival-{self.seed}"


class Hearing:
    """The player's side: every event is decided before the game goes on."""

    def __init__(self, live: Instance) -> None:
        self._live = live
        self._said: asyncio.Queue[bytes] = asyncio.Queue()
        self._decided: dict[str, bool] = {}
        self._news = asyncio.Condition()

    async def subscribe(self) -> None:
        """Listen on the agent's channels."""
        await self._live.client.subscribe(f"out.{AGENT}.>", cb=self._hear)

    async def watch(self) -> None:
        """Note which events were answered with words."""
        async for account in decisions(self._live.log, AGENT, 0):
            async with self._news:
                event_id = account.decided.event_id
                if account.is_final:
                    self._decided[event_id] = account.said is not None
                    self._news.notify_all()

    async def after(self, ids: Sequence[str]) -> Sequence[bytes]:
        """Wait until all these events are decided on, and return what was said to them."""
        async with asyncio.timeout(PATIENCE_S), self._news:
            await self._news.wait_for(lambda: all(id_ in self._decided for id_ in ids))
        spoken = sum(1 for id_ in ids if self._decided[id_])
        # A decision may be known before its delivery arrives: wait for all that were said.
        return [await self._said.get() for _ in range(spoken)]

    async def _hear(self, message: Msg) -> None:
        self._said.put_nowait(message.data)


async def record(out: Path, wanted: Recording) -> None:
    """Play, listen, judge, and write the session to `out`."""
    with tempfile.TemporaryDirectory() as folder:
        settings = _settings(Path(folder), wanted)
        async with instance(settings, _say, durable=False) as live:
            started = SessionStarted(
                session_id=wanted.session, title=wanted.title, clock="event"
            )
            await tell(live.log, AGENT, started)
            await _play(live, wanted)
            await tell(live.log, AGENT, SessionEnded())
            await _export(live, wanted.session, out)


async def _play(live: Instance, wanted: Recording) -> None:
    hearing = Hearing(live)
    await hearing.subscribe()
    reports = 0

    async def publish(wire: Wire) -> None:
        await publish_raw(live.client, wire.subject, wire.body, wire.headers)

    async def judge(decision_id: str, outcome: str) -> None:
        nonlocal reports
        reports += 1
        if reports % THUMB_EVERY or outcome not in ("succeeded", "failed"):
            return
        vote = FeedbackGiven(
            decision_id=decision_id,
            rating="positive" if outcome == "succeeded" else "negative",
            actor="player",
            channel="game",
        )
        await tell(live.log, AGENT, vote)

    plan = Plan(
        agent=AGENT, base=BASE, run=wanted.session, steps=wanted.steps, seed=wanted.seed
    )
    async with beside(hearing.watch()):
        played = await play(plan, publish, hearing.after, judge)
    _say(f"{played.events} events, {played.heard} heard, {len(played.reports)} reports")


async def _export(live: Instance, session_id: str, out: Path) -> None:
    provider = AidProvider(live.embedder, PackLibrary(live.log, live.embedder))
    span = await find_session(live.log, AGENT, session_id, provider)
    session = await export(live.log, span, provider)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_session(out, session)
    _say(f"{len(session.records)} messages in {out}")


def _settings(folder: Path, wanted: Recording) -> Settings:
    flags: dict[str, object] = {
        "data": str(folder),
        "packs": [str(ROOT / "packs" / "survival")],
        "model.name": wanted.model,
        "model.api_base": wanted.api_base,
        "model.api_key": None if wanted.model is None else "none",
        "model.max_tokens": 60,
        # No limit: the game is played faster than a second a step.
        "intake.rate": 0,
        # Each answer shows what the rules are worth, so none waits for another.
        "cooldown_s": 0,
        "heuristic_cooldown_s": 0,
    }
    if wanted.explore is not None:
        flags |= {
            "exploration.scheme": "challenger",
            "exploration.challenger": wanted.explore,
            "exploration.rate": wanted.rate,
        }
    return load(flags, environment={}, folder=folder)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Read the arguments and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=700)
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--title", default="An evening of Crafter")
    parser.add_argument("--explore", metavar="STRATEGY")
    parser.add_argument("--rate", type=float, default=0.4)
    parser.add_argument("--model")
    parser.add_argument("--api-base")
    given = vars(parser.parse_args())
    asyncio.run(record(given.pop("out"), Recording(**given)))


if __name__ == "__main__":
    main()
