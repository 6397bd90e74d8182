"""The demo: a recorded game, played through a real instance that is thrown away.

A broker and a database start over a folder of their own, the recorded events go through
the same subjects as a live sensor's, and each decision is shown as it is made. At the end
the whole session is decided again, and must come out the same.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from uuid import uuid4

from msgspec.structs import replace
from rich.console import RenderableType

from echoic.client import watch
from echoic.client.connection import Connection
from echoic.client.names import Names, heuristic_names
from echoic.client.playback import PlayedEvent, PlayedVote, played
from echoic.client.publish import publish_raw, tell
from echoic.client.read_models import up_to_date
from echoic.client.sensor_access import sensor_credentials
from echoic.config.load import Settings, load
from echoic.demo import home
from echoic.demo import report as demo_report
from echoic.demo.report import Report
from echoic.explain import explain
from echoic.packs import bundled
from echoic.run.instance import Instance, instance
from echoic.run.process import keep_private
from echoic.terminal import decisions, explanation
from echoic.terminal.called import program
from echoic.terminal.output import note, print_json, show, terminal
from echoic.terminal.screen import indented, pairs, rendered, text
from handlers.aids import AidProvider, PackLibrary
from replay.recording.decisions import DecisionRecord
from replay.verify import Span, Verification, verify
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.values.subjects import partition_of
from streams.jetstream.connection import connected
from streams.jetstream.hardened_client import BrokerClient
from streams.session_files.file import read_session

AGENT = "companion"
PATIENCE_S = 20.0
"""How long to wait for the last decisions."""

_EXPLAINED = ("habituated", "below_relevance", "llm_unavailable")
"""Which silence to explain, the most instructive first."""

_NO_MODEL = (
    "no model is set, so what no heuristic is trusted with stays unanswered; said once"
)
_HOME = "what waits, a reminder, and what may be said in spite of “be quiet”."
_NEXT = {
    "up --detach": "keep an instance running",
    "sensor crafter": "play a live game for it",
    "explain --last-silent": "ask why it was quiet",
}


def run(*, speed: float, as_json: bool) -> int:
    """Run the demo and return its exit code: 1 if the replay differs."""
    # A folder of its own: the demo never touches an instance that runs.
    with tempfile.TemporaryDirectory(prefix="echoic-demo-") as folder:
        keep_private(Path(folder))
        report = asyncio.run(_demo(Path(folder), speed, quiet=as_json))
    if as_json:
        print_json(demo_report.as_fields(report))
    else:
        _close(report)
    is_whole = report.is_identical and len(report.records) == report.events
    return 0 if is_whole else 1


async def _demo(folder: Path, speed: float, *, quiet: bool) -> Report:
    settings = _settings(folder)
    _note_start(folder, quiet)
    async with AsyncExitStack() as stack:
        async with _told_each_second("they start", quiet=quiet):
            live = await stack.enter_async_context(
                instance(settings, _unsaid, durable=False)
            )
            follower = await _begun(live, quiet)
        watching = asyncio.create_task(follower.watch())
        begun = time.monotonic()
        events = await _play(live, follower, speed)
        await follower.until(events)
        seconds = time.monotonic() - begun
        watching.cancel()
        state = live.worker.state_of(AGENT)
        await tell(live.log, AGENT, SessionEnded())
        if state is None:
            raise AssertionError("the worker knows no state of the demo's agent")
        what = "a few minutes at home, and both sessions are decided again"
        async with _told_each_second(what, quiet=quiet):
            return Report(
                events=events,
                records=tuple(follower.records.values()),
                state=state,
                home=await home.play(live),
                verification=await _verify(live, AGENT),
                home_verification=await _verify(live, home.AGENT),
                names=follower.names,
                seconds=seconds,
            )


async def _begun(live: Instance, quiet: bool) -> "_Follower":
    """Begin the session, and return its follower once the read models are up."""
    follower = _Follower(live, quiet=quiet)
    started = SessionStarted(
        session_id="demo", title="A recorded evening of Crafter", clock="event"
    )
    await tell(live.log, AGENT, started)
    await follower.prepare()
    await _tables_are_up(live)
    return follower


class _Follower:
    """A follower of the decisions: it prints them, and knows when all have been made."""

    def __init__(self, live: Instance, *, quiet: bool) -> None:
        self.records: dict[str, DecisionRecord] = {}
        """By the id of the event decided on."""
        self.names: Names = {}
        self._live = live
        self._quiet = quiet
        self._news = asyncio.Condition()

    async def prepare(self) -> None:
        """Learn what the heuristics are called."""
        self.names = await heuristic_names(self._live.log, AGENT)

    async def watch(self) -> None:
        """Take in decisions until cancelled."""
        commentary = _Commentary(self.names)
        if not self._quiet:
            note(rendered([decisions.heading(terminal())], terminal()))
        async for record in watch.decisions(self._live.log, AGENT, 0):
            if not self._quiet:
                show(*commentary.lines(record))
            async with self._news:
                self.records[record.decided.event_id] = record
                self._news.notify_all()

    async def decided(self, event_id: str) -> DecisionRecord:
        """Wait for the decision on an event, at most `PATIENCE_S`."""
        async with asyncio.timeout(PATIENCE_S), self._news:
            await self._news.wait_for(lambda: event_id in self.records)
        return self.records[event_id]

    async def until(self, count: int) -> None:
        """Wait until so many events are decided on."""
        async with asyncio.timeout(PATIENCE_S), self._news:
            await self._news.wait_for(lambda: len(self.records) >= count)


async def _tables_are_up(live: Instance) -> None:
    """Let the read models start first: the demo's latency is not that of a start."""
    url = live.database_url
    async with up_to_date(Connection(live.settings, live.client, live.log, url)):
        pass


