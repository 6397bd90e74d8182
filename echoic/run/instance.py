"""The composition root: every part of a running instance is made and joined here.

Parts start in the order of their dependencies and end in the reverse one. The mind needs
the broker alone; without PostgreSQL it runs, and its read models are reported stale.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from echoic.client import forgetting, health
from echoic.client import packs as packs_in_force
from echoic.client.admission import limits_of, take_of_day
from echoic.client.connection import LiveLog, open_log
from echoic.client.instance_note import sole_instance
from echoic.client.sensor_access import grant_all, renew_addresses
from echoic.config.load import Settings, mind_settings
from echoic.doors import micro
from echoic.doors.services import Services
from echoic.embedders import embedder
from echoic.errors import SettingsError
from echoic.metrics.catalogue import PROJECTOR, WORKERS
from echoic.metrics.endpoint import served
from echoic.metrics.gauges import InstanceGauges
from echoic.metrics.reports import Reports
from echoic.run import channels, segmenting, shared_settings, worker_process
from echoic.run.backing_up import keep_backed_up
from echoic.run.memory import TableMemory
from echoic.run.projector_process import Job, keep_up
from echoic.run.servers import Servers, start_servers
from echoic.run.starting import Steps
from echoic.run.supervision import Notify
from echoic.run.tasks import Tasks
from echoic.tracing.destinations import SPOOL
from handlers.broker import faststream_broker, start, stop
from handlers.effects.models import LiteLLM, Model
from handlers.effects.perform import Performer
from handlers.effects.subscribers import Effects
from handlers.mind.strategies import plugin
from handlers.worker.loop import Worker
from handlers.worker.stray_subjects import reappend
from projections.store.store import Store
from schemas.messages.controls import MindStarted
from schemas.packs.manifest import Pack
from schemas.values.settings import MatchLimits
from schemas.values.subjects import PARTITIONS, outputs_of
from schemas.values.vectors import Embedder
from streams.broker.intake_watch import keep_bounds
from streams.jetstream import taken_mark
from streams.jetstream.accounts import Credentials
from streams.jetstream.bringing import bring_before_opening
from streams.jetstream.connection import connected
from streams.jetstream.consumers import prepare_consumers
from streams.jetstream.draining import keep_drained
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.intake import take_in
from streams.jetstream.migrate import close_intake, migrate, open_intake
from streams.jetstream.sealed_log import KEYS_MISSING, lacks_keys
from streams.jetstream.silent_sources import keep_hearing
from streams.jetstream.stalls import keep_taking
from streams.log import ReadableLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A running instance."""

    settings: Settings
    credentials: Credentials
    database_url: str | None
    """None: there are no read models."""
    client: BrokerClient
    log: LiveLog
    worker: Worker
    embedder: Embedder
    model: Model | None
    metrics_url: str | None
    """None: no metrics are served."""
    tasks: Tasks

    async def wait(self) -> None:
        """Wait until a part fails, and raise what it failed with."""
        await self.tasks.failure()


@asynccontextmanager
async def instance(
    settings: Settings, notify: Notify, *, durable: bool = True
) -> AsyncIterator[Instance]:
    """Run an instance over its data folder for the length of the block.

    Raises:
        EchoicError: the settings do not fit, or another instance runs there.
        ServerFailed, LogUnavailable, ServerMoved: there is no broker, or at another port.
    """
    # Settings and packs are checked first, so a mistake in them starts no server.
    plugin.allow(settings["strategies.modules"])
    ways = channels.speaker(settings), channels.webhook(settings)
    made = embedder(settings["embedder"])
    started = _started(settings, made)
    packs = [packs_in_force.read_pack(Path(each)) for each in settings.packs]
    async with AsyncExitStack() as stack:
        servers = await _servers(stack, settings, notify, durable=durable)
        credentials, database_url = servers.credentials, servers.database_url
        # Before the client: until that is closed, somebody may ask whether a model answers.
        model = _model(stack, settings)
        steps = _steps(stack, servers, notify)
        client, log = await _log(steps, settings, credentials, packs)
        own, *jobs = _jobs(settings, credentials, started)
        mind = stack.enter_context(worker_process.mind(own, client, log, made, notify))
        is_projecting = database_url is not None and settings.parts == "all"
        metrics = _Measuring(settings, log, len(jobs), has_tables=is_projecting)
        metrics.reports.add(own.name, mind.meter, mind.ready.is_set)
        await _share(own, started, client, steps, settings.nats_replicas)
        steps.tasks.start("worker", mind.run())
        steps.tasks.start("gauges", metrics.gauges.keep())
        others = [_begin(job, steps.tasks, metrics.reports, notify) for job in jobs]
        # The server stores a subject with a wildcard sign as it is, where no reader looks.
        steps.tasks.start("strays", reappend(log, log))
        memory = _memory(stack, settings, database_url, made, log)
        performer = Performer(log, log, client, model, *ways, memory=memory)
        performing = partial(_effects, credentials, performer)
        await steps.enter("connecting who performs asks", performing, client, log)
        if database_url is not None and is_projecting:
            job = projector_job(settings, credentials, database_url)
            steps.tasks.start("projector", keep_up(job, notify, metrics.reports))
        # No event and no call may come before the settings and packs that it is for.
        granting = partial(grant_all, log, settings.data, mind.serving.state)
        await _load(packs, log, steps, (mind.ready, *others), granting)
        # Before the intake: a backlog of events leaves little time to connect.
        services = Services(log, mind.serving.state, mind.serving.calls)
        await steps.enter("connecting services", micro.serving, credentials, services)
        await health.serve(client, settings, model)
        await _take_in(settings, credentials, client, log, steps)
        yield Instance(
            settings=settings,
            credentials=credentials,
            database_url=database_url,
            client=client,
            log=log,
            worker=mind.worker,
            embedder=made,
            model=model,
            metrics_url=stack.enter_context(metrics.served(notify)),
            tasks=steps.tasks,
        )


