"""The checks of `doctor`: the installation, the data folder, and a running instance.

A check never raises; an error becomes its finding, with advice how to mend it.
"""

import os
import platform
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nats.errors import Error as NatsError

from echoic.client import health, known_agents, missed, peace, storage
from echoic.client.connection import Connection, connect
from echoic.client.instance_note import read_note
from echoic.client.owners import Owner, owners, unowned
from echoic.client.read_models import serving_version
from echoic.client.watch import last_answered, settings_in_force
from echoic.config.load import Settings
from echoic.errors import EchoicError, NotRunningError
from echoic.packs.bundled import extra
from echoic.terminal.screen import counted
from echoic.tracing.collector import Collector, endpoint
from projections.errors import LogTruncated, ProjectionError, StoreUnusable
from schemas.codec.decode import read_output
from schemas.messages.notes import Quarantined, TimerFailed
from schemas.values.lazily import Lazily
from schemas.values.model_settings import chain_in_words
from schemas.values.subjects import PARTITIONS, inputs_of, range_text
from streams.errors import StreamsError
from streams.jetstream.migrate import check as check_streams
from streams.jetstream.sealed_log import KEYS_MISSING, lacks_keys
from streams.log import ReadableLog, scan

if TYPE_CHECKING:
    from echoic.client import backup as backups
    from echoic.run import restoring
    from projections.postgres import server as database
    from projections.projector import checks as of_tables
    from projections.store import glance as glancing
    from projections.store import queries
    from streams.broker import server as broker
else:
    # `status` makes a few of these checks, and each command on its own has to be quick.
    backups = Lazily("echoic.client.backup")
    restoring = Lazily("echoic.run.restoring")
    broker = Lazily("streams.broker.server")
    database = Lazily("projections.postgres.server")
    of_tables = Lazily("projections.projector.checks")
    queries = Lazily("projections.store.queries")
    glancing = Lazily("projections.store.glance")

# Less free space than a gigabyte is a problem.
_ROOM_BYTES = 1_000_000_000
_MISSED_SHOWN = 5

_Verdict = Literal["fine", "notice", "problem"]
_Finding = tuple[_Verdict, str] | tuple[_Verdict, str, str]
"""A verdict, what was found, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check and its result."""

    name: str
    verdict: _Verdict
    found: str
    advice: str | None = None


def of_installation(settings: Settings) -> list[Check]:
    """Run the checks that need no instance."""
    checks = [_python(), _room(settings.data)]
    if settings.speech_numbers != "off" and find_spec("num2words") is None:
        why = "num2words is not installed: numbers are spoken as they are written"
        checks.append(Check("speech", "problem", why, extra("speech")))
    # Where the settings name another's server, ours need not be installed.
    if settings.database_url is None:
        found = _guarded(
            "postgresql", lambda: str(database.binaries()), "set DATABASE_URL"
        )
        checks.insert(1, found)
    if settings.nats_url is None:
        found = _guarded(
            "nats-server", lambda: str(broker.server_binary()), "set NATS_URL"
        )
        checks.insert(1, found)
    return checks


async def of_instance(settings: Settings) -> list[Check]:
    """Run the checks of the running instance, which also tries its model and collector.

    If none runs, look into its folder, and check what one with these settings would use.
    """
    would_use = [_model(settings), _collector(settings)]
    try:
        async with connect(settings) as connection:
            checks = [Check("instance", "fine", _where(settings))]
            checks += [await _looked(name, connection) for name in _LOOKS]
            return [*checks, *await _tried(connection, settings)]
    except NotRunningError as error:
        instance = Check("instance", "notice", error.what, error.next_step)
        return [instance, *await _of_stopped(settings), *would_use]
    except (EchoicError, StreamsError, OSError) as error:
        instance = Check("instance", "problem", str(error), "echoic down; echoic up")
        return [instance, *would_use]


