"""The digests of a session file: over its header, and over its messages as they stand.

The chain covers what was said, these cover the rest: whose session it is, where it began
and ended, the broker's times, their order. The writer puts them into the trailer; a file
that was read and changed keeps those that it had.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

_BYTES = 32


@dataclass(frozen=True, slots=True)
class Digests:
    """What a trailer says that its file was."""

    header: str
    """Over the header's line."""
    messages: str
    """Over the messages' lines, in order, and the chain."""


class Digesting:
    """Takes a session's lines, as they are written or read, without their ends."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._header = blake2b(digest_size=_BYTES)
        self._messages = blake2b(digest_size=_BYTES)

    def header(self, line: bytes) -> None:
        """Take the header."""
        self._header.update(line)

    def message(self, line: bytes) -> None:
        """Take the next message."""
        self._messages.update(line + b"\n")

    def end(self, chain: str) -> Digests:
        """Return the digests of what was taken."""
        self._messages.update(chain.encode())
        return Digests(self._header.hexdigest(), self._messages.hexdigest())


def of_world(id_: str, members: Iterable[str], sessions: Iterable[Digests]) -> str:
    """Return the digest of a world's line: its id, and whose sessions, as they end."""
    named = [id_, *members, *(f"{each.header}{each.messages}" for each in sessions)]
    # By lengths, so that no two lists of names come to the same bytes.
    parts = b"".join(b"%d:%b" % (len(each), each) for each in map(str.encode, named))
    return blake2b(parts, digest_size=_BYTES).hexdigest()


def altered(said: Digests | None, found: Digests) -> str | None:
    """Return what of a session is not as its trailer says; None if all is."""
    if said is None:
        return "the file has no digest of its header and messages"
    if said.header != found.header:
        return "the header (agent, session, first, last or state) was altered"
    if said.messages != found.messages:
        return "a message (its place, time, subject, headers or body) was altered"
    return None
