"""Messages of the log once decoded: who, when, what, and in answer to what."""

from datetime import datetime

from msgspec import Struct

from schemas.codec.catalogue import InputMessage, OutputMessage
from schemas.values.reasons import Quarantine
from schemas.values.record import Record


class Unreadable(Struct, frozen=True):
    """An input that cannot be understood, and why; the mind quarantines it."""

    reason: Quarantine
    detail: str


class Input(Struct, frozen=True):
    """An input as the mind receives it."""

    record: Record
    partition: int
    agent: str
    """The agent it concerns; `_` for the whole partition, or if it names no valid agent."""
    id: str
    """Its `ce-id`, or one derived from its place in the log."""
    at: datetime
    """The broker's time."""
    message: InputMessage | Unreadable

    @property
    def sequence(self) -> int:
        """Its place in the log."""
        return self.record.sequence


class Mark(Struct, frozen=True):
    """The place of an output in the group that answers an input.

    Index and count tell a reader when a group is whole.
    """

    cause_sequence: int
    cause_id: str
    index: int
    count: int


class Output(Struct, frozen=True):
    """An output as it is read back."""

    record: Record
    partition: int
    agent: str
    id: str
    at: datetime
    """The agent's time when it was decided."""
    mark: Mark
    message: OutputMessage