async def _of_stopped(settings: Settings) -> list[Check]:
    """Look into the folder of an instance that does not run, by a broker started for it."""
    if settings.nats_url is not None or not restoring.holds_log(settings.data):
        return []
    try:
        async with restoring.over_stopped(settings) as connection:
            looked = [await _looked(each, connection) for each in _OF_STOPPED]
    # An instance is about to start.
    except EchoicError:
        return []
    except (StreamsError, OSError) as error:
        return [Check("log", "problem", str(error), "echoic log verify")]
    return [Check("log", "fine", "the broker can read what it has"), *looked]


async def _privacy(connection: Connection) -> _Finding:
    keys = connection.log.keyring
    if keys is None:
        return (
            "notice",
            "the log is in clear: nobody can be forgotten (privacy.seal=off)",
        )
    if await lacks_keys(connection.log):
        return "problem", KEYS_MISSING, "echoic replay verify --all-agents"
    begun = await keys.unfinished()
    if begun:
        agent, person = begun[0]
        return (
            "problem",
            f"{counted(len(begun), 'person')} not wholly forgotten",
            f"echoic forget {person} --agent {agent}",
        )
    return "fine", "the log is sealed, and nobody is half forgotten"


async def of_flow(connection: Connection) -> list[Check]:
    """Check whether worker and read models keep up, what was set apart, and the room."""
    flow = ("worker", "read models", "quarantine", "storage", "backups")
    return [await _looked(name, connection) for name in flow]


async def _tried(connection: Connection, settings: Settings) -> list[Check]:
    """Return what the instance found when it tried its model and collector."""
    try:
        tried = await health.ask(connection.client)
    # ValueError and TypeError: an older version answers in other words.
    except (NatsError, TimeoutError, ValueError, TypeError) as error:
        found = f"the instance does not say how it is: {error!r}"
        return [Check("health", "problem", found, "echoic down; echoic up")]
    verdicts: dict[health.Works, _Verdict] = {
        "works": "fine",
        "none": "notice",
        "fails": "problem",
        "unpriced": "problem",
    }
    return [
        Check(
            name,
            verdicts[each.works],
            each.found,
            _ADVICE.get((name, each.works), "").format(data=settings.data) or None,
        )
        for name, each in tried.items()
    ]


_ADVICE = {
    ("model", "none"): "start the instance with a model.name, for example"
    " ECHOIC_MODEL_NAME=ollama/llama3.2",
    ("model", "fails"): "start the model's server, or correct model.* and start the"
    " instance again",
    ("model", "unpriced"): "set model.price, for example ECHOIC_MODEL_PRICE=0.15,0.60",
    ("traces", "none"): "open {data}/traces.otlp.jsonl with 'Upload' in Jaeger",
    ("traces", "fails"): "see the collector's own log; till then they go into"
    " {data}/traces.otlp.jsonl",
}


def _python() -> Check:
    found = f"{platform.python_version()} on {platform.platform(terse=True)}"
    return Check("python", "fine", found)


def _guarded(name: str, look: Callable[[], str], otherwise: str) -> Check:
    try:
        return Check(name, "fine", look())
    except (StreamsError, ProjectionError) as error:
        return Check(name, "problem", str(error), otherwise)


def _room(data: Path) -> Check:
    # The folder may not exist before the first start; its nearest parent counts then.
    existing = next(each for each in (data, *data.parents) if os.access(each, os.F_OK))
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        found = f"{existing} is no folder that we may write to"
        return Check("data", "problem", found, "use another folder with --data")
    free = shutil.disk_usage(existing).free
    found = f"{data}, {free / 1e9:.1f} GB free"
    if free < _ROOM_BYTES:
        return Check("data", "problem", found, "free some space, or use --data")
    return Check("data", "fine", found)


def _model(settings: Settings) -> Check:
    if settings["model.name"] is None:
        return Check(
            "model",
            "notice",
            "none: only what was learnt answers",
            "set model.name, for example ECHOIC_MODEL_NAME=ollama/llama3.2",
        )
    if find_spec("litellm") is None:
        return Check("model", "problem", "litellm is not installed", extra("model"))
    # Only an instance tries it: it alone has the keys and the network that count.
    at = f" at {settings.model_api_base}" if settings.model_api_base else ""
    named = chain_in_words(settings["model.name"])
    found = f"{named}{at}: not tried, as no instance answers"
    return Check("model", "notice", found, "echoic up --detach; echoic doctor")


