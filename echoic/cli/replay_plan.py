"""`echoic replay plan`: how much more to record, and with which exploration."""

from collections.abc import Iterable, Mapping
from typing import Annotated

import typer

from echoic.cli.options import Json
from echoic.cli.replay_estimate import observations_of
from echoic.errors import EchoicError
from echoic.terminal.output import note, print_json, table
from evaluation.ope.planning import (
    DEFAULT_EFFECT,
    UNIFORM_ARMS,
    Plan,
    Recorded,
    plans,
    recorded_from,
    usual_schemes,
)

# Decisions of a session where nothing is known: as in the bench's worlds of known truth.
_USUAL_DECISIONS = 40.0


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
    if as_json:
        print_json(_document(found, effect, rate, length, recorded))
    else:
        _tell(found, effect, rate, length, recorded)


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


def _document(
    found: Iterable[Plan],
    effect: float,
    rate: float,
    length: float,
    recorded: Recorded | None,
) -> Mapping[str, object]:
    return {
        "v": 1,
        "effect": effect,
        "flip_rate": rate,
        "decisions_per_session": length,
        "recorded": recorded
        and {
            "sessions": recorded.sessions,
            "decisions": recorded.decisions,
            "flip_observations": recorded.flip_observations,
        },
        "plans": [
            {
                "exploration": each.scheme.name,
                "probability": each.scheme.challenger,
                "flip_observations": each.flip_observations,
                "decisions": each.decisions,
                "sessions": each.sessions,
                "more_sessions": each.more_sessions,
            }
            for each in found
        ],
    }


def _tell(
    found: Iterable[Plan],
    effect: float,
    rate: float,
    length: float,
    recorded: Recorded | None,
) -> None:
    if recorded is not None:
        note(
            f"recorded: {recorded.sessions:,} sessions, {recorded.decisions:,} decisions,"
            f" {recorded.flip_observations:.4g} flip observations"
        )
    note(
        f"to find {effect:+g} a flip, where {rate:.1%} of decisions flip"
        f" and a session holds {length:.4g}:"
    )
    columns = ["exploration", "played", "flip observations", "decisions", "sessions"]
    table(
        (
            [
                each.scheme.name,
                f"{each.scheme.challenger:.1%}",
                f"{each.flip_observations:,}",
                f"{each.decisions:,}",
                f"{each.sessions:,}",
                *([f"{each.more_sessions:,}"] if recorded is not None else []),
            ]
            for each in found
        ),
        [*columns, *(["more to record"] if recorded is not None else [])],
    )
