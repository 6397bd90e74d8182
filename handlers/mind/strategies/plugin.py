"""The operator's own strategies: `module:function`, called with the parameters.

Only a plain function of a module that the operator lists is called, so that a recording
or a control which names some other function cannot run it. Its odds are checked each time
it decides: invalid ones come out as silence with the reason `error`.
"""

import ast
import hashlib
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from msgspec.structs import asdict
from pydantic import JsonValue

from handlers.mind.strategies.exploration import eligible_arms, whole
from schemas.messages.arms import SILENT
from schemas.messages.decisions import Gate
from schemas.ports.decision_context import DecisionContext, Odds, Strategy
from schemas.ports.faults import MissingStrategyError
from schemas.values.exact_math import total
from schemas.values.reasons import Silence
from schemas.values.struct_models import part_model
from schemas.values.unicode_text import quoted

_Parameters = dict[str, JsonValue]

_NOTE_CHARACTERS_MAX = 300
_MILLIONTH = 1e-6


class OwnStrategyError(ValueError):
    """The name leads to no strategy, or to an object that is none."""


class _OddsError(ValueError):
    """These odds cannot be drawn from."""


@dataclass(frozen=True)
class Own:
    """A strategy that an operator's function made, under its `module:function` name."""

    name: str
    version: int
    config: dict[str, JsonValue]
    made: Strategy

    @property
    def words(self) -> str | None:
        """What stands for its own prompts in the model's arm; None if it writes none."""
        return getattr(self.made, "words", None)

    def decide(self, context: DecisionContext) -> Odds:
        """Return its odds in whole millionths; silence if it raises or they are invalid."""
        try:
            return _checked(self.made.decide(context), context)
        # The operator's, not the strategy's.
        except KeyboardInterrupt:
            raise
        # `SystemExit` from foreign code ended whole instances (ADR 0027).
        except BaseException as error:  # noqa: BLE001  # whatever it is, life goes on
            return _failed(f"{type(error).__name__}: {error}")


@dataclass(frozen=True)
class Unlisted:
    """A strategy that was put in force before its module left the operator's list."""

    name: str
    version: int
    config: dict[str, JsonValue]

    def decide(self, context: DecisionContext) -> Odds:
        """Return silence with a gate that names the setting to change."""
        return _failed(f"{quoted(self.name)} is of no module in {SETTING}")


