"""`echoic learning report`, and what `echoic heuristic` shows of recordings.

Recordings are read and nothing else, sessions of the log as well as files.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

from echoic.cli.options import Call, new_app
from echoic.cli.progress import Progress
from echoic.client.names import resolve
from echoic.config.load import Settings
from echoic.errors import EchoicError
from echoic.terminal.output import terminal
from schemas.values.lazily import Lazily

if TYPE_CHECKING:
    from echoic.client import evidence
    from echoic.terminal import confidence_curve, learning
    from evaluation.learning import differences, history, near_misses, summary
    from evaluation.learning.heuristics_at import Known
    from replay.recording.source import Recording
else:
    # `echoic heuristic list` is of the same group, and has no use for any of these.
    confidence_curve = Lazily("echoic.terminal.confidence_curve")
    differences = Lazily("evaluation.learning.differences")
    evidence = Lazily("echoic.client.evidence")
    history = Lazily("evaluation.learning.history")
    learning = Lazily("echoic.terminal.learning")
    near_misses = Lazily("evaluation.learning.near_misses")
    summary = Lazily("evaluation.learning.summary")

_T = TypeVar("_T")

app = new_app("learning", "What learning did.")

Heuristic = Annotated[
    str, typer.Argument(metavar="HEURISTIC", help="Its name, or how its id begins.")
]
Sessions = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SESSION|FILE]...",
        help="Sessions' ids, or files; without any all of the agent's log.",
    ),
]


@app.callback()
def _group() -> None:
    """What learning did, and whether every credit was earned."""


@app.command()
def report(
    call: Call,
    sessions: Sessions = None,
    per: Annotated[int | None, typer.Option(min=1)] = None,
    by: Literal["personality"] | None = None,
) -> None:
    """Report what learning did: who answered, at what cost, and how well it was known.

    Over time: the share that what was learnt answers, the calls of the model, how alike,
    how trusted and how true. Then calibration, how long heuristics took to be trusted, and
    credit that broke a rule, looked for in the log itself: exit code 1 if there is any.

    Examples: `echoic learning report`, `echoic learning report evening --per 100`,
    `echoic learning report packs/survival/recording/evening.echoic --json`.

    Args:
        per: So many decisions a period, not a quarter of all.
        by: Set personalities, or variants, side by side.
    """
    readings = _each(call.settings, sessions or (), summary.read)
    found = summary.report(readings, per=per, has_voices=by is not None)
    call.show(found.as_json(), learning.report(found, terminal()))
    if found.faults:
        raise typer.Exit(1)


def history_(call: Call, heuristic: Heuristic, sessions: Sessions = None) -> None:
    """Show everything that happened to a heuristic, line by line, with its causes.

    Examples: `echoic heuristic history drink-now`, `echoic heuristic history drink-now
    packs/survival/recording/evening.echoic --json`.
    """
    known, moves, _ = _life(call.settings, heuristic, sessions or ())
    here = confidence_curve.bounded(terminal())
    screen = (*confidence_curve.head(known), "", confidence_curve.history(moves, here))
    call.show({**asdict(known), "moves": _fields(moves)}, screen, here)


def curve(call: Call, heuristic: str, sessions: Sequence[str]) -> None:
    """Show the curve of a heuristic's confidence, with every signal and its cause."""
    known, moves, threshold = _life(call.settings, heuristic, sessions)
    here = confidence_curve.bounded(terminal())
    call.show(
        {**asdict(known), "threshold": threshold, "moves": _fields(moves)},
        confidence_curve.curve(known, moves, threshold, here),
        here,
    )


def diff(
    call: Call,
    one: Annotated[str, typer.Argument(metavar="SESSION|FILE")],
    other: Annotated[str, typer.Argument(metavar="SESSION|FILE")],
) -> None:
    """Show what was learnt, lost and changed between the ends of two sessions.

    Example: `echoic heuristic diff monday tuesday`.

    Args:
        one: The session whose end is compared …
        other: … with the end of this one.
    """
    before, after = (
        _each(call.settings, (name,), history.learning_history)[-1]
        for name in (one, other)
    )
    found = differences.differences(before.ends, after.ends)
    call.show(
        {"heuristics": [_difference(each) for each in found]},
        learning.difference(before, after, found),
    )


def near_misses_(
    call: Call, session: Annotated[str, typer.Argument(metavar="SESSION|FILE")]
) -> None:
    """Show which heuristics would have answered at other thresholds, .5 to .9.

    Example: `echoic heuristic near-misses packs/survival/recording/evening.echoic`.

    Args:
        session: Its id, or a file.
    """
    found, names = _each(call.settings, (session,), _near_misses)[-1]
    call.show(
        {"thresholds": near_misses.THRESHOLDS, **asdict(found), "names": names},
        learning.near_misses(found, names),
    )


async def _near_misses(
    recording: "Recording",
) -> "tuple[near_misses.NearMisses, dict[str, str]]":
    found = await near_misses.near_misses(recording)
    return found, dict((await history.learning_history(recording)).names)


def _each(
    settings: Settings,
    names: Sequence[str],
    read_one: "Callable[[Recording], Awaitable[_T]]",
) -> list[_T]:
    """Read each of the named recordings.

    Raises:
        EchoicError: there is no such recording, or it does not agree with itself.
    """

    async def run() -> list[_T]:
        made: list[_T] = []
        with Progress("recordings read") as progress:
            async with evidence.recordings(settings, names) as found:
                for recording, _ in found:
                    with evidence.as_invalid_recording(recording):
                        made.append(await read_one(recording))
                    progress(len(made))
        return made

    return asyncio.run(run())


def _life(
    settings: Settings, heuristic: str, names: Sequence[str]
) -> "tuple[Known, tuple[history.Move, ...], float]":
    """Return a heuristic as it is last known, its moves, and the threshold in force.

    Raises:
        EchoicError: there is no such heuristic, or it is gone, or no such recording.
    """
    # By time, whatever order they were named in: moves of one heuristic follow each other.
    histories = sorted(
        _each(settings, names, history.learning_history), key=lambda each: each.began_ns
    )
    known = {id_: name for each in histories for id_, name in each.names.items()}
    id_ = resolve(known, heuristic)
    last = next(each for each in reversed(histories) if id_ in each.names)
    # One that is gone at the end may still be shown as it was at the beginning.
    in_force = last.ends.get(id_) or last.begins.get(id_)
    if in_force is None:
        raise EchoicError(
            f"the heuristic {heuristic!r} was in force for a while only",
            next_step="name the session in which it was",
        )
    moves = tuple(move for each in histories for move in each.of(id_))
    return in_force, moves, last.threshold


def _fields(moves: "Sequence[history.Move]") -> list[dict[str, object]]:
    return [
        {
            **asdict(move.cause),
            "session": move.session,
            "before": move.before,
            "after": move.after,
        }
        for move in moves
    ]


def _difference(each: "differences.Difference") -> dict[str, object]:
    return {
        "id": each.known.id,
        "name": each.known.name,
        "change": each.sort,
        "confidence_change": each.by,
        "before": each.before and asdict(each.before),
        "after": each.after and asdict(each.after),
    }
