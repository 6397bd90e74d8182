"""Answering every agent's inputs again: each partition in a process of its own.

Nothing crosses from one partition to another, neither states nor chains.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import count

from echoic.client import known_agents
from echoic.client.connection import addresses
from echoic.config.load import Settings
from echoic.embedders import embedder
from handlers.aids import Bringer, PackLibrary
from replay import process_pool
from replay.verify import Span, Verification, joined, verify
from schemas.values.settings import CodeDigests
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import reading
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.read import open_reader


@dataclass(frozen=True, slots=True)
class Job:
    """One partition to answer again."""

    credentials: Credentials
    partition: int
    inputs: int
    embedder: str
    digests: CodeDigests


def verify_all(
    settings: Settings,
    digests: CodeDigests,
    progress: process_pool.Progress,
    processes: int | None,
) -> Verification:
    """Verify every agent of the log, as one result.

    Raises:
        NotRunningError: no instance runs.
        LogUnavailable: the broker does not answer.
        MissingPackError: a pack in force is not in the log's store.
    """
    credentials, _ = addresses(settings)
    inputs = asyncio.run(_inputs(credentials))
    # The longest first, so that no processor is left with it at the end.
    order = sorted(inputs, key=lambda partition: (-inputs[partition], partition))
    jobs = [
        Job(credentials, each, inputs[each], settings["embedder"], digests)
        for each in order
    ]
    found = process_pool.run(verify_one, jobs, progress, processes)
    return joined([each for _, each in sorted(zip(order, found, strict=True))])


def verify_one(job: Job, progress: process_pool.Progress) -> Verification:
    """Verify one partition, and tell how many of its inputs are answered."""
    return asyncio.run(_verified(job, progress))


def _reading(credentials: Credentials) -> AbstractAsyncContextManager[BrokerClient]:
    # What goes wrong is told once, by the error that ends it.
    logging.getLogger("streams").setLevel(logging.ERROR)
    return reading(credentials, "echoic replay")


async def _inputs(credentials: Credentials) -> Mapping[int, int]:
    async with _reading(credentials) as client:
        return await known_agents.inputs_by_partition(client)


async def _verified(job: Job, progress: process_pool.Progress) -> Verification:
    async with _reading(job.credentials) as client:
        log, made, answered = (
            await open_reader(client),
            embedder(job.embedder),
            count(1),
        )
        return await verify(
            log,
            Span(job.partition),
            Bringer(made, PackLibrary(log, made)),
            digests=job.digests,
            progress=lambda _: progress(next(answered), job.inputs),
        )
