"""Situations: what an autonomous character finds itself in, and how alike two of them are."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from schemas.packs.autonomous import Autonomous
from schemas.packs.conditions import field_value
from schemas.state.autonomy import Act
from schemas.values.exact_math import round6

_NOWHERE = "unknown"
"""The state of a body that tells none."""

_JOIN = " + "
_NEARBY = 20
_LONGEST = 80
_LATELY = 3
"""Among how many of the latest actions one counts as done lately."""


class Near(Struct, frozen=True):
    """An object near the character."""

    name: str
    tag: str


class Surroundings(Struct, frozen=True):
    """What the body last told of where the character is."""

    state: str
    position: tuple[float, ...]
    """To one decimal, as the model is told."""
    nearby: tuple[Near, ...]


def surroundings(how: Autonomous, fields: Mapping[str, object]) -> Surroundings:
    """Read them from the fields of a body; what cannot be read is left out."""
    names = (how.state, how.position, how.nearby)
    state, position, nearby = (field_value(each, fields)[1] for each in names)
    return surroundings_of(state, position, nearby)


def surroundings_of(state: object, position: object, nearby: object) -> Surroundings:
    """Read them from what a body tells; what cannot be read is left out."""
    found = map(_near, nearby[:_NEARBY]) if isinstance(nearby, list) else ()
    return Surroundings(
        state=state[:_LONGEST] if isinstance(state, str) and state else _NOWHERE,
        position=_position(position),
        nearby=tuple(each for each in found if each is not None),
    )


def fingerprint(how: Autonomous, here: Surroundings, acts: Sequence[Act]) -> str:
    """Return the situation: the body's state, tags near, and what was done lately.

    `idle + near_bench + walked_recently` is the source design's example.
    """
    tags = {f"near_{_word(each.tag)}" for each in here.nearby}
    done = {
        f"{declared.leaves}_recently"
        for each in acts[-_LATELY:]
        if each.outcome not in ("failed", "cancelled")
        and (declared := how.action(each.action)) is not None
        and declared.leaves is not None
    }
    return _JOIN.join((_word(here.state), *sorted(tags), *sorted(done)))


def relevance(one: str, other: str) -> float:
    """Return how alike two situations are, 0 to 1: half by the state, half by the rest."""
    if one == other:
        return 1.0
    state, *rest = one.split(_JOIN)
    its_state, *its_rest = other.split(_JOIN)
    union = len({*rest, *its_rest})
    alike = len({*rest} & {*its_rest}) / union if union else 1.0
    return round6(0.5 * (state == its_state) + 0.5 * alike)


def _near(told: object) -> Near | None:
    if isinstance(told, str):
        return Near(told[:_LONGEST], _tag_of(told[:_LONGEST])) if told else None
    if not isinstance(told, dict):
        return None
    name, tag = told.get("name"), told.get("tag")
    if not isinstance(name, str) or not name:
        return None
    name = name[:_LONGEST]
    is_tagged = isinstance(tag, str) and tag
    return Near(name, str(tag)[:_LONGEST] if is_tagged else _tag_of(name))


def _tag_of(name: str) -> str:
    """Return the tag of an object that has none: its name without a number."""
    return name.rstrip("0123456789").rstrip("_- ") or name


def _position(told: object) -> tuple[float, ...]:
    if isinstance(told, dict):
        told = [told.get(axis) for axis in ("x", "y", "z") if axis in told]
    if not isinstance(told, list) or len(told) > len("xyz"):
        return ()
    if not all(isinstance(each, int | float) for each in told):
        return ()
    # Adding zero turns minus zero into zero.
    return tuple(round(float(each), 1) + 0.0 for each in told)


def _word(text: str) -> str:
    return "_".join(text.casefold().split())