async def _servers(
    stack: AsyncExitStack, settings: Settings, notify: Notify, *, durable: bool
) -> Servers:
    """Start the servers, alone over the data folder."""
    # The folder's lock comes before its servers: two brokers over one store would damage it.
    stack.enter_context(sole_instance(settings.data))
    servers = await start_servers(stack, settings, notify, durable=durable)
    # A sensor finds the broker by a file, and the embedded one may have a new port.
    renew_addresses(settings.data, servers.credentials.url)
    return servers


def _steps(stack: AsyncExitStack, servers: Servers, notify: Notify) -> Steps:
    """Return what does the steps of a start, while each server is restarted that ends."""
    tasks = Tasks()
    stack.push_async_callback(tasks.stop)
    for name, work in servers.keeping(notify).items():
        tasks.start(name, work)
    return Steps(stack, tasks, notify)


def _jobs(
    settings: Settings, credentials: Credentials, started: MindStarted
) -> list[worker_process.Job]:
    """Return the jobs of the workers: of this process, and of those beside it."""
    return [
        worker_process.job(
            settings,
            credentials,
            started,
            WORKERS[number],
            embedder=settings["embedder"],
            partitions=share,
        )
        for number, share in enumerate(worker_process.shares(settings))
    ]


def _begin(
    job: worker_process.Job, tasks: Tasks, reports: Reports, notify: Notify
) -> asyncio.Event:
    """Start keeping a worker process up; return an event that is set when it is ready."""
    ready = asyncio.Event()
    work = worker_process.keep_up(job, notify, reports, ready)
    tasks.start(job.name, work)
    return ready


async def _share(
    own: worker_process.Job,
    started: MindStarted,
    client: BrokerClient,
    steps: Steps,
    replicas: int,
) -> None:
    """Offer the settings to the workers of other machines, if they may join."""
    if own.is_shared:
        sharing = partial(shared_settings.offer, client, started)
        await steps.do("sharing its settings", sharing, replicas)


async def _load(
    packs: Sequence[Pack],
    log: LiveLog,
    steps: Steps,
    workers: Sequence[asyncio.Event],
    granting: Callable[[], Awaitable[None]],
) -> None:
    """Load the packs, and what sensors may do, once every worker has folded the log."""
    # Beside the tasks: one that fails meanwhile would never get its part ready.
    for ready in workers:
        await steps.tasks.beside(ready.wait())
    await steps.do("loading packs", packs_in_force.load_all, log, packs)
    await steps.do("granting sensors persons", granting)


async def _take_in(
    settings: Settings,
    credentials: Credentials,
    client: BrokerClient,
    log: LiveLog,
    steps: Steps,
) -> None:
    """Let in what sensors send: by the broker, or by ourselves where it has to be sealed."""
    tasks, notify = steps.tasks, steps.notify
    mark = settings.data / taken_mark.FILE
    if log.keyring is None and settings.nats_url is None:
        await steps.do(
            "comparing the intake with the log", bring_before_opening, client, mark
        )
    await steps.do("opening the intake", open_intake, client)
    ours, limits = (
        None if settings.nats_url else settings.data / "nats",
        limits_of(settings),
    )
    tasks.start("bounds", keep_bounds(client, limits, folder=ours, tell=notify))
    if ours is not None and settings.backup_every != "off":
        backing_up = keep_backed_up(settings, credentials, log, notify)
        tasks.start("backups", backing_up)
    if log.keyring is not None:
        tasks.start("intake", take_in(client, log))
    else:
        tasks.start("stalls", keep_taking(client, mark))
        tasks.start("sources", keep_hearing(client))
        tasks.start("draining", keep_drained(client))


def projector_job(
    settings: Settings, credentials: Credentials, database_url: str
) -> Job:
    """Return the job of the projector process."""
    return Job(
        credentials=credentials,
        database_url=database_url,
        embedder=settings["embedder"],
        trace_endpoint=settings.trace_endpoint,
        spool=str(settings.data / SPOOL),
    )


