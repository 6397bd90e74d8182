"""A state as JSON and back: what a checkpoint and a session file hold.

A cached checkpoint is never the truth: one that cannot be used is replaced by folding the
log. The state at the head of a session file, however, is data: every later program reads
it, through an upcast for each format since. Keys are sorted, so equal states have equal
bytes.
"""

from types import GenericAlias
from typing import Any, get_args, get_origin

import msgspec
from immutables import Map

from schemas.codec import upcasts
from schemas.state.agent import AgentState, PartitionState
from schemas.values.base import Part, fields_of
from schemas.values.bounded_map import EMPTY
from schemas.values.packed_texts import PackedTexts

FORMAT = 9
"""Raised when the state's shape changes; an upcast and a golden state come with it."""

OLDEST = min(upcasts.STATES)


class CheckpointError(ValueError):
    """This is no checkpoint, or one of another version."""


class _Head(msgspec.Struct, frozen=True):
    """The format alone, read before anything else can be."""

    format: int


class _Old(msgspec.Struct, frozen=True):
    """A state of an older format, as raw JSON."""

    state: dict[str, Any]


class Checkpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A state and the format it is written in."""

    format: int
    state: PartitionState


def dump(state: PartitionState) -> bytes:
    """Return the state as canonical JSON."""
    return msgspec.json.encode(
        Checkpoint(FORMAT, state), enc_hook=_to_builtin, order="deterministic"
    )


def load(data: bytes) -> PartitionState:
    """Return the state of a checkpoint.

    Raises:
        CheckpointError: this is no checkpoint, or of a format that cannot be read here.
    """
    try:
        # In two passes, since the types of `Checkpoint` only fit the present format.
        head = msgspec.json.decode(data, type=_Head)
        if head.format < FORMAT:
            data = _upcast(data, head.format)
        elif head.format > FORMAT:
            raise CheckpointError(
                f"checkpoint of format {head.format}, this program reads {OLDEST} to"
                f" {FORMAT}: a newer Echoic wrote it, read it with that one"
            )
        return msgspec.json.decode(data, type=Checkpoint, dec_hook=_from_builtin).state
    except ValueError as error:
        raise CheckpointError(f"not a checkpoint: {error}") from error


def _upcast(data: bytes, format_: int) -> bytes:
    """Return a checkpoint of an older format as it would be written today."""
    if format_ < OLDEST:
        raise CheckpointError(
            f"checkpoint of format {format_}, this program reads {OLDEST} to {FORMAT}"
        )
    state = msgspec.json.decode(data, type=_Old).state
    # One step a format: an upcast never has to know those after it.
    for each in range(format_, FORMAT):
        state = upcasts.STATES[each](state)
    return msgspec.json.encode({"format": FORMAT, "state": state})


def of_agent(state: PartitionState, agent: str) -> PartitionState:
    """Return the part of a state that one agent's inputs depend on."""
    own = state.agents.get(agent, AgentState())
    return PartitionState(
        shared=state.shared, agents=Map({agent: own}), position=state.position
    )


def _to_builtin(value: Any) -> Any:
    return dict(value) if isinstance(value, Map | PackedTexts) else fields_of(value)


def _from_builtin(type_: Any, value: Any) -> Any:
    if get_origin(type_) is Map:
        plain = GenericAlias(dict, get_args(type_))
        # Through a dict of the same types: msgspec knows no persistent maps, and so their
        # values are converted, too.
        held = msgspec.convert(value, plain, dec_hook=_from_builtin)
        # One empty map for all: a state holds tens of thousands of them.
        return Map(held) if held else EMPTY
    if issubclass(type_, Part):
        return type_.model_validate(value)
    raise NotImplementedError(f"{type_} is no part of a state")
