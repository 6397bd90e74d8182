"""Credentials for sensors, from the embedded broker of a data folder.

A sensor gets the rights of one source of one agent and nothing else. Anybody who can
write the data folder can grant them.
"""

import json
from dataclasses import asdict
from pathlib import Path

from echoic.config.load import Settings
from echoic.errors import EchoicError
from schemas.values.subjects import SubjectError
from streams.broker.enrolment import add_sensor, remove_sensor
from streams.embedded import write_private
from streams.jetstream.accounts import Credentials


async def sensor_credentials(
    settings: Settings, agent: str, source: str, grants: tuple[str, ...] = ()
) -> Credentials:
    """Create or look up a sensor's credentials, and set its grants.

    Raises:
        EchoicError: the broker is not ours, or the rights cannot be given.
    """
    _check_ours(settings)
    try:
        return await add_sensor(settings.data / "nats", agent, source, grants)
    except (SubjectError, ValueError) as error:
        raise EchoicError(str(error)) from error


async def revoke(settings: Settings, agent: str, source: str) -> None:
    """Revoke a sensor's rights, end its connections and delete its file.

    Raises:
        EchoicError: the broker is not ours, or there is no such sensor.
    """
    _check_ours(settings)
    try:
        await remove_sensor(settings.data / "nats", agent, source)
    except KeyError as error:
        known = str(error.args[0]) or "none"
        raise EchoicError(
            f"there is no sensor {source!r} of {agent!r}; those with access: {known}",
            next_step="echoic sensor revoke <source> --agent <agent>",
        ) from error
    access_file(settings.data, agent, source).unlink(missing_ok=True)


def _check_ours(settings: Settings) -> None:
    if settings.nats_url is not None:
        raise EchoicError(
            "the broker is not ours: it hands out its own credentials",
            next_step="give the sensor a user there, and name its file: --credentials",
        )


def access_file(data: Path, agent: str, source: str) -> Path:
    """Return the path of the file that holds a sensor's credentials."""
    return data / "sensors" / f"{agent}.{source}.json"


def write_access(path: Path, access: Credentials) -> None:
    """Write a sensor's credentials, readable by the folder's owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(path, json.dumps(asdict(access)).encode())


def renew_addresses(data: Path, url: str) -> None:
    """Write the broker's present address into every sensor's file."""
    for path in (data / "sensors").glob("*.json"):
        try:
            fields = json.loads(path.read_text())
        except ValueError:
            continue  # Somebody wrote it by hand; `sensor access` makes it anew.
        # A file without an address follows the sensor's own settings and is left alone.
        if isinstance(fields, dict) and fields.get("url") not in (None, url):
            write_private(path, json.dumps({**fields, "url": url}).encode())
