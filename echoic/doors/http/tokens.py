"""Access tokens of HTTP clients: for one agent, some scopes, and perhaps one person.

The data folder keeps their hashes; whoever can write it can grant them. A running door reads
the file again once it has changed, so a revoked token ends at once.
"""

import hashlib
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from echoic.errors import EchoicError, NotFoundError
from schemas.values.base import Part, Token, first_fault
from schemas.values.persons import PersonToken
from streams.embedded import write_private

Scope = Literal["events", "feedback", "outcomes", "read"]
"""What a token allows: to publish events, to vote, to report outcomes, and to read."""

_SECRET_BYTES = 32
_PREFIX = "echoic_"
"""So that scanners for leaked secrets, and people, know what it is."""


class AccessToken(Part):
    """What the bearer of a secret may do."""

    name: Token
    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """The sha256 of the secret; of 256 random bits no slower hash is needed."""
    agent: Token
    scopes: tuple[Scope, ...] = Field(min_length=1)
    sources: tuple[Token, ...] = ()
    """As which sources it publishes events."""
    person: PersonToken | None = None
    """Whose words, votes and outcomes these are; None: no person may be named."""
    per_s: Annotated[float, Field(gt=0, le=100_000)] = 50.0
    """Requests and events a second, in the long run."""
    burst: Annotated[int, Field(ge=1, le=100_000)] = 200
    """Requests and events at once."""


def new_token(**wanted: Any) -> AccessToken:
    """Return a token that has no secret yet.

    Raises:
        EchoicError: it cannot be so.
    """
    try:
        return AccessToken(digest="0" * 64, **wanted)
    except ValidationError as error:
        fault = first_fault(error, "the token")
        raise EchoicError(f"there is no such token: {fault}") from error


_FILE = TypeAdapter(tuple[AccessToken, ...])


class TokenFile:
    """The tokens of a data folder."""

    def __init__(self, data: Path) -> None:
        """Use the folder's file, which need not exist yet."""
        self._path = data / "http" / "tokens.json"
        self._seen: tuple[int, int] | None = None
        self._by_digest: dict[str, AccessToken] = {}

    def find(self, secret: str) -> AccessToken | None:
        """Return what a secret allows; None if nothing knows it."""
        self._refresh()
        # By hash: what a lookup's time tells is of no use for guessing a secret.
        return self._by_digest.get(_digest(secret))

    def holds(self, token: AccessToken) -> bool:
        """Say whether a token was not revoked since it was found."""
        self._refresh()
        return token.digest in self._by_digest

    @property
    def tokens(self) -> Sequence[AccessToken]:
        """All tokens, the oldest first."""
        self._refresh()
        return tuple(self._by_digest.values())

    def create(self, wanted: AccessToken) -> str:
        """Keep a token with a new secret in place of its digest, and return that secret.

        Raises:
            EchoicError: there is one of that name.
        """
        if any(each.name == wanted.name for each in self.tokens):
            raise EchoicError(
                f"there is a token {wanted.name!r} already",
                next_step=f"echoic http revoke {wanted.name}",
            )
        secret = _PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        made = wanted.model_copy(update={"digest": _digest(secret)})
        self._write((*self.tokens, made))
        return secret

    def revoke(self, name: str) -> None:
        """Remove a token.

        Raises:
            NotFoundError: there is none of that name.
        """
        left = tuple(each for each in self.tokens if each.name != name)
        if len(left) == len(self.tokens):
            raise NotFoundError(
                f"there is no token {name!r}", next_step="echoic http tokens"
            )
        self._write(left)

    def _write(self, tokens: tuple[AccessToken, ...]) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(self._path, _FILE.dump_json(tokens, indent=1))
        self._seen = None

    def _refresh(self) -> None:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            self._by_digest, self._seen = {}, None
            return
        # Each write is another file, so its number changes even within one tick of a clock.
        seen = (found.st_mtime_ns, found.st_ino)
        if seen == self._seen:
            return
        try:
            tokens = _FILE.validate_json(self._path.read_bytes())
        except ValidationError as error:
            raise EchoicError(
                f"{str(self._path)!r} cannot be read: {error.errors()[0]['msg']}",
                next_step="restore it, or remove it and create the tokens anew",
            ) from error
        self._by_digest = {each.digest: each for each in tokens}
        self._seen = seen


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
