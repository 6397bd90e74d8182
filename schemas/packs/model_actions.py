"""What a pack lets a model do besides speaking, and whether what it wants is among that.

Nothing may be done that is not declared; the same table is told to the model, checks what it
answers, and words the question that goes before what a person has to confirm.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Annotated, Literal, Self

from msgspec import Struct
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.messages.arms import Action
from schemas.messages.sensing import SOMEBODY, Fields
from schemas.values.base import Part, Token
from schemas.values.phrases import filled
from schemas.values.unicode_text import folded, quoted

_Given = Annotated[str, Field(min_length=1, max_length=200)]
_TYPE, _TARGET, _PARAMS = ("type", "name"), "target", ("params", "parameters")


class _ActionParameter(Part):
    """A value that an action takes."""

    type: Literal["text", "number", "flag"] = "text"
    one_of: tuple[_Given, ...] = Field(default=(), max_length=64)
    """The texts that it may be; empty: any."""
    least: float | None = None
    most: float | None = None
    needed: bool = True

    @model_validator(mode="after")
    def _fits_its_type(self) -> Self:
        is_bounded = self.least is not None or self.most is not None
        if (self.one_of and self.type != "text") or (
            is_bounded and self.type != "number"
        ):
            message = "`one_of` is for a text, `least` and `most` are for a number"
            raise PydanticCustomError("parameter", message)
        return self

    def told(self) -> str:
        """Return in words what it may be."""
        bounds = (("from", self.least), ("to", self.most))
        words = [f"{word} {bound:g}" for word, bound in bounds if bound is not None]
        sort = {"text": "a text", "number": "a number", "flag": "true or false"}
        found = " ".join((_either(self.one_of) or sort[self.type], *words))
        return found if self.needed else f"{found}, or left out"

    def read(self, value: object) -> str | float | bool | None:
        """Return a value as it is meant; None if it is none of these."""
        if self.type == "flag":
            return value if isinstance(value, bool) else None
        if self.type == "text":
            return _one_of(self.one_of, value) if self.one_of else _text(value)
        try:
            # JSON's true is an int to Python, and no number.
            number = float("nan" if isinstance(value, bool) else str(value))
        except ValueError:
            return None
        least, most = (
            number if bound is None else bound for bound in (self.least, self.most)
        )
        return number if isfinite(number) and least <= number <= most else None


class ModelAction(Part):
    """Something that a model may do."""

    type: Token
    by: Literal["model"]
    """Written out, since it gives a model a hand: heuristics carry actions of their own."""
    does: str = Field(min_length=1, max_length=300)
    """What it does, for the model: `switch a light on or off`."""
    targets: tuple[_Given, ...] = Field(default=(), max_length=256)
    """What it can be done to, of which it needs one; empty: it has no target."""
    params: dict[Token, _ActionParameter] = Field(default_factory=dict, max_length=16)
    answers: Literal["person", "anyone", "anything"] = "person"
    """What it may be done in answer to: words of a person who is known, words of whoever
    speaks, or whatever a sensor notices as well."""
    confirm: str | None = Field(default=None, min_length=1, max_length=500)
    """The question that is asked before it is done, with `{target}` and parameters."""

    def is_for(self, speaker: str | None) -> bool:
        """Tell whether it may be done in answer to this speaker's words; None: nobody's."""
        if self.answers == "person":
            return speaker not in (None, SOMEBODY)
        return self.answers == "anything" or speaker is not None

    def told(self) -> str:
        """Return the line by which a model knows it."""
        parts = [f"- {self.type}: {self.does}"]
        if self.targets:
            parts.append(f"{_TARGET}: {_either(self.targets)}")
        parts += [f"{name}: {each.told()}" for name, each in self.params.items()]
        return "; ".join(parts)

    def question(self, action: Action) -> str:
        """Return what is asked before it is done; empty if nothing is."""
        given = {name: str(value) for name, value in action.params.items()}
        return filled(self.confirm or "", **{_TARGET: action.target or "", **given})


class Wanted(Struct, frozen=True):
    """What a model wants to do, in its own words."""

    type: str
    given: Mapping[str, object]
    """The target and the parameters."""


def offered(
    actions: Iterable[ModelAction], speaker: str | None
) -> tuple[ModelAction, ...]:
    """Return what may be done in answer to this speaker's words; None: to an event."""
    return tuple(each for each in actions if each.is_for(speaker))


def wanted(told: object) -> Wanted | None:
    """Return what an object or a word of a model asks to do; None if it is no such thing.

    Small models put parameters beside the type: they count as if they stood in `params`.
    """
    if isinstance(told, str):
        return Wanted(told.strip(), {}) if told.strip() else None
    if not isinstance(told, dict):
        return None
    type_ = next((told[each] for each in _TYPE if isinstance(told.get(each), str)), "")
    nested: object = next((told[each] for each in _PARAMS if told.get(each)), {})
    if not type_.strip() or not isinstance(nested, dict):
        return None
    beside = {
        name: each for name, each in told.items() if name not in (*_TYPE, *_PARAMS)
    }
    return Wanted(type_.strip(), {**beside, **nested})


def checked(wants: Wanted, actions: Sequence[ModelAction]) -> Action | str:
    """Return the action that is meant, with what it needs; else why it is not done."""
    known = {each.type: each for each in actions}
    name = _one_of(tuple(known), wants.type)
    if name is None:
        return f"{quoted(wants.type)} is no action that it may take here"
    takes, targets = known[name].params, known[name].targets
    given = {each: value for each, value in wants.given.items() if value is not None}
    target = given.pop(_TARGET, None) if _TARGET not in takes else None
    meant = _one_of(targets, target)
    if targets and meant is None:
        on = "without a target" if target is None else f"on {quoted(target)}"
        return f"{name} {on}: it can be done to {_either(targets)}"
    why = _unfit(takes, given)
    if why is not None:
        return f"{name}: {why}"
    params: Fields = {
        each: takes[each].read(given[each]) for each in takes if each in given
    }
    return Action(type=name, target=meant, params=params)


def _unfit(
    takes: Mapping[str, _ActionParameter], given: Mapping[str, object]
) -> str | None:
    """Return which parameter is missing, none, or not as declared; None if all fit."""
    for name, each in takes.items():
        if name not in given and each.needed:
            return f"{name} is missing; it takes {each.told()}"
        if name in given and each.read(given[name]) is None:
            return f"{name} is {quoted(given[name])}; it takes {each.told()}"
    further = sorted(given.keys() - takes.keys())
    return f"it takes no {quoted(further[0])}" if further else None


def _one_of(known: Sequence[str], value: object) -> str | None:
    """Return which of some texts is meant, whatever its case; None if none is."""
    said = _text(value)
    found = (
        each for each in known if said is not None and _level(each) == _level(said)
    )
    return next(found, None)


def _level(text: str) -> str:
    return folded(text.strip()).replace(" ", "_")


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _either(names: Sequence[str]) -> str:
    *others, last = names or ("",)
    return f"{', '.join(others)} or {last}" if others else last