async def _log(
    steps: Steps, settings: Settings, credentials: Credentials, packs: Sequence[Pack]
) -> tuple[BrokerClient, LiveLog]:
    """Connect to the broker, make its streams fit, and close the intake of an own one.

    It has the packs from here on, without which no worker can read a log that names them.
    """
    connecting = partial(connected, credentials, "echoic")
    client = await steps.enter("connecting to the broker", connecting)
    client.admit = partial(take_of_day, settings)
    # Again, after the client: tasks end while their connection is still open.
    steps.stack.push_async_callback(steps.tasks.stop)
    fitting = partial(_fitting, client, settings, steps.notify)
    log = await steps.do("making the broker's streams fit", fitting)
    await steps.do("storing packs", packs_in_force.keep, log, packs)
    return client, log


async def _fitting(client: BrokerClient, settings: Settings, notify: Notify) -> LiveLog:
    wanted = settings["privacy.seal"] == "on"
    epoch = await migrate(client, settings.nats_replicas, is_sealed=wanted)
    await segmenting.fit(client, settings, notify)
    log = await open_log(client, epoch)
    check_sealing(log, wanted=wanted)
    if await lacks_keys(log):
        notify(KEYS_MISSING)
    await forgetting.destroy_again(log)
    if settings.nats_url is None:
        # Another's broker may serve other workers, who must not wait for this one.
        await close_intake(client)
    return log


def _started(settings: Settings, made_by: Embedder) -> MindStarted:
    """Return the input that records the mind's settings and the digests of its code.

    Raises:
        SettingsError: a setting does not fit, or a strategy's module cannot be read.
    """
    # Of the embedder, whose similarities have a scale of their own.
    limits = MatchLimits(
        match=made_by.limits.match,
        duplicate=made_by.limits.duplicate,
        endorse=made_by.limits.endorse,
        goal=made_by.limits.goal,
    )
    mind = mind_settings(settings, limits)
    return MindStarted(settings=mind, digests=shared_settings.code_digests(made_by))


def _model(stack: AsyncExitStack, settings: Settings) -> Model | None:
    if settings["model.name"] is None:
        return None
    model = LiteLLM(
        settings.model_api_base, settings.model_api_key, settings.model_price
    )
    stack.push_async_callback(model.close)
    return model


def _memory(
    stack: AsyncExitStack,
    settings: Settings,
    database_url: str | None,
    made_by: Embedder,
    log: LiveLog,
) -> TableMemory | None:
    """Return the memory that recalls search; None without read models, or unused."""
    if database_url is None or not settings["memory.recall"]:
        return None
    store = stack.enter_context(Store(database_url))
    return TableMemory(store, made_by, log.epoch)


async def last_outputs(log: LiveLog) -> dict[int, int]:
    """Return the sequence of each partition's last output."""
    every = range(PARTITIONS)
    last = await asyncio.gather(
        *(log.last_sequence(outputs_of(each)) for each in every)
    )
    return dict(zip(every, last, strict=True))


@asynccontextmanager
async def _effects(
    credentials: Credentials, performer: Performer, client: BrokerClient, log: LiveLog
) -> AsyncIterator[None]:
    """Perform the mind's asks for models and deliveries, by FastStream, during the block."""
    streams = await prepare_consumers(client)
    broker = faststream_broker(credentials)
    performer = replace(performer, found=await last_outputs(log))
    effects = Effects(performer, log.keyring.opened if log.keyring else None)
    effects.subscribe(broker, streams)
    await start(broker)
    try:
        # Ends before the broker does: unfinished asks go back over its connection.
        async with effects.serving():
            yield
    finally:
        await stop(broker)


class _Measuring:
    """What an instance counts, whether or not anybody reads it."""

    def __init__(
        self, settings: Settings, log: ReadableLog, others: int, *, has_tables: bool
    ) -> None:
        """Expect reports of so many other workers, and of a projector if `has_tables`."""
        children = (*WORKERS[1 : others + 1], *([PROJECTOR] if has_tables else []))
        self.gauges = InstanceGauges(log, settings.data)
        self.reports = Reports(self.gauges.registry, children)
        self._listen = settings.metrics_listen

    @contextmanager
    def served(self, notify: Notify) -> Iterator[str | None]:
        """Serve them for the length of the block; yield where, None if switched off."""
        if self._listen is None:
            yield None
            return
        with served(self._listen, self.reports, notify) as url:
            yield url


def check_sealing(log: LiveLog, *, wanted: bool) -> None:
    """Check that the log is sealed if that is wanted, and only then.

    Raises:
        SettingsError: it is not so. What stands in a log in clear cannot be forgotten, and
            nothing may be written in clear into one that is sealed.
    """
    is_sealed = log.keyring is not None
    if is_sealed == wanted:
        return
    if is_sealed:
        raise SettingsError(
            "this log is sealed, and privacy.seal is off: nothing may be added to it in"
            " clear",
            next_step="ECHOIC_PRIVACY_SEAL=on echoic up",
        )
    raise SettingsError(
        "privacy.seal is on, and this log has held words in clear since it began: what"
        " cannot be deleted there cannot be forgotten. Only a new data folder can be sealed",
        next_step="echoic up --data NEW_FOLDER",
    )
