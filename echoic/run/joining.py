"""Joining a running instance as one more worker, from any machine that reaches its broker."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from echoic.client.connection import addresses, open_log
from echoic.client.instance_note import (
    InstanceNote,
    beat,
    remove_note,
    sole_instance,
    write_note,
)
from echoic.config.load import Settings
from echoic.embedders import embedder
from echoic.errors import EchoicError
from echoic.run import shared_settings, worker_process
from echoic.run.supervision import Notify
from handlers.mind.strategies import plugin
from handlers.worker.charge import Standing
from schemas.messages.controls import MindStarted
from schemas.values.subjects import read_range
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import connected
from streams.jetstream.migrate import epoch_of


async def work(
    settings: Settings,
    name: str,
    notify: Notify,
    changed: Callable[[Standing], None],
    *,
    force: bool,
) -> None:
    """Answer the inputs of a range of partitions, or stand by for it, until cancelled.

    `changed` hears who is in charge. With `force` a program that is not the instance's may
    join.

    Raises:
        NotRunningError: neither settings nor data folder name an instance.
        SettingsError: no other joins it, or it is not the same as this one.
        RangesOverlap: another has some of the partitions, by another range.
        LogDamaged, UnreadableOutputError, MissingPackError: its log cannot be folded.
        LogUnavailable: the broker does not answer.
    """
    plugin.allow(settings["strategies.modules"])
    while True:
        try:
            return await _work_once(settings, name, notify, changed, force=force)
        except shared_settings.SettingsChanged as change:
            notify(f"joining anew: {change.what}")


async def _work_once(
    settings: Settings,
    name: str,
    notify: Notify,
    changed: Callable[[Standing], None],
    *,
    force: bool,
) -> None:
    """Work until cancelled, by the settings that are in force at the beginning.

    Raises:
        SettingsChanged: others are.
    """
    credentials, _ = addresses(settings)
    async with connected(credentials, f"echoic worker {name}") as client:
        log = await open_log(client, await epoch_of(client))
        theirs = await shared_settings.offered(client)
        made_by = embedder(theirs.settings.embedder)
        ours = MindStarted(
            settings=theirs.settings, digests=shared_settings.code_digests(made_by)
        )
        shared_settings.check_same(settings, theirs.settings)
        if not force:
            shared_settings.check_code(ours.digests, theirs.digests)
        async with _noted(settings, credentials) as is_alone:
            job = worker_process.job(
                settings, credentials, ours, name, embedder=theirs.settings.embedder,
                partitions=read_range(settings.worker_partitions), is_alone=is_alone,
            )  # fmt: skip
            # Whoever offers its settings lets others join, whatever the broker is.
            job = replace(job, is_shared=True)
            with worker_process.mind(
                job, client, log, made_by, notify, changed=changed
            ) as own:
                await own.run()


@asynccontextmanager
async def _noted(settings: Settings, credentials: Credentials) -> AsyncIterator[bool]:
    """Have `echoic health` find this worker by its data folder; tell if that is its alone."""
    with ExitStack() as stack:
        is_own = settings.nats_url is not None and settings.origins["data"] != "default"
        try:
            if is_own:
                stack.enter_context(sole_instance(settings.data))
        except EchoicError:
            # It is the instance's, or another worker's.
            is_own = False
        if not is_own:
            yield False
            return
        note = InstanceNote(
            pid=os.getpid(),
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            nats_url=credentials.url,
            nats_user=credentials.user,
            nats_password=credentials.password,
            database_url=None,
            nats_ca=credentials.ca,
        )
        write_note(settings.data, note)
        stack.callback(remove_note, settings.data)
        beating = asyncio.create_task(beat(settings.data))
        stack.callback(beating.cancel)
        yield True
