"""What a nats-server that was killed leaves of a configuration that it was just writing.

nats-server 2.15.1 writes a stream's configuration to `meta.inf` and then its checksum to
`meta.sum`. Killed in between, it passes over that stream at its next start, as if it had never
been, and a log that is then created in its place has another epoch. So the checksums are
finished before.
"""

import hashlib
import json
import logging
from pathlib import Path

from streams.disk.highway import checksums
from streams.embedded import write_private
from streams.errors import LogDamaged

_STORE = "jetstream/jetstream/*/streams"

_log = logging.getLogger(__name__)


def finish(server_folder: Path) -> list[Path]:
    """Write the checksums that do not fit their configurations, and return their files.

    No server may run over the folder.

    Raises:
        LogDamaged: a configuration cannot be read.
    """
    streams = sorted(server_folder.glob(f"{_STORE}/*/meta.inf"))
    consumers = sorted(server_folder.glob(f"{_STORE}/*/obs/*/meta.inf"))
    found = [_finished(each, each.parent.name) for each in streams]
    found += [
        _finished(each, f"{each.parents[2].name}/{each.parent.name}")
        for each in consumers
    ]
    return [each for each in found if each is not None]


def _finished(file: Path, name: str) -> Path | None:
    """Write the checksum of a configuration, keyed by its name, unless it is there."""
    data, sum_ = file.read_bytes(), file.with_name("meta.sum")
    (checksum,) = checksums(hashlib.sha256(name.encode()).digest(), [data])
    wanted = checksum.hex().encode()
    if sum_.exists() and sum_.read_bytes() == wanted:
        return None
    # Replaced as one by the server, so that one that was cut off is the earlier or the new.
    if not _is_of(name, data):
        raise LogDamaged(
            "configuration", 1, f"{file} is not what nats-server wrote of {name}"
        )
    _log.warning("%s was cut off: its checksum is written anew", file)
    write_private(sum_, wanted)
    return sum_


def _is_of(name: str, data: bytes) -> bool:
    """Tell whether data is the whole configuration of a stream or a consumer."""
    try:
        return bool(json.loads(data)["name"] == name.rpartition("/")[2])
    except (ValueError, KeyError, TypeError):
        return False
