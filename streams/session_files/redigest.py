"""Write a session file's digests anew: `python -m streams.session_files.redigest FILE…`.

For recordings of before there were digests, and for what was altered on purpose. Every other
byte of its lines stays as it is; `echoic replay verify` tells what they are worth.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import orjson
import zstandard

from streams.session_files.digests import Digesting, Digests, of_world
from streams.session_files.file import read_session, world_of, write_lines
from streams.session_files.reading import WORLD_FORMAT


def redigest(path: Path) -> None:
    """Write a file in place with digests of what it holds; the same bytes each time.

    Raises:
        SessionFileError: it is none of ours, of another version, cut or damaged.
    """
    world = world_of(path)
    # Whatever cannot be read is not written.
    for agent in (None,) if world is None else world.members:
        read_session(path, agent)
    with path.open("rb") as file:
        text = zstandard.ZstdDecompressor().stream_reader(file).read()
    write_lines(path, _digested(text.splitlines()))


def _digested(lines: Iterable[bytes]) -> list[bytes]:
    made: list[bytes] = []
    ends: list[Digests] = []
    digesting = Digesting()
    for text in lines:
        line = orjson.loads(text)
        if "session" in line:
            digesting = Digesting()
            digesting.header(text)
        elif "end" in line:
            ends.append(digesting.end(line["chain"]))
            text = orjson.dumps(line | {"digests": asdict(ends[-1])})
        elif "n" in line:
            digesting.message(text)
        made.append(text)
    first = orjson.loads(made[0])
    if first["format"] == WORLD_FORMAT:
        digest = of_world(first["world"], first["members"], ends)
        made[0] = orjson.dumps(first | {"digest": digest})
    return made


def main(arguments: Sequence[str]) -> None:
    """Write the digests of each named file anew."""
    for argument in arguments:
        redigest(Path(argument))


if __name__ == "__main__":
    main(sys.argv[1:])
