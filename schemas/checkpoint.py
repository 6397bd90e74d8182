"""A state as JSON and back: what a checkpoint and a session file hold.

A checkpoint is a cache, never the truth: whoever reads one that does not fit folds the
log from its start instead. Keys are sorted, so equal states have equal bytes.
"""

from functools import cache
from typing import Any, get_args, get_origin

import orjson
from cattrs.preconf.orjson import OrjsonConverter, make_converter
from immutables import Map

from schemas.message import Part
from schemas.state import AgentState, PartitionState

FORMAT = 1
"""Raised when the state's shape changes; a checkpoint of another format is not read."""


class CheckpointError(ValueError):
    """This is no checkpoint, or one of another version."""


def dump(state: PartitionState) -> bytes:
    """The state as canonical JSON."""
    fields = _converter().unstructure(state, PartitionState)
    document = {"format": FORMAT, "state": fields}
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def load(data: bytes) -> PartitionState:
    """The state of a checkpoint.

    Raises:
        CheckpointError: it is none, or has another format.
    """
    try:
        document = orjson.loads(data)
        if document["format"] != FORMAT:
            raise CheckpointError(
                f"checkpoint of format {document['format']!r}, this program reads"
                f" {FORMAT}"
            )
        return _converter().structure(document["state"], PartitionState)
    except CheckpointError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise CheckpointError(f"not a checkpoint: {error!r}") from error


def of_agent(state: PartitionState, agent: str) -> PartitionState:
    """The part of a state that one agent's inputs depend on."""
    own = state.agents.get(agent, AgentState())
    return PartitionState(
        shared=state.shared, agents=Map({agent: own}), position=state.position
    )


@cache
def _converter() -> OrjsonConverter:
    converter = make_converter(detailed_validation=False)
    converter.register_structure_hook_func(_is_map, _structure_map)
    converter.register_unstructure_hook(Map, _unstructure_map)
    converter.register_structure_hook_func(_is_part, _structure_part)
    converter.register_unstructure_hook_func(_is_part, _unstructure_part)
    return converter


def _is_map(type_: Any) -> bool:
    return get_origin(type_) is Map


def _structure_map(fields: dict[str, Any], type_: Any) -> Map[str, Any]:
    _, value_type = get_args(type_)
    structure = _converter().structure
    return Map({key: structure(value, value_type) for key, value in fields.items()})


def _unstructure_map(value: Map[str, Any]) -> dict[str, Any]:
    unstructure = _converter().unstructure
    return {key: unstructure(value[key]) for key in sorted(value)}


def _is_part(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, Part)


def _structure_part(fields: dict[str, Any], type_: type[Part]) -> Part:
    return type_.model_validate(fields)


def _unstructure_part(value: Part) -> dict[str, Any]:
    return value.model_dump(mode="json", exclude_none=True)
