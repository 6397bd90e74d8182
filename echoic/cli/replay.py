"""`echoic replay`: decide again what was recorded, and compare."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from echoic import errors
from echoic.cli import replay_compare, replay_estimate, replay_plan
from echoic.cli.connected import aid_provider
from echoic.cli.options import Call, Jobs, new_app
from echoic.cli.progress import Progress
from echoic.client import known_agents, session_sealing
from echoic.client.comparison import sources
from echoic.client.connection import Connection, connect
from echoic.client.recordings import Source, file_of, is_path, opened, tell_altered
from echoic.client.verification import verify_all
from echoic.config.load import Settings
from echoic.embedders import embedder
from echoic.errors import EchoicError
from echoic.terminal.output import note
from echoic.terminal.verification import fields_of, reread_screen, screen_of
from handlers.aids import AidProvider, PackLibrary
from replay.recording.sessions import find_session
from replay.reread import Rereading
from replay.verify import Span, Verification
from replay.verify import verify as verify_span
from replay.world import WorldVerification, verify_session, verify_world
from schemas.codec.decode import read_input, read_output
from schemas.values import timezones
from schemas.values.settings import CodeDigests
from schemas.values.subjects import inputs_of, parse, partition_of
from streams.jetstream.sealed_log import KEYS_MISSING, lacks_keys
from streams.session_files.file import SessionFile, read_session, world_of
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
    reread: bool = False,
) -> None:
    """Decide again under the recorded strategy: every output must come out the same.

    Examples: `echoic replay verify` (all of the agent), `echoic replay verify evening`,
    `echoic replay verify packs/survival/recording/evening.echoic`, `echoic replay verify
    --all-agents`. The exit code is 1 if one differs, or cannot be made again since the keys
    of a sealed log are missing: what is `sealed` so proves nothing. Of a world's file every
    member is decided again, or the `--agent`; what one told another must stem from an ask in
    it.

    Args:
        session: A session's id, or a file.
        all_agents: Every agent, in several processes.
        reread: Only read again what models sent, and list what is read otherwise today.
    """
    settings = call.settings
    is_named = settings.origins["agent"].startswith("flag") or session is not None
    if all_agents and is_named:
        raise EchoicError("--all-agents: name no session and no agent beside it")
    if reread:
        _reread(call, session)
        return
    found: Verification | WorldVerification
    is_of_file = session is not None and is_path(session)
    if not is_of_file:
        asyncio.run(_tell_of_keys(settings))
    with Progress("decided again", is_silent=call.as_json) as progress:
        if all_agents:
            found = verify_all(settings, _digests(settings), progress, jobs)
        elif session is not None and is_path(session):
            found = asyncio.run(_of_file(settings, file_of(session), progress))
        else:
            found = asyncio.run(_of_log(settings, session, progress))
    if not call.as_json:
        whole = found.whole if isinstance(found, WorldVerification) else found
        for each in whole.notes:
            note(each)
    fields = fields_of(found)
    call.show(fields, screen_of(found))
    if not found.is_identical or fields["verdict"] != "identical":
        raise typer.Exit(errors.FINDING)


def _reread(call: Call, session: str | None) -> None:
    """List the replies that today's reader reads otherwise."""
    found = asyncio.run(
        _read_again(sources(call.settings, [session] if session else []))
    )
    differing = [asdict(each) for each in found.found]
    fields = {"reader": found.version, "replies": found.replies, "differing": differing}
    call.show(fields, reread_screen(found))
    if found.found:
        raise typer.Exit(errors.FINDING)


async def _read_again(sources: Sequence[Source]) -> Rereading:
    """Read what models sent in all sources, and return where it differs from what was said.

    Raises:
        SessionFileError: a file is none, of another version, cut or damaged.
        RecordingError: there is no such session, or no decision in it.
        LogUnavailable: the broker does not answer.
    """
    rereading = Rereading()
    for source in sources:
        async with opened(source) as (recording, _):
            tell_altered(recording.origin, recording.altered)
            async for group in recording.groups():
                if recording.concerns(group):
                    outputs = [read_output(each) for each in group.outputs]
                    rereading.take(read_input(group.input), outputs)
    return rereading


async def _tell_of_keys(settings: Settings) -> None:
    """Say at once that the keys of a sealed log are missing."""
    async with connect(settings) as connection:
        if await lacks_keys(connection.log):
            note(KEYS_MISSING)


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


async def _of_file(
    settings: Settings, path: Path, progress: Progress
) -> Verification | WorldVerification:
    made, digests = embedder(settings["embedder"]), _digests(settings)

    def providing(log: SessionLog) -> AidProvider:
        return AidProvider(made, PackLibrary(log, made))

    world = world_of(path)
    named = None
    if settings.origins["agent"].startswith("flag"):
        named = settings.agent
    if world is None or named is not None:
        file = await session_sealing.opened(settings, read_session(path, named))
        before, last = file.header.first - 1, file.header.last
        return await verify_session(
            file,
            providing,
            digests,
            lambda sequence: progress(sequence - before, last - before),
        )
    members = [
        await session_sealing.opened(settings, read_session(path, each))
        for each in world.members
    ]
    done, whole = count(1), sum(map(_inputs, members))
    return await verify_world(
        members, providing, digests, lambda _: progress(next(done), whole)
    )


def _inputs(file: SessionFile) -> int:
    return sum(parse(record.subject).direction == "in" for record in file.records)


def _digests(settings: Settings) -> CodeDigests:
    made = embedder(settings["embedder"])
    return CodeDigests(
        version=version("echoic"), embedder=made.digest, tzdata=timezones.edition()
    )
