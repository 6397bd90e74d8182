"""Strategies of one's own: `module:function`, a function of parameters in your module.

Only a plain function of a module that the operator lists is called, so that a recording
or a control which names some other function cannot run it. What it makes is checked each
time it decides: what cannot be done comes out as silence with the reason `error`.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

from msgspec.structs import asdict
from pydantic import JsonValue

from handlers.mind.strategies import modules
from handlers.mind.strategies.exploration import eligible_arms, whole
from handlers.mind.strategies.modules import StrategyModuleError
from schemas.codec.struct_models import part_model
from schemas.messages.decisions import SILENT, Gate
from schemas.ports.decision_context import DecisionContext, Odds, Strategy
from schemas.values.exact_math import total
from schemas.values.reasons import Silence
from schemas.values.unicode_text import quoted

Parameters = dict[str, JsonValue]

_NOTE_CHARACTERS_MAX = 300
_MILLIONTH = 1e-6


class OwnStrategyError(ValueError):
    """There is no such strategy, or it is none."""


class _OddsError(ValueError):
    """These odds cannot be drawn from."""


@dataclass(frozen=True)
class Own:
    """What a function made, under the name it was asked for by."""

    name: str
    version: int
    config: dict[str, JsonValue]
    made: Strategy

    @property
    def words(self) -> str | None:
        """What stands for its own prompts in the model's arm; None if it has none."""
        return getattr(self.made, "words", None)

    def decide(self, context: DecisionContext) -> Odds:
        """Its odds in whole millionths; silence if it fails."""
        try:
            return _checked(self.made.decide(context), context)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # whatever it is, life goes on
            return _failed(f"{type(error).__name__}: {error}")


@dataclass(frozen=True)
class Unlisted:
    """A strategy that was put in force before its module left the operator's list."""

    name: str
    version: int
    config: dict[str, JsonValue]

    def decide(self, context: DecisionContext) -> Odds:
        """Silence that says which setting to change."""
        return _failed(f"{quoted(self.name)} is of no module in {modules.SETTING}")


def make(name: str, parameters: Parameters) -> Own:
    """The strategy that `module:function` makes of the parameters.

    Raises:
        OwnStrategyError: it cannot be imported, called, or makes no strategy.
        MissingStrategyError: its module is not listed here.
    """
    function = _function(name)
    try:
        made = function(dict(parameters))
    except (Exception, SystemExit) as error:
        raise OwnStrategyError(
            f"{quoted(name)} makes no strategy of {quoted(parameters)}:"
            f" {type(error).__name__}: {error}"
        ) from error
    if not callable(getattr(made, "decide", None)):
        raise OwnStrategyError(
            f"{quoted(name)} returns {quoted(made)}: return an object with decide(context)"
        )
    if inspect.iscoroutinefunction(made.decide):
        raise OwnStrategyError(
            f"{quoted(name)}: {type(made).__name__}.decide is async and may ask a model by"
            " itself: return echoic.api.awaiting(it), which asks in its place"
        )
    config = dict(getattr(made, "config", {}))
    return Own(
        name=name,
        version=int(getattr(made, "version", 1)),
        config={**config, "strategy": name, "parameters": parameters},
        made=made,
    )


def _failed(note: str) -> Odds:
    gate = Gate(name="strategy", passed=False, note=note[:_NOTE_CHARACTERS_MAX])
    return Odds.certain(SILENT, "error", gate)


def _function(name: str) -> Callable[[Parameters], Any]:
    module_name, _, function_name = name.partition(":")
    try:
        module = modules.load(module_name)
    except StrategyModuleError as error:
        raise OwnStrategyError(str(error)) from error
    function = getattr(module, function_name, None)
    if not inspect.isfunction(function) or function.__module__ != module.__name__:
        raise OwnStrategyError(
            f"the module {quoted(module_name)} defines no function {quoted(function_name)}"
        )
    return function


def _checked(odds: Odds, context: DecisionContext) -> Odds:
    """The odds, if every arm is on offer and they add up to one."""
    for arm, share in odds.arms:
        if not _is_on_offer(arm, context):
            raise _OddsError(f"the arm {quoted(arm)} is not on offer")
        if not 0.0 <= share <= 1.0:
            raise _OddsError(
                f"the odds of {quoted(arm)} are {quoted(share)}: give 0 to 1"
            )
    given = total(share for _, share in odds.arms)
    if abs(given - 1.0) > _MILLIONTH * (1 + len(odds.arms)):
        raise _OddsError(f"the odds add up to {quoted(given)}: make them add up to 1")
    if len(dict(odds.arms)) < len(odds.arms):
        raise _OddsError("an arm has odds twice: give them once")
    if odds.greedy not in dict(odds.arms):
        raise _OddsError(f"the greedy arm {quoted(odds.greedy)} has no odds")
    if odds.silence not in get_args(Silence):
        raise _OddsError(f"{quoted(odds.silence)} is no reason to be silent")
    gates = tuple(map(_checked_gate, odds.gates))
    arms = whole(dict(odds.arms), odds.greedy)
    return Odds(
        arms=arms,
        greedy=odds.greedy,
        silence=odds.silence,
        gates=gates,
        question=odds.question,
    )


def _checked_gate(gate: object) -> Gate:
    """A gate, or the fields of one, with every value as declared."""
    fields = asdict(gate) if isinstance(gate, Gate) else gate
    return Gate(**part_model(Gate).model_validate(fields).model_dump())


def _is_on_offer(arm: str, context: DecisionContext) -> bool:
    """Whether it can be done: an eligible arm, or a race of the model with one."""
    eligible = eligible_arms(context)
    if arm in eligible or context.llm_arm not in eligible:
        return arm in eligible
    return any(
        arm.startswith(f"race:{context.llm_arm}+{each.arm}@")
        and arm.rpartition("@")[2].isdecimal()
        for each in context.candidates
        if each.eligible
    )