def make(name: str, parameters: _Parameters) -> Own:
    """Make the strategy that `module:function` returns for the parameters.

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
    # An async `decide` would return a coroutine, which fails only at the first event.
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


def _function(name: str) -> Callable[[_Parameters], Any]:
    module_name, _, function_name = name.partition(":")
    try:
        module = load(module_name)
    except StrategyModuleError as error:
        raise OwnStrategyError(str(error)) from error
    function = getattr(module, function_name, None)
    # Defined in that very module: an import of `os` must not make `module:system` callable.
    if not inspect.isfunction(function) or function.__module__ != module.__name__:
        raise OwnStrategyError(
            f"the module {quoted(module_name)} defines no function {quoted(function_name)}"
        )
    return function


def _checked(odds: Odds, context: DecisionContext) -> Odds:
    """Return the odds in whole millionths, if every arm is on offer and they add up to one.

    Raises:
        _OddsError: they cannot be drawn from.
    """
    for arm, share in odds.arms:
        if not _is_on_offer(arm, context):
            raise _OddsError(f"the arm {quoted(arm)} is not on offer")
        if not 0.0 <= share <= 1.0:
            raise _OddsError(
                f"the odds of {quoted(arm)} are {quoted(share)}: give 0 to 1"
            )
    given = total(share for _, share in odds.arms)
    # Each odd may be off by half a millionth once rounded; one spare for the sum itself.
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
    """Validate a gate, or a mapping of its fields: a struct itself checks no types."""
    fields = asdict(gate) if isinstance(gate, Gate) else gate
    return Gate(**part_model(Gate).model_validate(fields).model_dump())


def _is_on_offer(arm: str, context: DecisionContext) -> bool:
    """Tell whether an arm may be chosen: an eligible one, or a race of the model with
    one.
    """
    eligible = eligible_arms(context)
    if arm in eligible or context.llm_arm not in eligible:
        return arm in eligible
    return any(
        arm.startswith(f"race:{context.llm_arm}+{each.arm}@")
        and arm.rpartition("@")[2].isdecimal()
        for each in context.candidates
        if each.eligible
    )


SETTING = "strategies.modules"

_CHANCE = (
    "random",
    "secrets",
    "numpy.random",
    "os.urandom",
    "uuid.uuid1",
    "uuid.uuid4",
)
"""Sources of unkeyed randomness: with these a replay would decide otherwise."""

_OURS = (
    "schemas",
    "streams",
    "projections",
    "handlers",
    "replay",
    "evaluation",
    "echoic",
)

# Ambient on purpose: it says which code exists here, as `sys.modules` does (ADR 0027).
LISTED: ContextVar[tuple[str, ...]] = ContextVar("listed", default=())


class StrategyModuleError(ValueError):
    """A module that the operator lists cannot be used."""


def allow(names: Iterable[str]) -> None:
    """Set the modules that may be imported in this context, in place of all before."""
    LISTED.set(tuple(names))


def allowed() -> tuple[str, ...]:
    """Return the modules that may be imported."""
    return LISTED.get()


def digests() -> dict[str, str]:
    """Import every listed module; return the digest of each one's source, by name.

    Raises:
        StrategyModuleError: one of them cannot be imported, or draws by chance.
    """
    return {name: _digest(load(name)) for name in allowed()}


def load(name: str) -> ModuleType:
    """Import a listed module, or return it if it is imported already.

    Raises:
        MissingStrategyError: it is not listed.
        StrategyModuleError: it cannot be imported, or draws by chance.
    """
    if name not in allowed():
        raise MissingStrategyError(
            f"the module {quoted(name)} is not listed here: set {SETTING}"
            " (ECHOIC_STRATEGIES_MODULES) to run strategies of it"
        )
    # Otherwise a listed `handlers` would open every function of ours to a recording.
    if name.partition(".")[0] in _OURS:
        raise StrategyModuleError(
            f"{quoted(name)} is Echoic's own code: list a module of yours"
        )
    try:
        _check(name)
        return import_module(name)
    except StrategyModuleError:
        raise
    except (Exception, SystemExit) as error:
        raise StrategyModuleError(
            f"the module {quoted(name)} cannot be imported: {type(error).__name__}: {error}"
        ) from error


def _check(name: str) -> None:
    """Refuse a module that imports a source of chance, before its code runs."""
    source = _source(name)
    # A compiled module has no source to look at; the operator who lists it answers for it.
    if source is None:
        return
    # Finds mistakes, not malice: the operator who lists a module trusts it.
    for used in _used(ast.parse(source)):
        if used in _CHANCE or used.startswith("numpy.random."):
            raise StrategyModuleError(
                f"the module {quoted(name)} uses {used}, so a replay would decide otherwise:"
                " return odds over arms, and Echoic draws by a recorded key"
            )


def _used(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names that a module imports, and the attributes it uses of them."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield each.name
                names[each.asname or each.name.partition(".")[0]] = (
                    each.name if each.asname else each.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            for each in node.names:
                names[each.asname or each.name] = f"{node.module}.{each.name}"
                yield f"{node.module}.{each.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            home = names.get(node.value.id)
            if home is not None:
                yield f"{home}.{node.attr}"


def _source(name: str) -> bytes | None:
    """Return the text of a module's file; None if it has none that can be read."""
    try:
        found = find_spec(name)
    except (ImportError, ValueError):
        return None
    if found is None or found.origin is None or not found.origin.endswith(".py"):
        return None
    return Path(found.origin).read_bytes()


def _digest(module: ModuleType) -> str:
    source = _source(module.__name__) or b""
    return hashlib.blake2b(source, digest_size=16).hexdigest()