def _collector(settings: Settings) -> Check:
    try:
        collector = Collector(endpoint(settings.trace_endpoint, os.environ))
    except EchoicError as error:
        return Check("traces", "problem", error.what, error.next_step)
    if collector.answers():
        return Check("traces", "fine", f"collector at {collector.name}")
    return Check(
        "traces",
        "notice",
        f"no collector at {collector.name}: they go into a file",
        f"open {settings.data / 'traces.otlp.jsonl'} with 'Upload' in Jaeger",
    )


def _where(settings: Settings) -> str:
    note = read_note(settings.data)
    if settings.nats_url is not None or note is None:
        return "the broker of the settings answers"
    return f"process {note.pid}, since {note.started_at}"


async def _looked(name: str, connection: Connection) -> Check:
    try:
        return Check(name, *await _LOOKS[name](connection))
    except (EchoicError, StreamsError, ProjectionError, OSError) as error:
        return Check(name, "problem", str(error), "echoic log verify")


async def _streams(connection: Connection) -> _Finding:
    epoch = await check_streams(connection.client)
    return "fine", f"as they should be, epoch {epoch}"


async def _intake(connection: Connection) -> _Finding:
    lacking, lost = await missed.missed_of(connection)
    if lost:
        shown = ", ".join(map(str, lost[:_MISSED_SHOWN]))
        count = counted(sum(each.count for each in lost), "acknowledged message")
        found = f"the broker lost {count} that the log does not have: {shown}"
        return "problem", found, "look after the disk; who sent them has to send again"
    if not lacking:
        return "fine", "the log has taken what was acknowledged"
    shown = "; ".join(f"{each.agent}: {each}" for each in lacking[:_MISSED_SHOWN])
    return (
        "problem",
        f"the log missed {counted(len(lacking), 'acknowledged message')}: {shown}",
        "wait half a minute, as an instance brings them over; else: echoic down; echoic up",
    )


async def _packs(connection: Connection) -> _Finding:
    lost = await missed.lost_packs(connection.log)
    if not lost:
        return "fine", "each that the log names can be read"
    found = f"the broker cannot hand out {', '.join(lost)}"
    return "problem", found, "echoic up --pack FOLDER; else echoic restore last"


async def _topics(connection: Connection) -> _Finding:
    told = await known_agents.told_topics(connection.client)
    rule = "docs/operations.md#mqtt-and-websockets says as which subjects they are read"
    return ("notice", told, rule) if told else ("fine", "none of MQTT had to be mapped")


async def _worker(connection: Connection) -> _Finding:
    log = connection.log
    behind = 0
    for partition in range(PARTITIONS):
        # The input is read first: one that comes in between cannot look unanswered.
        last = await log.last_sequence(inputs_of(partition))
        if last > await last_answered(connection.log, partition):
            behind += 1
    found = await owners(connection.client)
    if missing := range_text(unowned(found)):
        return (
            "problem",
            f"no worker owns the partitions {missing}{_by(found)}",
            "wait a moment: a worker that starts, or stands by, takes them; else: echoic"
            f" worker --partitions {missing}",
        )
    if behind:
        return (
            "problem",
            f"{counted(behind, 'partition')} with inputs that nobody answered",
            "wait a moment, else: echoic down; echoic up",
        )
    return "fine", f"every input is answered{_by(found)}"


def _by(found: Sequence[Owner]) -> str:
    """Return which workers own what and stand by for what; "" of one that owns all."""
    if not found or (len(found) == 1 and not found[0].has_standbys):
        return ""
    said = (
        f"{each.name} {'owns' if each.partitions else 'stands by for'} {each.range}"
        for each in found
    )
    return f"; {', '.join(said)}"


