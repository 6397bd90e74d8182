"""The projector by itself: the read models of an instance whose worker runs elsewhere."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

from prometheus_client import CollectorRegistry

from echoic.client.connection import credentials_of
from echoic.client.instance_note import sole_instance
from echoic.config.load import Settings
from echoic.errors import SettingsError
from echoic.metrics.catalogue import PROJECTOR
from echoic.metrics.endpoint import served
from echoic.metrics.reports import Reports
from echoic.run.instance import projector_job
from echoic.run.projector_process import keep_up
from echoic.run.supervision import Notify
from echoic.run.tasks import Tasks
from streams.jetstream.accounts import Credentials


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectorAlone:
    """A running projector."""

    settings: Settings
    credentials: Credentials
    database_url: str
    tasks: Tasks
    metrics_url: str | None
    """None: it serves no metrics."""


@asynccontextmanager
async def projector_alone(
    settings: Settings, notify: Notify
) -> AsyncIterator[ProjectorAlone]:
    """Fill the read models for the length of the block, whatever is away meanwhile.

    Raises:
        SettingsError: broker or database is not named.
        EchoicError: another instance runs over the data folder.
    """
    if settings.nats_url is None or settings.database_url is None:
        raise SettingsError(
            "the projector by itself reads a broker of yours into a database of yours",
            next_step="set NATS_URL and DATABASE_URL",
        )
    credentials, tasks = credentials_of(settings), Tasks()
    job = projector_job(settings, credentials, settings.database_url)
    reports = Reports(CollectorRegistry(), (PROJECTOR,))
    listen = settings.metrics_listen
    serving = served(listen, reports, notify) if listen else nullcontext()
    with sole_instance(settings.data), serving as metrics_url:
        tasks.start("projector", keep_up(job, notify, reports))
        try:
            yield ProjectorAlone(
                settings=settings,
                credentials=credentials,
                database_url=settings.database_url,
                tasks=tasks,
                metrics_url=metrics_url,
            )
        finally:
            await tasks.stop()
