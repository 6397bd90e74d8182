"""Who may do what at the broker, as the text of nats-server's configuration.

The log is in the account CORE. Each sensor has an account of its own, which imports from
CORE only its own `in.<agent>.<source>.*`, as a service, and its agent's `out.<agent>.>`, as
a stream. None of its reply subjects reaches another account (ADR 0021).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from schemas.values.persons import token_of
from schemas.values.subjects import (
    AGENT_SOURCE,
    PUBLISHED_CONTROL,
    PUBLISHED_FEEDBACK,
    SubjectError,
    check_token,
    is_agent,
)
from streams.topology import (
    BOX_SUBJECTS,
    DELIVERY_SUBJECTS,
    REFUSED_SUBJECTS,
    SENSOR_MESSAGE_BYTES,
    box_subject,
    refused_subject,
)

CORE = "CORE"
SYSTEM = "SYS"
"""The account of the embedded broker in which it tells how much each account has sent."""
SENSORS = "SENSOR."
"""What the name of every sensor's account begins with."""
RESERVED_TYPES = (PUBLISHED_CONTROL, PUBLISHED_FEEDBACK)
_HUB = "homeassistant"
"""The grant of a home automation hub's account: topics of its own to be told of devices by,
which begin so, and `echoic/<agent>/`. No other account sees them."""
_GRANTS = (*RESERVED_TYPES, _HUB)

SENSOR_LIMITS = {
    "max_connections": 10,
    "max_subscriptions": 100,
    "max_payload": 2 * SENSOR_MESSAGE_BYTES,
}
"""What one sensor may use of the broker. The server closes the connection at a message over
`max_payload` (bytes), while one that is merely too large for the intake stream is refused with
an error reply; hence twice the box's limit."""

_LOGIN_S = 20
"""Seconds that a client may take to log in."""

_STORE_BYTES = 2**60
"""What the embedded broker may store: any amount. Its own limit, three quarters of what is free
at its start, refuses the mind's answers as well; `streams.bounds` leaves room for these."""

_MQTT_STORE = {"max_mem": 0, "max_file": 1_048_576, "max_streams": 10}
"""What the sessions of one sensor's MQTT clients may take; the server keeps them itself."""


_INBOX = "_INBOX"
"""The prefix of the reply subjects of our own clients, the client library's own."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a client needs to connect."""

    url: str
    user: str
    password: str
    inbox_prefix: str = _INBOX
    """The prefix of its reply subjects; a sensor may subscribe to no other inbox."""
    ca: str | None = None
    """The file of the authority that signed the broker's certificate; None: the system's."""

    @property
    def servers(self) -> list[str]:
        """The address of each node of the cluster, of which `url` lists the hosts."""
        scheme, _, hosts = self.url.partition("://")
        return [f"{scheme}://{host}" for host in hosts.split(",")]

    @property
    def is_of_sensor(self) -> bool:
        """Whether a sensor's rights are all it has."""
        return self.inbox_prefix != _INBOX


@dataclass(frozen=True, slots=True)
class Listeners:
    """Where the embedded broker listens besides for NATS clients, as `host:port`."""

    mqtt: str | None = None
    websocket: str | None = None
    origins: tuple[str, ...] = ()
    """Whose pages may connect by WebSocket; none: those of any. Who is no page always may."""


NO_LISTENERS = Listeners()


@dataclass(frozen=True, slots=True)
class SensorAccess:
    """The rights of one sensor: to publish as one source of one agent."""

    agent: str
    source: str
    password: str
    grants: tuple[str, ...] = ()
    """What it may besides: publish the reserved types `feedback` and `control`, be a hub."""
    persons: tuple[str, ...] | None = None
    """Whom its events may name, which the mind checks; None: anybody, as in accounts of
    before."""
    is_refused: bool = False
    """Whether it is over its bounds (`streams.bounds`): the broker refuses what it sends."""

    def __post_init__(self) -> None:
        """Refuse tokens that would widen the rights, and grants that do not exist.

        Raises:
            SubjectError: agent or source is no token; a wildcard would match other sensors.
            ValueError: an unknown grant.
        """
        check_token(self.source, "source")
        if self.source == AGENT_SOURCE:
            raise SubjectError(f"no sensor may be called {AGENT_SOURCE!r}: agents are")
        if not is_agent(self.agent):
            raise SubjectError(
                f"agent {self.agent!r} cannot have sensors: use 1 to 64 of"
                " A-Z a-z 0-9 _ -, and not '_' alone"
            )
        for person in self.persons or ():
            token_of(person)
        if unknown := set(self.grants) - set(_GRANTS):
            raise ValueError(
                f"{sorted(unknown)[0]!r} cannot be granted: choose of {_GRANTS}"
            )

    @property
    def user(self) -> str:
        """Agent and source, which no other sensor shares."""
        return f"{self.agent}.{self.source}"

    @property
    def account(self) -> str:
        """The name of its account."""
        return f"{SENSORS}{self.user}"

    @property
    def inbox_prefix(self) -> str:
        """The prefix under which it receives acknowledgements."""
        return f"_INBOX.{self.user}"

    def permissions(self) -> dict[str, object]:
        """Return what it may publish and subscribe to, as nats-server's configuration."""
        own = f"in.{self.agent}.{self.source}"
        denied = [f"{own}.{each}" for each in RESERVED_TYPES if each not in self.grants]
        # A subscription of MQTT's to `out/<agent>/#` is one to `out.<agent>` as well.
        heard = [f"out.{self.agent}", f"out.{self.agent}.>", f"{self.inbox_prefix}.>"]
        told = [f"{own}.*"]
        if _HUB in self.grants:
            topics = [f"{_HUB}.>", f"echoic.{self.agent}.>"]
            told += topics
            heard += [_HUB, f"echoic.{self.agent}", *topics]
        return {
            "publish": {"allow": told, "deny": denied},
            "subscribe": {"allow": heard},
        }


