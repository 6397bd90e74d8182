"""Who may do what at the broker, as the text of nats-server's configuration.

The log lives in the account CORE. Sensors live in SENSORS and see of CORE only `in.>`,
as a service they may call, and `out.>`, as a stream they may hear: no reply subject of
theirs reaches anything else.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from schemas.subjects import (
    PUBLISHED_CONTROL,
    PUBLISHED_FEEDBACK,
    SubjectError,
    check_token,
    is_agent,
)
from streams.topology import DELIVERY_SUBJECTS, SENSOR_SUBJECTS

RESERVED_TYPES = (PUBLISHED_CONTROL, PUBLISHED_FEEDBACK)


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a client needs to connect."""

    url: str
    user: str
    password: str
    inbox_prefix: str = "_INBOX"
    """Where its answers go; a sensor hears nothing under any other prefix."""


@dataclass(frozen=True, slots=True)
class SensorAccess:
    """The rights of one sensor: to publish as one source of one agent."""

    agent: str
    source: str
    password: str
    grants: tuple[str, ...] = ()
    """Reserved types that it may publish all the same: `feedback`, `control`."""

    def __post_init__(self) -> None:
        """Refuse tokens that would widen the rights, and grants that do not exist."""
        check_token(self.source, "source")
        if not is_agent(self.agent):
            raise SubjectError(
                f"agent {self.agent!r} cannot have sensors: use 1 to 64 of"
                " A-Z a-z 0-9 _ -, and not '_' alone"
            )
        if unknown := set(self.grants) - set(RESERVED_TYPES):
            raise ValueError(
                f"{sorted(unknown)[0]!r} cannot be granted: choose of {RESERVED_TYPES}"
            )

    @property
    def user(self) -> str:
        """Agent and source, which no other sensor shares."""
        return f"{self.agent}.{self.source}"

    @property
    def inbox_prefix(self) -> str:
        """Where it hears the answers to what it publishes."""
        return f"_INBOX.{self.user}"

    def permissions(self) -> dict[str, object]:
        """What it may publish and hear, in nats-server's words."""
        own = f"in.{self.agent}.{self.source}"
        denied = [f"{own}.{each}" for each in RESERVED_TYPES if each not in self.grants]
        return {
            "publish": {"allow": [f"{own}.*"], "deny": denied},
            "subscribe": {"allow": [f"out.{self.agent}.>", f"{self.inbox_prefix}.>"]},
        }


def server_configuration(
    *,
    port: int,
    store: str,
    process_id_file: str,
    core: Credentials,
    sensors: Iterable[SensorAccess],
) -> str:
    """The whole configuration file: JSON, save that nats-server knows no coded letters."""
    return json.dumps(
        {
            "server_name": "echoic",
            "listen": f"127.0.0.1:{port}",
            "pid_file": process_id_file,
            "jetstream": {"store_dir": store, "sync_interval": "always"},
            # The client library cannot read the newer acknowledgement subjects.
            "feature_flags": {"js_ack_fc_v2": False},
            "accounts": {"CORE": _core(core), "SENSORS": _sensors(sensors)},
        },
        indent=2,
        ensure_ascii=False,
    )


def _core(core: Credentials) -> dict[str, object]:
    return {
        "jetstream": "enabled",
        "users": [{"user": core.user, "password": core.password}],
        "exports": [
            {"service": SENSOR_SUBJECTS, "accounts": ["SENSORS"]},
            {"stream": DELIVERY_SUBJECTS, "accounts": ["SENSORS"]},
        ],
    }


def _sensors(sensors: Iterable[SensorAccess]) -> dict[str, object]:
    return {
        "users": [
            {
                "user": sensor.user,
                "password": sensor.password,
                "permissions": sensor.permissions(),
            }
            for sensor in sensors
        ],
        "imports": [
            {"service": {"account": "CORE", "subject": SENSOR_SUBJECTS}},
            {"stream": {"account": "CORE", "subject": DELIVERY_SUBJECTS}},
        ],
    }
