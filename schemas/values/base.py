"""The base of every message: frozen, closed when written, tolerant when read.

A message knows its kind (which decides its subject), its token (its name in subjects and
headers) and its version. Numbers are finite; unknown fields are an
error in our own code and are ignored when an older program reads a newer log.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, ClassVar, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from schemas.values.subjects import Kind

Unit = Annotated[float, Field(ge=0.0, le=1.0)]
"""A number from 0 to 1."""

Signed = Annotated[float, Field(ge=-1.0, le=1.0)]
"""A number from -1 to 1."""

Seconds = Annotated[float, Field(gt=0.0, le=1e9)]
"""A span of time, up to thirty years, so that none leads out of the calendar."""

Moment = AwareDatetime

NAME_LIMIT = 200
Name = Annotated[str, Field(min_length=1, max_length=NAME_LIMIT)]


class Part(BaseModel):
    """A frozen piece of a message."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )


class Message(Part):
    """A fact or an ask that the log holds."""

    kind: ClassVar[Kind]
    token: ClassVar[str]
    """The message's name in subjects and headers, for example `heuristic_fired`.

    It is the format of the log: it stays, whatever becomes of the class."""
    version: ClassVar[int] = 1

    def to_bytes(self) -> bytes:
        """The body of the message: JSON without what is not set."""
        return self.__pydantic_serializer__.to_json(self, exclude_none=True)

    @classmethod
    def from_fields(cls, fields: object) -> Self:
        """Read a body's fields, ignoring those that this version does not know.

        Raises:
            pydantic.ValidationError: a field is missing or of the wrong type.
        """
        return cls.model_validate(fields, extra="ignore")


@lru_cache(maxsize=64)
def rfc3339(at: datetime) -> str:
    """A time in UTC as `2026-11-21T07:35:49.123456Z`, always with microseconds."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"