def server_configuration(
    *,
    port: int,
    store: str,
    process_id_file: str,
    core: Credentials,
    sensors: Iterable[SensorAccess],
    listeners: Listeners = NO_LISTENERS,
) -> str:
    """Return the whole configuration file as JSON.

    Non-ASCII letters are written as such, since nats-server does not read JSON's \\u escapes.
    """
    accounts = _accounts(core, sensors)
    accounts[SYSTEM] = {"users": [{"user": SYSTEM, "password": core.password}]}
    if listeners.mqtt is not None:
        for name, account in accounts.items():
            if name not in (CORE, SYSTEM):
                account["jetstream"] = _MQTT_STORE
    return json.dumps(
        {
            "server_name": "echoic",
            "listen": f"127.0.0.1:{port}",
            "pid_file": process_id_file,
            # An acknowledged message is on disk; group commit makes the sync affordable.
            "jetstream": {
                "store_dir": store,
                "sync_interval": "always",
                "max_file_store": _STORE_BYTES,
            },
            "system_account": SYSTEM,
            # By itself it allows 2 s, in which a starved machine may not get to log in.
            "authorization": {"timeout": _LOGIN_S},
            # The client library cannot read the newer acknowledgement subjects.
            "feature_flags": {"js_ack_fc_v2": False},
            "accounts": accounts,
        }
        | dict(_listening(listeners)),
        indent=2,
        ensure_ascii=False,
    )


def _listening(listeners: Listeners) -> Mapping[str, object]:
    found: dict[str, dict[str, object]] = {}
    if listeners.mqtt is not None:
        found["mqtt"] = {"listen": listeners.mqtt}
    if listeners.websocket is not None:
        # Without TLS, as all of the embedded broker: another machine needs a proxy that has it.
        found["websocket"] = {"listen": listeners.websocket, "no_tls": True}
        if listeners.origins:
            found["websocket"]["allowed_origins"] = list(listeners.origins)
    return found


def accounts_configuration(core: Credentials, sensors: Iterable[SensorAccess]) -> str:
    """Return the accounts alone, to be included by the configuration of another's broker."""
    accounts = _accounts(core, sensors)
    return f"accounts: {json.dumps(accounts, indent=2, ensure_ascii=False)}\n"


def _accounts(
    core: Credentials, sensors: Iterable[SensorAccess]
) -> dict[str, dict[str, object]]:
    named = {sensor.account: _sensor(sensor) for sensor in sensors}
    return {CORE: _core(core)} | named


def _core(core: Credentials) -> dict[str, object]:
    # Exported to every account of this file; the imports of each sensor name its own part.
    return {
        "jetstream": "enabled",
        "users": [{"user": core.user, "password": core.password}],
        "exports": [
            {"service": BOX_SUBJECTS},
            {"service": REFUSED_SUBJECTS},
            {"stream": DELIVERY_SUBJECTS},
        ],
    }


def _sensor(sensor: SensorAccess) -> dict[str, object]:
    # The sensor publishes to `in.`, and the import maps it to its partition's intake stream:
    # a sensor need not know the hash.
    own, heard = f"in.{sensor.user}.*", f"out.{sensor.agent}.>"
    mapped = refused_subject if sensor.is_refused else box_subject
    box = mapped(sensor.agent, sensor.source)
    return {
        "users": [
            {
                "user": sensor.user,
                "password": sensor.password,
                "permissions": sensor.permissions(),
            }
        ],
        "limits": SENSOR_LIMITS,
        "imports": [
            {"service": {"account": CORE, "subject": box}, "to": own},
            {"stream": {"account": CORE, "subject": heard}},
        ],
    }
