"""A backup of an instance, running or not, as one file (ADR 0066)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from echoic.errors import EchoicError
from streams.backup_file import Manifest, Part, writing
from streams.embedded import write_private
from streams.jetstream.backup import back_up
from streams.jetstream.hardened_client import BrokerClient
from streams.topology import SEALED_KEY

_SUFFIX = ".backup"

FOLDER = "backups"
"""Where in its data folder an instance keeps the backups that it makes by itself."""

_FAILED = "failed.txt"
"""What the last of them failed with, beside them; gone once one is made."""

_CREDENTIALS = ("nats/identity.json", "sensors/*.json", "http/tokens.json")
"""The files of a data folder that name passwords and tokens, kept only if wanted."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made."""

    path: Path
    manifest: Manifest

    def as_fields(self) -> dict[str, object]:
        """Return what it holds as fields for JSON."""
        return {
            "file": str(self.path),
            "bytes": self.path.stat().st_size,
            **held(self.manifest),
        }


def held(manifest: Manifest) -> dict[str, object]:
    """Return what a backup holds as fields for JSON."""
    return {
        "epoch": manifest.epoch,
        "made_at": manifest.made_at,
        "streams": [
            {
                "name": each.name,
                "messages": each.state["messages"],
                "last": each.state["last_seq"],
                "last_id": each.last.id if each.last else None,
            }
            for each in manifest.streams
        ],
        "with_credentials": bool(manifest.files),
        "sealed": is_sealed(manifest),
    }


def is_sealed(manifest: Manifest) -> bool:
    """Whether the log of a backup is a sealed one, whose keys are in no backup."""
    marks = (each.config.get("metadata") or {} for each in manifest.streams)
    return any(each.get(SEALED_KEY) == "true" for each in marks)


def place(path: Path) -> Path:
    """Return the file for a backup: `path`, or one named by this moment in that folder.

    Raises:
        EchoicError: the file is there already, or its folder is not.
    """
    if path.is_dir():
        path = path / f"echoic-{datetime.now(UTC):%Y%m%dT%H%M%SZ}{_SUFFIX}"
    if path.exists():
        raise EchoicError(f"{path} is there already; a backup replaces nothing")
    if not path.parent.is_dir():
        raise EchoicError(f"there is no folder {path.parent}")
    return path


async def make(
    client: BrokerClient, data: Path | None, path: Path, progress: Callable[[int], None]
) -> Backup:
    """Copy the streams of a broker, and with `data` the credentials in that folder.

    Raises:
        StreamsError: the broker does not answer, or refuses; no file is made then.
    """
    with writing(path) as writer:
        files: list[Part] = []
        for file in _credential_files(data) if data else ():
            name = f"files/{file.relative_to(data or file).as_posix()}"
            files.append(writer.add(name, file.read_bytes()))
        program = version("echoic")
        manifest = await back_up(client, writer, program, progress, tuple(files))
    return Backup(path, manifest)


def own(data: Path) -> list[Path]:
    """Return the backups that an instance made by itself, oldest first."""
    return sorted((data / FOLDER).glob(f"echoic-*{_SUFFIX}"))


def outdated(files: Sequence[Path], keep: int) -> Sequence[Path]:
    """Return those of these backups that are too many: all but the last, by their names."""
    return sorted(files)[:-keep]


def note_failure(data: Path, why: str | None) -> None:
    """Note what the last backup failed with; None: it did not."""
    if why is None:
        (data / FOLDER / _FAILED).unlink(missing_ok=True)
    else:
        write_private(data / FOLDER / _FAILED, why.encode())


def failure(data: Path) -> str | None:
    """Return what the last backup that an instance made by itself failed with."""
    try:
        return (data / FOLDER / _FAILED).read_text()
    except OSError:
        return None


def _credential_files(data: Path) -> list[Path]:
    """Return the files with credentials that a data folder has."""
    return sorted(file for each in _CREDENTIALS for file in data.glob(each))
