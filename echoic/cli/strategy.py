"""`echoic strategy`: the ways to decide, and the parameters of each."""

import inspect
from collections.abc import Mapping
from typing import Any

from rich.console import RenderableType

from echoic.cli.options import Call, InstanceCall, Json, new_app
from echoic.config.load import Settings
from echoic.config.strategies import strategy_of
from echoic.terminal.screen import table, words
from handlers.mind.strategies.heuristic_first import Trusting
from handlers.mind.strategies.plugin import Own
from handlers.mind.strategies.registry import (
    STRATEGIES,
    create_decision_strategy,
    from_settings,
)
from schemas.ports.decision_context import Strategy
from schemas.values.meanings import meanings_of
from schemas.values.settings import UNSTARTED, MindSettings
from schemas.values.settings_by_name import SHORT_NAMES

app = new_app("strategy", "The ways to decide: list, show.")


@app.command(name="list")
def list_(as_json: Json = False) -> None:
    """List the strategies there are.

    Example: `echoic strategy list`. One of your own is named as `module:function`.
    """
    rows = [{"strategy": name, "does": _about(STRATEGIES[name])} for name in STRATEGIES]
    cells = ((row["strategy"], row["does"].splitlines()[0]) for row in rows)
    Call(as_json=as_json).show_rows(rows, ("strategy", "does"), cells)


@app.command()
def show(call: InstanceCall, strategy: str) -> None:
    """Show what a strategy does, and its parameters as they would be in force.

    Examples: `echoic strategy show urgency`, `echoic strategy show
    urgency:reduction=0.4`, `echoic strategy show my.yaml`.

    Args:
        strategy: Its name, name:key=value,…, or a YAML file.
    """
    mind = _settings(call.settings)
    spec = strategy_of(strategy)
    made = create_decision_strategy(spec, mind)
    does = _about(type(made.made) if isinstance(made, Own) else type(made))
    parameters = _parameters(made, spec.parameters, mind)
    fields = {
        "strategy": made.name,
        "version": made.version,
        "does": does,
        "parameters": parameters,
    }
    screen: list[RenderableType] = [f"{made.name}, version {made.version}", ""]
    screen += does.splitlines()
    if parameters:
        header = ("parameter", "value", words("meaning"))
        screen += ["", table(header, map(_row, parameters))]
    call.show(fields, screen)


def _settings(settings: Settings) -> MindSettings:
    """Return what settings say of strategies."""
    return UNSTARTED.model_copy(
        update={
            "threshold": settings["threshold"],
            "max_candidates": settings["model.candidates"],
            "confidence_ceiling": settings["model.ceiling"],
        }
    )


def _about(kind: type) -> str:
    """Return what a strategy says of itself, without its own name before it."""
    about = inspect.getdoc(kind) or "It does not say."
    name, colon, rest = about.partition("`: ")
    if not (colon and name.startswith("`")):
        return about
    return rest[:1].upper() + rest[1:]


def _parameters(
    made: Strategy, given: Mapping[str, object], settings: MindSettings
) -> list[dict[str, Any]]:
    """Return each parameter with its value; of one's own strategy those that were given."""
    kind = STRATEGIES.get(made.name)
    if kind is None:
        return [{"parameter": each, "value": given[each]} for each in given]
    # Only these take their defaults from settings; the baselines have none.
    of_settings = from_settings(settings) if issubclass(kind, Trusting) else {}
    meanings = meanings_of(kind)
    return [
        {
            "parameter": name,
            "also": [each for each in SHORT_NAMES if SHORT_NAMES[each] == name],
            "value": getattr(made, name),
            "default": of_settings.get(name, field.default),
            "meaning": " ".join(meanings.get(name, "").split()),
        }
        for name, field in kind.model_fields.items()
    ]


def _row(parameter: Mapping[str, Any]) -> tuple[str, str, str]:
    names = [parameter["parameter"], *parameter.get("also", ())]
    value, default = parameter["value"], parameter.get("default", parameter["value"])
    shown = _text(value) if value == default else f"{_text(value)} (else {default})"
    return " or ".join(names), shown, parameter.get("meaning", "")


def _text(value: object) -> str:
    return "as the settings say" if value is None else str(value)
