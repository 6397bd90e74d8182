"""`echoic replay plan`: how much more to record, and with which exploration."""

import shlex
from collections.abc import Iterable
from typing import Annotated

import typer

from echoic.cli.options import Call, Jobs
from echoic.cli.progress import Progress
from echoic.cli.replay_estimate import STDIN, observations_of
from echoic.client.comparison import compare_all
from echoic.client.evidence import InvalidRecordingError
from echoic.client.recordings import is_path, is_recording
from echoic.config.strategies import strategy_of
from echoic.errors import EchoicError
from echoic.terminal.output import note
from echoic.terminal.screen import number, table
from evaluation.compare.overall import rows_of
from evaluation.compare.session import Plan as ComparePlan
from evaluation.ope.planning import (
    DEFAULT_EFFECT,
    UNIFORM_ARMS,
    Plan,
    plans,
    usual_schemes,
)
from evaluation.ope.recorded import Recorded, recorded_from
from evaluation.ope.rows import Observation
from schemas.messages.experiments import Variant

# Decisions of a session where nothing is known: as in the bench's worlds of known truth.
_USUAL_DECISIONS = 40.0
_NAMED = typer.Argument(metavar="[SESSION|FILE|LOG.jsonl]...")
_RECORDED = ("sessions", "decisions", "flip_observations")
_HEADER = ("exploration", "played", "flip observations", "decisions", "sessions")


def plan(
    call: Call,
    named: Annotated[list[str] | None, _NAMED] = None,
    strategy: Annotated[str | None, typer.Option("--strategy", "-s")] = None,
    flip_rate: float | None = None,
    decisions_per_session: float | None = None,
    effect: float = DEFAULT_EFFECT,
    arms: Annotated[int, typer.Option(min=2)] = UNIFORM_ARMS,
    jobs: Jobs = None,
) -> None:
    """Say how many sessions an answer needs, for each way to explore.

    Examples: `echoic replay plan evening.echoic -s heuristic_first:threshold=0.5`, of
    anybody's log `echoic replay plan log.jsonl --effect 0.15`, and without a log
    `echoic replay plan --flip-rate 0.3 --decisions-per-session 40`. They are for
    80 % power at 95 % confidence.

    Args:
        named: Recordings as for `compare`, or a log as for `estimate`.
        strategy: The challenger, where recordings are named.
        flip_rate: The share of decisions where the two differ.
        decisions_per_session: How many decisions a session holds.
        effect: What one flip gains in outcome, that you wish to find.
        arms: How many arms share a uniform exploration.
    """
    rows = _rows(call, named or [], strategy, jobs)
    recorded = None if rows is None else recorded_from(rows)
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
    if not call.as_json:
        _note(recorded, effect, rate, length)
    fields = {
        "effect": effect,
        "flip_rate": rate,
        "decisions_per_session": length,
        "recorded": recorded and {name: getattr(recorded, name) for name in _RECORDED},
        "plans": [_fields(each) for each in found],
    }
    header = _HEADER if recorded is None else (*_HEADER, "more to record")
    cells = [_row(each)[: len(header)] for each in found]
    call.show(fields, [table((header[0], *map(number, header[1:])), cells)])


def _rows(
    call: Call, named: list[str], strategy: str | None, jobs: int | None
) -> Iterable[Observation] | None:
    """Return the decisions to plan from; None if no recording and no log is named."""
    if strategy is not None:
        return _compared(call, named, strategy, jobs)
    if not named:
        return None
    # What is no file at all may be a session.
    is_log = named[0] == STDIN or (is_path(named[0]) and not is_recording(named[0]))
    if not is_log or len(named) > 1:
        raise EchoicError(
            f"{', '.join(named)}: of recordings nothing is planned until a challenger is"
            " named",
            next_step=f"echoic replay plan {shlex.join(named)} --strategy STRATEGY",
        )
    return observations_of(named[0])


def _compared(
    call: Call, named: list[str], strategy: str, jobs: int | None
) -> list[Observation]:
    """Return the decisions of recordings, with what a challenger would have done."""
    asked = ComparePlan(
        baseline=Variant(),
        challengers=(Variant(strategy=strategy_of(strategy, "--strategy")),),
    )
    with Progress("compared", is_silent=call.as_json) as progress:
        results = compare_all(call.settings, named, asked, progress, jobs)
    for each in results:
        if (wrong := each.verification.divergence) is not None:
            raise InvalidRecordingError(
                f"{each.recording.origin}, input {wrong.sequence}: {wrong.what}:"
                f" {wrong.replayed}",
                next_step=f"echoic replay verify {each.recording.origin}",
            )
    return rows_of(results, asked, challenger=1)


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
