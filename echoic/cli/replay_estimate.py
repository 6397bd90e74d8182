"""`echoic replay estimate`: whether a strategy is better, from anybody's log."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

from echoic import errors
from echoic.cli.options import For, Json, Rope
from echoic.cli.progress import Progress
from echoic.errors import EchoicError
from echoic.terminal import estimate as estimate_screen
from echoic.terminal.output import print_json, show
from evaluation.ope import jsonl
from evaluation.ope.estimate import estimate as estimated
from evaluation.ope.people import Population
from evaluation.ope.rows import Observation
from evaluation.ope.settings import EstimationSettings, Limits
from evaluation.ope.verdicts import Verdict

STDIN = "-"
"""The name of standard input, as a file."""
# Decisions between two looks at the clock: reading one takes microseconds.
_TOLD_EVERY = 1000


def estimate(
    file: Annotated[str, typer.Argument(metavar="FILE.jsonl")],
    rope: Rope = None,
    whom: For = "these",
    limit: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    show_unreliable: bool = False,
    as_json: Json = False,
) -> None:
    """Say what a strategy would have been worth, from decisions another one made.

    A line is one decision: {"arm": what was done, "p": with which probability it was
    drawn, "reward": how it went in [0, 1] or null, "target": {arm: probability},
    "baseline": {arm: probability}}, and where known "session", "person" (whom it
    concerned), "agent" (who decided), "decision", "context", "logging" (the probability of
    every arm when it was drawn) and "position" (which came first in a session; with it and
    an arm "silent" it is tested whether having spoken moves the next outcome).

    Examples: `echoic replay estimate log.jsonl`, `cat log.jsonl | echoic replay estimate -
    --json`, `echoic replay estimate log.jsonl --limit flip_observations=60`. The exit code
    is 3 if the log cannot be what it says.

    Args:
        file: The log; - for stdin.
        limit: A stricter limit of a gate.
        show_unreliable: Show what gates hold back.
    """
    settings = _settings(rope, limit or [], whom)
    found = estimated(observations_of(file), settings)
    if as_json:
        print_json(found.as_json(all_shown=show_unreliable))
    else:
        show(*estimate_screen.screen(found, file, all_shown=show_unreliable))
    if found.difference.verdict == Verdict.INVALID:
        raise typer.Exit(errors.INVALID)


def observations_of(file: str) -> Iterator[Observation]:
    """Yield the decisions in a log, one by one; `-` is stdin.

    Raises:
        LineError: a line is of no use; it says which and why.
    """
    with _lines(file) as lines, Progress("decisions read") as progress:
        rows = jsonl.read(lines, "stdin" if file == STDIN else file)
        for count, row in enumerate(rows, 1):
            if count % _TOLD_EVERY == 0:
                progress(count)
            yield row


@contextmanager
def _lines(file: str) -> Iterator[Iterable[bytes]]:
    if file != STDIN:
        with Path(file).open("rb") as lines:
            yield lines
    # A test's stdin may be text alone.
    elif hasattr(sys.stdin, "buffer"):
        yield sys.stdin.buffer
    else:
        yield (line.encode() for line in sys.stdin)


def _settings(
    rope: float | None, limits: Sequence[str], whom: Population
) -> EstimationSettings:
    try:
        given = Limits(**dict(map(_limit, limits)))
        return EstimationSettings.wished(rope, given, whom)
    except ValueError as error:
        raise EchoicError(str(error)) from error


def _limit(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    known = [each.name for each in fields(Limits)]
    if name not in known:
        raise EchoicError(
            f"limit {name!r} is unknown", next_step=f"one of {', '.join(known)}"
        )
    try:
        return name, float(value)
    except ValueError as error:
        what = f"limit {name} {value!r} is no number"
        raise EchoicError(what, next_step=f"--limit {name}=30") from error
