"""`echoic replay`: decide again what was recorded, and compare."""

import asyncio
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from echoic import errors
from echoic.cli import replay_compare, replay_estimate, replay_plan
from echoic.cli.connected import aid_provider
from echoic.cli.options import Call, Jobs, new_app
from echoic.cli.progress import Progress
from echoic.client import known_agents
from echoic.client.connection import Connection, connect
from echoic.client.recordings import is_path
from echoic.client.verification import verify_all
from echoic.config.load import Settings
from echoic.embedders import embedder
from echoic.errors import EchoicError
from echoic.packs import bundled
from echoic.terminal.output import note
from echoic.terminal.screen import marked, pairs
from handlers.aids import AidProvider, PackLibrary
from replay.recording.sessions import find_session, start_of
from replay.verify import Span, Verification
from replay.verify import verify as verify_span
from schemas.values import timezones
from schemas.values.settings import CodeDigests
from schemas.values.subjects import inputs_of, partition_of
from streams.session_files.file import read_session
from streams.session_files.memory_log import SessionLog

app = new_app("replay", "Decide a session again, and compare.")
app.command()(replay_compare.compare)
app.command()(replay_estimate.estimate)
app.command()(replay_plan.plan)


@app.callback()
def _group() -> None:
    """Decide a session again, and compare."""


@app.command()
def verify(
    call: Call,
    session: Annotated[str | None, typer.Argument(metavar="[SESSION|FILE]")] = None,
    all_agents: bool = False,
    jobs: Jobs = None,
) -> None:
    """Decide again under the recorded strategy: every output must come out the same.

    Examples: `echoic replay verify` (all of the agent), `echoic replay verify evening`,
    `echoic replay verify packs/survival/recording/evening.echoic`, `echoic replay verify
    --all-agents`. The exit code is 1 if one differs.

    Args:
        session: A session's id, or a file.
        all_agents: Every agent, in several processes.
    """
    settings = call.settings
    is_named = settings.origins["agent"].startswith("flag") or session is not None
    if all_agents and is_named:
        raise EchoicError("--all-agents: name no session and no agent beside it")
    with Progress("decided again", is_silent=call.as_json) as progress:
        if all_agents:
            found = verify_all(settings, _digests(settings), progress, jobs)
        elif session is not None and is_path(session):
            found = asyncio.run(
                _of_file(settings, bundled.found(Path(session)), progress)
            )
        else:
            found = asyncio.run(_of_log(settings, session, progress))
    if not call.as_json:
        for each in found.notes:
            note(each)
    fields = {**asdict(found), "is_identical": found.is_identical}
    call.show(fields, _screen(found))
    if not found.is_identical:
        raise typer.Exit(errors.FINDING)


async def _of_log(
    settings: Settings, session: str | None, progress: Progress
) -> Verification:
    async with connect(settings) as connection:
        await known_agents.check(connection)
        log, provider = connection.log, aid_provider(connection)
        span = await _span(connection, session, provider)
        # The end is read once, so that a log that grows meanwhile does not move the bar.
        last = span.until or await log.last_sequence(inputs_of(span.partition))
        return await verify_span(
            log,
            span,
            provider,
            digests=_digests(settings),
            progress=lambda sequence: progress(sequence, last),
        )


async def _span(
    connection: Connection, session: str | None, provider: AidProvider
) -> Span:
    agent = connection.settings.agent
    if session is None:
        return Span(partition_of(agent), agent=agent)
    found = await find_session(connection.log, agent, session, provider)
    # A span begins after a sequence, not at it.
    return Span(partition_of(agent), found.first - 1, found.last, agent)


async def _of_file(settings: Settings, path: Path, progress: Progress) -> Verification:
    file = read_session(path)
    log = SessionLog(file)
    made = embedder(settings["embedder"])
    header = file.header
    before = header.first - 1
    return await verify_span(
        log,
        Span(header.partition, before, header.last, header.agent),
        AidProvider(made, PackLibrary(log, made)),
        start=start_of(file),
        expected_chain=file.trailer.chain,
        digests=_digests(settings),
        progress=lambda sequence: progress(sequence - before, header.last - before),
    )


def _digests(settings: Settings) -> CodeDigests:
    made = embedder(settings["embedder"])
    return CodeDigests(
        version=version("echoic"), embedder=made.digest, tzdata=timezones.edition()
    )


def _screen(found: Verification) -> Iterator[RenderableType]:
    mark = ("✓", "green") if found.is_identical else ("✗", "red")
    yield marked(
        mark,
        f"{found.identical}/{found.total} outputs identical,"
        f" {found.inputs} inputs decided again",
    )
    first = found.divergence
    if first is not None:
        place = "" if first.index is None else f", output {first.index}"
        field = "" if first.path is None else f", field {first.path}"
        yield f"first divergence at input {first.sequence}{place}: {first.what}{field}"
        yield pairs(
            {"recorded": first.recorded or "-", "replayed": first.replayed or "-"}
        )