async def _play(live: Instance, follower: _Follower, speed: float) -> int:
    """Publish what was recorded, so many events a second; return how many there were."""
    session = read_session(bundled.RECORDING)
    count = 0
    async with AsyncExitStack() as stack:
        sensor = await _sensor(stack, live)
        begun = time.monotonic()
        for item in played(session, AGENT, uuid4()):
            match item:
                case PlayedEvent():
                    # From the begin, so that slow publishing does not lower the rate; a
                    # negative time only yields to the loop.
                    await asyncio.sleep(begun + count / speed - time.monotonic())
                    wire = item.wire
                    await publish_raw(sensor, wire.subject, wire.body, wire.headers)
                    count += 1
                case PlayedVote():
                    await _vote(live, follower, item)
    return count


async def _sensor(stack: AsyncExitStack, live: Instance) -> BrokerClient:
    """Connect with the rights of a sensor, and no others."""
    credentials = await sensor_credentials(live.settings, AGENT, "crafter")
    return await stack.enter_async_context(connected(credentials, "crafter"))


async def _vote(live: Instance, follower: _Follower, vote: PlayedVote) -> None:
    # The recorded decision has another id here; the vote follows its event.
    record = await follower.decided(vote.event_id)
    given = replace(vote.given, decision_id=record.id)
    await tell(live.log, AGENT, given)


async def _verify(live: Instance, agent: str) -> Verification:
    """Decide an agent's whole session again, from the log alone."""
    provider = AidProvider(live.embedder, PackLibrary(live.log, live.embedder))
    return await verify(live.log, Span(partition_of(agent), agent=agent), provider)


def _settings(folder: Path) -> Settings:
    """Return settings from flags and defaults alone: the same demo on every machine.

    The user's own file is not read either, whose listeners an instance may have taken. Only
    where traces go is the environment's to say.
    """
    flags = {
        "data": str(folder),
        "agent": AGENT,
        "packs": [str(bundled.PACKS / "survival")],
        "model.name": "",
        # No limit: an evening is played in seconds.
        "intake.rate": 0.0,
        "metrics.listen": "off",
        # Chance is by the ids of events, which are others in each run.
        "learning.trials": 0.0,
    }
    tracing = {k: v for k, v in os.environ.items() if k.startswith(_TRACING)}
    # No folder of that name is made: there are no settings of one's own.
    nobodys = {"XDG_CONFIG_HOME": str(folder / "no-config")}
    return load(flags, environment={**tracing, **nobodys}, folder=folder)


def _note_start(folder: Path, quiet: bool) -> None:
    if not quiet:
        note(
            f"a broker and a database start in {folder}, and are thrown away at the"
            " end; no network, no key, no model"
        )


_TRACING = "OTEL_"


def _unsaid(text: str) -> None:
    """Drop the instance's notes, such as that no collector of traces is set.

    Whoever set one hears that it does not answer.
    """
    if "collector" in text and any(each.startswith(_TRACING) for each in os.environ):
        note(text)


def _close(report: Report) -> None:
    show("", *demo_report.summary(report))
    for question, record in (
        ("Why did it say that?", _instructive_answer(report)),
        ("Why was it quiet?", _instructive_silence(report)),
    ):
        if record is not None:
            why = explain.explain(record, report.names)
            show("", text((question, "bold"), " For example here:"), "")
            show(*explanation.explained_alone(record, why))
    show("", text(("A few minutes at home:", "bold"), f" {_HOME}"), "")
    show(*report.home.lines())
    show("", "Next:", pairs({f"{program()} {name}": _NEXT[name] for name in _NEXT}))
    show("", "And both sessions, decided again from the log alone:")
    show(*demo_report.proof(report))


def _instructive_answer(report: Report) -> DecisionRecord | None:
    """Return an answer of the heuristic that its outcomes lifted most."""
    for heuristic_id, _ in demo_report.moved(report.state):
        for record in report.records:
            if record.said is not None and record.heuristic_id == heuristic_id:
                return record
    return None


def _instructive_silence(report: Report) -> DecisionRecord | None:
    for reason in _EXPLAINED:
        for record in report.records:
            if record.silence == reason and record.decided.gates:
                return record
    return None


class _Commentary:
    """Print each kind of decision once; repeats are counted, not listed."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._shown: set[str | None] = set()
        self._spoke = 0
        self._silent = 0

    def lines(self, record: DecisionRecord) -> Iterator[RenderableType]:
        """Yield the line of a decision, or nothing if one like it was shown."""
        spoke = record.said is not None
        kind = record.heuristic_id if spoke else record.silence
        if kind in self._shown:
            self._spoke += spoke
            self._silent += not spoke
            return
        self._shown.add(kind)
        yield from self.rest()
        yield decisions.line(record, self._names, terminal())
        if kind == "llm_unavailable":
            yield indented(9, (_NO_MODEL, "dim"))

    def rest(self) -> Iterator[RenderableType]:
        """Yield the figures of what was folded since the last line."""
        counts = ((self._spoke, "spoke"), (self._silent, "silent"))
        folded = ", ".join(f"{count:,} {word}" for count, word in counts if count)
        if folded:
            yield indented(9, (f"… more like those above: {folded}", "dim"))
        self._spoke = self._silent = 0


@asynccontextmanager
async def _told_each_second(what: str, *, quiet: bool) -> AsyncIterator[None]:
    """Say each second that `what` goes on, and since when; nothing if quiet."""
    ticking = asyncio.create_task(_tick(what, quiet))
    try:
        yield
    finally:
        ticking.cancel()


async def _tick(what: str, quiet: bool) -> None:
    second = 0
    while not quiet:
        await asyncio.sleep(1)
        second += 1
        note(f"  {what}: {second} s")
