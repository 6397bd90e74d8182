"""`echoic replay plan`: how much more to record, and with which exploration."""

from typing import Annotated

import typer

from echoic.cli.options import Call, Json
from echoic.cli.replay_estimate import observations_of
from echoic.errors import EchoicError
from echoic.terminal.output import note
from echoic.terminal.screen import number, table
from evaluation.ope.planning import (
    DEFAULT_EFFECT,
    UNIFORM_ARMS,
    Plan,
    plans,
    usual_schemes,
)
from evaluation.ope.recorded import Recorded, recorded_from

# Decisions of a session where nothing is known: as in the bench's worlds of known truth.
_USUAL_DECISIONS = 40.0
_RECORDED = ("sessions", "decisions", "flip_observations")
_HEADER = ("exploration", "played", "flip observations", "decisions", "sessions")


def plan(
    file: Annotated[str | None, typer.Argument(metavar="[FILE.jsonl]")] = None,
    flip_rate: float | None = None,
    decisions_per_session: float | None = None,
    effect: float = DEFAULT_EFFECT,
    arms: Annotated[int, typer.Option(min=2)] = UNIFORM_ARMS,
    as_json: Json = False,
) -> None:
    """Say how many sessions an answer needs, for each way to explore.

    Examples: `echoic replay plan log.jsonl --effect 0.15`, and without a log
    `echoic replay plan --flip-rate 0.3 --decisions-per-session 40`. The numbers give a
    true effect four chances in five to be found at 95 %.

    Args:
        file: A log as for `estimate`.
        flip_rate: The share of decisions where the two differ.
        decisions_per_session: How many decisions a session holds.
        effect: What one flip gains in outcome, that you wish to find.
        arms: How many arms share a uniform exploration.
    """
    recorded = None if file is None else recorded_from(observations_of(file))
    rate = _flip_rate(recorded, flip_rate)
    length = _length(recorded, decisions_per_session)
    try:
        found = plans(
            effect,
            flip_rate=rate,
            decisions_per_session=length,
            schemes=usual_schemes(arms=arms),
            recorded=recorded,
        )
    except ValueError as error:
        raise EchoicError(str(error)) from error
    if not as_json:
        _note(recorded, effect, rate, length)
    fields = {
        "effect": effect,
        "flip_rate": rate,
        "decisions_per_session": length,
        "recorded": recorded and {name: getattr(recorded, name) for name in _RECORDED},
        "plans": [_fields(each) for each in found],
    }
    header = _HEADER if recorded is None else (*_HEADER, "more to record")
    rows = [_row(each)[: len(header)] for each in found]
    Call(as_json=as_json).show(
        fields, [table((header[0], *map(number, header[1:])), rows)]
    )


def _flip_rate(recorded: Recorded | None, given: float | None) -> float:
    if given is not None:
        return given
    if recorded is None:
        raise EchoicError(
            "neither a log nor a flip rate: nothing to plan from",
            next_step="echoic replay plan --flip-rate 0.3 --decisions-per-session 40",
        )
    if not recorded.flip_rate:
        raise EchoicError(
            "the two strategies never differ in this log: there is nothing to find out",
            next_step="echoic replay estimate",
        )
    return recorded.flip_rate


def _length(recorded: Recorded | None, given: float | None) -> float:
    if given is not None:
        return given
    return _USUAL_DECISIONS if recorded is None else recorded.decisions_per_session


def _note(recorded: Recorded | None, effect: float, rate: float, length: float) -> None:
    """Say from what is planned."""
    if recorded is not None:
        note(
            f"recorded: {recorded.sessions:,} sessions, {recorded.decisions:,} decisions,"
            f" {recorded.flip_observations:.4g} flip observations"
        )
    note(
        f"to find {effect:+g} a flip, where {rate:.1%} of decisions flip"
        f" and a session holds {length:.4g}:"
    )


def _fields(plan: Plan) -> dict[str, object]:
    return {
        "exploration": plan.scheme.name,
        "probability": plan.scheme.challenger,
        "flip_observations": plan.flip_observations,
        "decisions": plan.decisions,
        "sessions": plan.sessions,
        "more_sessions": plan.more_sessions,
    }


def _row(plan: Plan) -> tuple[str, ...]:
    counts = (plan.flip_observations, plan.decisions, plan.sessions, plan.more_sessions)
    return (
        plan.scheme.name,
        f"{plan.scheme.challenger:.1%}",
        *map("{:,}".format, counts),
    )
