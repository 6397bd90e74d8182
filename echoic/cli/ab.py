"""`echoic ab`: compare two strategies or personalities live."""

import re
from datetime import UTC, datetime
from typing import Annotated
from uuid import uuid4

import typer

from echoic.cli.connected import on_instance, send
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.client.publish import tell
from echoic.config.strategies import strategy_of
from echoic.errors import EchoicError, NotFoundError
from echoic.terminal import experiment
from echoic.terminal.called import as_typed
from evaluation.experiments.switchback import Switchback, analyse
from evaluation.experiments.trials import Course, course, newest
from handlers.mind.stages.executive import config_hash
from handlers.mind.strategies.baselines import AlwaysLlm
from replay.recording.in_force import InForce, in_force_before
from replay.recording.outcomes import OutcomeSettings
from schemas.messages.controls import ExperimentStarted, ExperimentStopped
from schemas.messages.experiments import UnitKind, Variant

app = new_app(
    "ab", "Compare two strategies or personalities live: start, status, stop."
)

_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@app.command()
def start(
    call: Call,
    a: Annotated[str | None, typer.Argument(metavar="[A]")] = None,
    b: Annotated[str | None, typer.Argument(metavar="[B]")] = None,
    by: UnitKind = "session",
    washout: str = "5m",
    personality_a: Annotated[str | None, typer.Option(metavar="TEXT")] = None,
    personality_b: Annotated[str | None, typer.Option(metavar="TEXT")] = None,
    template_a: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    template_b: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    silence: Annotated[float, typer.Option(min=0.0, max=1.0)] = 0.5,
    title: str = "",
) -> None:
    """Let each session, or person, have one of two variants by a fair draw.

    Examples: `echoic ab start heuristic_first always_llm`, `echoic ab start --by person
    --personality-a "You are kind." --personality-b "You are dry."`, `echoic ab start
    --template-a butler --template-b jester`.

    Args:
        a: A strategy: name:key=value, or a YAML file.
        b: The other strategy.
        by: Who gets a variant, and keeps it; a person is whom an event's `person` names.
        washout: How long after a change of variant nothing is counted.
        personality_a: The personality of A.
        personality_b: The personality of B.
        template_a: A's personality template, as `echoic personality list` has it.
        template_b: B's.
        silence: The value of silence, where nothing shows what came of it. It is recorded
            with the experiment, so that it cannot be chosen by what was seen.
        title: A title for the experiment.
    """
    _ = call.settings  # They list the modules that strategies may be of.
    started = ExperimentStarted(
        experiment_id=str(uuid4()),
        a=_variant(a, personality_a, template_a),
        b=_variant(b, personality_b, template_b),
        by=by,
        washout_s=_seconds(washout),
        silence=silence,
        title=title,
    ).checked()
    # Found out without an instance; `_begin` finds the same behind other words.
    if started.a == started.b:
        raise _alike()
    on_instance(call, lambda each: _begin(each, started))
    each = f"each {by} gets one of them by a fair draw → echoic ab status"
    call.show(
        {"experiment_id": started.experiment_id},
        (
            *(f"{name}  {experiment.label(getattr(started, name))}" for name in "ab"),
            as_typed(each),
        ),
    )


async def _begin(connection: Connection, started: ExperimentStarted) -> None:
    log, agent = connection.log, connection.settings.agent
    in_force = await in_force_before(log, agent)
    _check_model(in_force, started.a, started.b)
    # What is left out comes from the agent's settings, so variants that are written
    # differently may still decide alike.
    if _identity(started.a, in_force) == _identity(started.b, in_force):
        raise _alike()
    await tell(log, agent, started)


@app.command()
def status(call: Call) -> None:
    """Show what the newest experiment has shown so far; look as often as you like.

    Example: `echoic ab status`.
    """
    # Judged anew from the log each time: nothing is kept that could disagree with it.
    went, found = on_instance(call, _found)
    screen = experiment.screen(went, found, datetime.now(UTC))
    call.show(experiment.as_fields(went, found), screen)


@app.command()
def stop(call: Call) -> None:
    """End the experiment; what was in force without it is again.

    Example: `echoic ab stop`.
    """
    send(call, ExperimentStopped())
    ended = "stopped; what it has shown stays → echoic ab status"
    call.show({"stopped": True}, [as_typed(ended)])


async def _found(connection: Connection) -> tuple[Course, Switchback]:
    log, agent = connection.log, connection.settings.agent
    begun = await newest(log, agent)
    if begun is None:
        raise NotFoundError(
            f"agent {agent!r} has had no experiment", next_step="echoic ab start A B"
        )
    settings = OutcomeSettings(silence=begun.message.silence)
    went = await course(log, agent, begun, settings)
    return went, analyse(went.trials, went.open_unit)


def _identity(variant: Variant, in_force: InForce) -> tuple[str | None, ...]:
    """Return what a variant decides by: the hash of its strategy, and its personality."""
    strategy = in_force.asked(variant).strategy
    return config_hash(strategy), variant.personality, variant.template


def _check_model(in_force: InForce, *variants: Variant) -> None:
    """Refuse a side that can only ask a model where there is none.

    Raises:
        EchoicError: it would be silent throughout, and the experiment about nothing.
    """
    for each in variants:
        spec = each.strategy or in_force.strategy
        if in_force.settings.model is None and spec.name == AlwaysLlm.name:
            raise EchoicError(
                f"{spec.name} asks a model whatever comes, and this instance has none",
                next_step="echoic config show model.name",
            )


def _alike() -> EchoicError:
    return EchoicError(
        "a and b are one and the same: nothing is to be compared",
        next_step="echoic ab start heuristic_first heuristic_first:threshold=0.6",
    )


def _variant(
    strategy: str | None, personality: str | None, template: str | None
) -> Variant:
    return Variant(
        strategy=None if strategy is None else strategy_of(strategy),
        personality=personality,
        template=template,
    )


def _seconds(text: str) -> float:
    """Parse a span of time into seconds: `90`, `90s`, `5m`, `2h`, `1d`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text.strip())
    if found is None:
        raise EchoicError(f"{text!r} is no span of time", next_step="--washout 5m")
    return float(found[1]) * _UNITS_S[found[2] or "s"]
