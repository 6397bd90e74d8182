"""The settings that all workers of one log have in common: an instance says them, others adopt.

They stand in the bucket of the owners, as `MindStarted` holds them. A worker that joins
records the same, and none but these.
"""

import asyncio
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

import orjson

from echoic.config.load import Settings, defaults, mind_settings
from echoic.errors import SettingsError
from handlers.mind.strategies import plugin
from schemas.messages.controls import MindStarted
from schemas.values import timezones
from schemas.values.settings import CodeDigests, MindSettings
from schemas.values.vectors import Embedder
from streams.errors import LogUnavailable
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.owners import Entry, OwnerBucket

KEY = "settings"
_AGAIN_S = 0.2


def code_digests(made_by: Embedder) -> CodeDigests:
    """Return what tells this program's code from another's.

    Raises:
        SettingsError: a strategy's module cannot be read.
    """
    try:
        modules = plugin.digests()
    except plugin.StrategyModuleError as error:
        raise SettingsError(str(error), next_step="echoic config show") from error
    return CodeDigests(
        version=version("echoic"),
        embedder=made_by.digest,
        strategies=modules,
        tzdata=timezones.edition(),
    )


async def offer(client: BrokerClient, started: MindStarted, replicas: int) -> None:
    """Say which settings are in force, and make the bucket if it is missing.

    Raises:
        LogUnavailable: the broker does not answer.
    """
    bucket = OwnerBucket(client)
    await bucket.prepare(replicas)
    value = started.to_bytes()
    # Again only if two instances say theirs at the same moment: the last one's are in force.
    for _ in range(10):
        found = (await bucket.read()).get(KEY, Entry(b"", 0))
        if found.value == value or await bucket.write(KEY, value, found.revision):
            await bucket.tell()
            return
        await asyncio.sleep(_AGAIN_S)
    raise LogUnavailable("the settings that workers share are being changed by others")


async def offered(client: BrokerClient) -> MindStarted:
    """Return the settings in force.

    Raises:
        SettingsError: no instance at this broker lets others join.
        LogUnavailable: the broker does not answer.
    """
    bucket = OwnerBucket(client)
    found = (await bucket.read()).get(KEY) if await bucket.exists() else None
    if found is None:
        raise SettingsError(
            "the instance at this broker decides for all agents, and no other joins it",
            next_step="start it with ECHOIC_WORKER_PARTITIONS=0-7, then: echoic worker"
            " --partitions 8-15",
        )
    return MindStarted.from_fields(orjson.loads(found.value))


class SettingsChanged(SettingsError):
    """Other settings are in force than those that a worker decides by."""


class Unchanged:
    """Looks that the settings in force are still those that a worker began with."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """Compare with these fields of `MindSettings`."""
        self._ours = dict(_flat(settings))
        self._revision = 0

    def __call__(self, entries: Mapping[str, Entry]) -> None:
        """Look at the keys of the bucket.

        Raises:
            SettingsChanged: the instance was started with others, or another was.
        """
        found = entries.get(KEY)
        if found is None or found.revision == self._revision:
            return
        self._revision = found.revision
        theirs = dict(_flat(orjson.loads(found.value)["settings"]))
        other = _differences(self._ours, theirs)
        if other:
            raise SettingsChanged(
                "an instance was started with settings that this worker has not: "
                + other,
                next_step="start the worker again, and it adopts them",
            )


def check_same(settings: Settings, theirs: MindSettings) -> None:
    """Compare what was set here for the mind with what is in force.

    Raises:
        SettingsError: a setting was given here that has another value there.
    """
    # Only what was set here is compared.
    here, default, there = (
        dict(_flat(each.model_dump(mode="json")))
        for each in (
            mind_settings(settings, theirs.limits),
            mind_settings(defaults(), theirs.limits),
            theirs,
        )
    )
    given = [name for name in here if here[name] != default.get(name)]
    other = _differences(
        {name: here[name] for name in given}, {name: there.get(name) for name in given}
    )
    if other:
        raise SettingsError(
            "a worker decides by the settings of the instance that it joins: " + other,
            next_step="unset these here, or set them at the instance and start it again",
        )


def check_code(ours: CodeDigests, theirs: CodeDigests) -> None:
    """Compare the code of this program with the instance's.

    Raises:
        SettingsError: version, embedder, time zones or a strategy are others.
    """
    here, there = (dict(_flat(each.model_dump())) for each in (ours, theirs))
    if other := _differences(here, there):
        raise SettingsError(
            "this program is not the same as the instance that it joins: " + other,
            next_step="install the same, or join all the same with --force: each agent is"
            " then decided for by whatever program owns it",
        )


def _differences(here: Mapping[str, Any], there: Mapping[str, Any]) -> str:
    return "; ".join(
        f"{name} is {here.get(name)!r} here and {there.get(name)!r} there"
        for name in sorted(here.keys() | there.keys())
        if here.get(name) != there.get(name)
    )


def _flat(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
