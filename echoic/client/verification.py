"""Verification of every agent: inputs are answered again, by several processes.

Partitions share neither states nor chains, so they can be verified side by side.
"""

import asyncio
import logging
import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import count

from echoic.client import known_agents
from echoic.client.connection import addresses
from echoic.config.load import Settings
from echoic.embedders import embedder
from handlers.aids import AidProvider, PackLibrary
from replay import process_pool
from replay.verify import Span, Verification, joined, verify
from schemas.values.settings import CodeDigests
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import reading
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.sealed_log import open_reader


@dataclass(frozen=True, slots=True)
class Job:
    """The partitions that one process verifies."""

    credentials: Credentials
    inputs: Mapping[int, int]
    """The number of inputs of each partition."""
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
    jobs = [
        Job(credentials, each, settings["embedder"], digests)
        for each in shares(inputs, processes or os.cpu_count() or 1)
    ]
    found = process_pool.run(verify_share, jobs, progress, processes)
    by_partition = {number: part for share in found for number, part in share.items()}
    # In the order of partitions, so that the result does not depend on the processes.
    return joined([by_partition[number] for number in sorted(by_partition)])


def shares(inputs: Mapping[int, int], processes: int) -> list[dict[int, int]]:
    """Divide partitions so that each process has about as many inputs.

    Longest first, each to the process that has the least by then (LPT scheduling). Fixed
    shares let a process compile packs once for all its partitions.
    """
    shared: list[dict[int, int]] = [{} for _ in range(min(processes, len(inputs)))]
    for partition in sorted(inputs, key=lambda each: (-inputs[each], each)):
        least = min(shared, key=lambda share: sum(share.values()))
        least[partition] = inputs[partition]
    return shared


def verify_share(job: Job, progress: process_pool.Progress) -> dict[int, Verification]:
    """Verify some partitions; report to `progress` how many of their inputs are done."""
    return asyncio.run(_verified(job, progress))


def _reading(credentials: Credentials) -> AbstractAsyncContextManager[BrokerClient]:
    # The error that ends the command says what a log line would say before it.
    logging.getLogger("streams").setLevel(logging.ERROR)
    return reading(credentials, "echoic replay")


async def _inputs(credentials: Credentials) -> Mapping[int, int]:
    async with _reading(credentials) as client:
        return await known_agents.inputs_by_partition(client)


async def _verified(
    job: Job, progress: process_pool.Progress
) -> dict[int, Verification]:
    answered, whole = count(1), sum(job.inputs.values())
    async with _reading(job.credentials) as client:
        log, made = await open_reader(client), embedder(job.embedder)
        provider = AidProvider(made, PackLibrary(log, made))
        return {
            partition: await verify(
                log,
                Span(partition),
                provider,
                digests=job.digests,
                progress=lambda _: progress(next(answered), whole),
            )
            for partition in sorted(job.inputs)
        }