async def _read_models(connection: Connection) -> _Finding:
    with glancing.Glance(connection.needed_database()) as store:
        serving = await serving_version(store)
        stands = store.positions(serving.number)
        # Only a rebuild mends tables of another version, or of a log that was replaced.
        try:
            of_tables.check_shape(serving)
            await of_tables.check_positions(connection.log, stands)
        except (StoreUnusable, LogTruncated) as error:
            return "problem", str(error), "echoic projection rebuild"
        lacking = queries.without_rows(store)
    behind = 0
    for partition in range(PARTITIONS):
        position = stands.get(partition)
        answered = await last_answered(connection.log, partition)
        # Positions are those of causes, as is the sequence of the last answer's input.
        behind += answered > (position.sequence if position else 0)
    if behind:
        return (
            "notice",
            f"{counted(behind, 'partition')} behind the log",
            "echoic projection lag",
        )
    if lacking:
        return (
            "notice",
            f"the rows of {counted(len(lacking), 'input')} are missing, the last at"
            f" {lacking[0].sequence}: {lacking[0].detail}",
            "with a version that mends it: echoic projection rebuild",
        )
    return "fine", "up with the log"


async def _quarantine(connection: Connection) -> _Finding:
    reasons = await _set_apart(connection.log)
    if not reasons:
        return "fine", "empty"
    found = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    if reasons["rate"]:
        found += "; `rate`: a source sends more than intake.rate allows"
    return "notice", found, "echoic log tail --kind note"


async def _storage(connection: Connection) -> _Finding:
    looked = await storage.look(connection)
    if looked.is_full:
        return (
            "problem",
            looked.found,
            "free some space; whose messages are no use: echoic sensor revoke",
        )
    if looked.is_short:
        return "notice", looked.found, "mend the sensor, or raise intake.*_mb"
    return "fine", looked.found


async def _backups(connection: Connection) -> _Finding:
    settings = connection.settings
    if settings.nats_url is not None:
        return "fine", "a broker of yours is backed up by you: echoic backup FOLDER"
    made, why = backups.own(settings.data), backups.failure(settings.data)
    held = f"{counted(len(made), 'backup')}" if made else "no backup yet"
    if made:
        held += f", the last {made[-1].name}"
    if why is not None:
        advice = (
            "free some space, or look into echoic.log; meanwhile echoic backup FOLDER"
        )
        return "problem", f"{held}: the next one failed: {why}", advice
    if settings.backup_every == "off":
        return "notice", f"{held}: backup.every is off", "echoic backup FOLDER"
    return "fine", f"{held}: one every {settings.backup_every} if anything came"


async def _quiet(connection: Connection) -> _Finding:
    held = await peace.of_all(connection)
    hours = peace.quiet_hours(await settings_in_force(connection.log, 0))
    if not held and hours is None:
        return "fine", "nobody asked for it"
    command = f"echoic {held[0].mode} off --agent {held[0].agent}" if held else None
    advice = command or "echoic config show"
    return "notice", peace.told(held, hours), advice


async def _set_apart(log: ReadableLog) -> Counter[str]:
    """Count the inputs in quarantine by reason, and the timers that failed by purpose."""
    reasons: Counter[str] = Counter()
    for kind in (Quarantined, TimerFailed):
        async for record in scan(log, f"ev.*.out.*.note.{kind.token}"):
            message = read_output(record).message
            if isinstance(message, TimerFailed):
                reasons[f"failed timer of {message.purpose}"] += 1
            else:
                assert isinstance(message, Quarantined)
                reasons[message.reason] += 1
    return reasons


_LOOKS: dict[str, Callable[[Connection], Awaitable[_Finding]]] = {
    "streams": _streams,
    "intake": _intake,
    "packs": _packs,
    "topics": _topics,
    "worker": _worker,
    "read models": _read_models,
    "quarantine": _quarantine,
    "storage": _storage,
    "backups": _backups,
    "quiet": _quiet,
    "privacy": _privacy,
}

_OF_STOPPED = "intake", "packs", "backups", "privacy"
"""What can be looked at without an instance."""
