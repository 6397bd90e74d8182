"""A state as JSON and back: what a checkpoint and a session file hold.

A checkpoint is a cache, never the truth: whoever reads one that does not fit folds the
log from its start instead. Keys are sorted, so equal states have equal bytes.
"""

from types import GenericAlias
from typing import Any, get_args, get_origin

import msgspec
from immutables import Map

from schemas.message import Part
from schemas.state import AgentState, PartitionState

FORMAT = 2
"""Raised when the state's shape changes; a checkpoint of another format is not read."""


class CheckpointError(ValueError):
    """This is no checkpoint, or one of another version."""


class Checkpoint(msgspec.Struct, frozen=True):
    """A state with the format that it is written in."""

    format: int
    state: PartitionState


def dump(state: PartitionState) -> bytes:
    """The state as canonical JSON."""
    return msgspec.json.encode(
        Checkpoint(FORMAT, state), enc_hook=_to_builtin, order="deterministic"
    )


def load(data: bytes) -> PartitionState:
    """The state of a checkpoint.

    Raises:
        CheckpointError: it is none, or has another format.
    """
    try:
        checkpoint = msgspec.json.decode(data, type=Checkpoint, dec_hook=_from_builtin)
    except msgspec.DecodeError as error:
        raise CheckpointError(f"not a checkpoint: {error}") from error
    if checkpoint.format != FORMAT:
        raise CheckpointError(
            f"checkpoint of format {checkpoint.format}, this program reads {FORMAT}"
        )
    return checkpoint.state


def of_agent(state: PartitionState, agent: str) -> PartitionState:
    """The part of a state that one agent's inputs depend on."""
    own = state.agents.get(agent, AgentState())
    return PartitionState(
        shared=state.shared, agents=Map({agent: own}), position=state.position
    )


def _to_builtin(value: Any) -> Any:
    if isinstance(value, Map):
        return dict(value)
    if isinstance(value, Part):
        return value.model_dump(mode="json", exclude_none=True)
    raise NotImplementedError(f"{type(value).__name__} is no part of a state")


def _from_builtin(type_: Any, value: Any) -> Any:
    if get_origin(type_) is Map:
        plain = GenericAlias(dict, get_args(type_))
        return Map(msgspec.convert(value, plain, dec_hook=_from_builtin))
    if issubclass(type_, Part):
        return type_.model_validate(value)
    raise NotImplementedError(f"{type_} is no part of a state")
