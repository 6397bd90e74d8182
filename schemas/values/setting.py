"""Declarations of settings: what an operator can set, declared beside the recorded field.

The options, their parsers, variables and page, what is recorded, and what retuning may
change all follow from these declarations and from the fields' own types and bounds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from schemas.values.base import Part
from schemas.values.meanings import meanings_of

_Bounds = tuple[float, float]

SWITCH = ("off", "on")
"""How operators write a switch."""

Reach = Literal["nothing", "runs", "loads", "sends", "listens"]
"""What a setting's value can do besides moving numbers and words of decisions: run a
program or code, load files, send data or keys to somebody, or open a door to others.

All but `nothing` is obeyed from a folder's own file only if its user trusts the folder.
"""


@dataclass(frozen=True, slots=True)
class Setting:
    """How an operator sets a field, as far as its type and bounds do not say it."""

    name: str
    """As in a file; dots stand for tables."""
    meaning: str = ""
    """What it means to an operator, if the field's own docstring does not say it."""
    start: Any = ...
    """What it is unless given, where an operator's word for it is not the field's default."""
    bounds: _Bounds | None = None
    """What may be given, if that is not just what may be recorded."""
    words: tuple[str, ...] = ()
    """The words that may be given, if the type does not say which."""
    form: str = ""
    """What form a value has that is neither number, switch, word nor text."""
    also: tuple[str, ...] = ()
    """Environment variables of other origin that set it, after our own."""
    reach: Reach | None = None
    """Needed where any text may be given; None: a number or one of a few words."""
    scale: float = 1.0
    """The factor from the operator's unit to the field's, such as 60 for minutes."""


@dataclass(frozen=True, slots=True)
class Tunable:
    """Marks a field that retuning and proposals may change, within its bounds or these."""

    bounds: _Bounds | None = None


@dataclass(frozen=True, slots=True)
class Declared:
    """A setting where it is declared."""

    setting: Setting
    part: type[Part]
    name: str
    """Of the part's field that it sets."""

    @property
    def field(self) -> FieldInfo:
        """The field that it sets."""
        return self.part.model_fields[self.name]

    @property
    def meaning(self) -> str:
        """What it means, read from the source where only a docstring says it."""
        told = self.setting.meaning or meanings_of(self.part).get(self.name, "")
        return " ".join(told.split())


def settings_of(part: type[Part]) -> Iterator[Declared]:
    """Yield every setting of a part and of the parts in it."""
    for name, field in part.model_fields.items():
        own = [each for each in field.metadata if isinstance(each, Setting)]
        inner = part_in(field)
        if inner is not None and not own:
            yield from settings_of(inner)
        for setting in own:
            yield Declared(setting, part, name)


def recorded(part: type[Part], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a part by the settings that are given, by name.

    A field without a setting, or whose setting is None, is left out: it has its default.
    """
    fields: dict[str, Any] = {}
    for name, field in part.model_fields.items():
        own = [each for each in field.metadata if isinstance(each, Setting)]
        inner = part_in(field)
        if own and given[own[0].name] is not None:
            fields[name] = _as_recorded(own[0], field, given[own[0].name])
        elif inner is not None and not own:
            fields[name] = recorded(inner, given)
    return fields


def switched(value: Any) -> Any:
    """Return a value as an operator writes it: a switch is a word."""
    return SWITCH[value] if isinstance(value, bool) else value


def as_given(setting: Setting, value: Any) -> Any:
    """Return a recorded value as an operator gives it, in the operator's unit."""
    if isinstance(value, Part):
        return value.model_dump()
    is_scaled = setting.scale != 1.0 and isinstance(value, int | float)
    return value / setting.scale if is_scaled else switched(value)


def tunable(part: type[Part], prefix: str) -> Mapping[str, _Bounds]:
    """Return the bounds of each tunable field by its full name, switches last."""
    found: dict[str, _Bounds] = {}
    for name, field in part.model_fields.items():
        inner = part_in(field)
        if inner is not None:
            found |= tunable(inner, f"{prefix}{name}.")
        for each in field.metadata:
            if isinstance(each, Tunable):
                found[prefix + name] = each.bounds or bounds_of(field)
    numbers_first = sorted(found, key=lambda name: isinstance(found[name][0], bool))
    return MappingProxyType({name: found[name] for name in numbers_first})


def bounds_of(field: FieldInfo) -> _Bounds:
    """Return the least and the greatest value of a field that has both, ends included."""
    if field.annotation is bool:
        return False, True
    # Exactly one bound at each end: a tunable field without one is a mistake of ours.
    (low,) = (each.ge for each in field.metadata if isinstance(each, Ge))
    (high,) = (each.le for each in field.metadata if isinstance(each, Le))
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    return low, high


def part_in(field: FieldInfo) -> type[Part] | None:
    """Return the part that a field holds, if it holds one, be it optional."""
    # The arguments are the members of `Part | None`.
    kinds = (field.annotation, *get_args(field.annotation))
    parts = (
        each for each in kinds if isinstance(each, type) and issubclass(each, Part)
    )
    return next(parts, None)


def _as_recorded(setting: Setting, field: FieldInfo, value: Any) -> Any:
    if field.annotation is bool:
        return value == SWITCH[True]
    return value if setting.scale == 1.0 else value * setting.scale
