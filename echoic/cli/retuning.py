"""`echoic projection replay`: what would be believed under other learning settings."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import typer

from echoic import retuning_screen
from echoic.cli.common import (
    Agent,
    Data,
    Json,
    has_colour,
    print_json,
    settings_of,
    terminal_width,
)
from echoic.errors import EchoicError
from echoic.evidence import evidence_of
from echoic.render import Style
from replay.retuning.scoring import retuned
from schemas.settings import SEED_LEARNING
from schemas.tuning import LEARNING, Scalar, TuningError, learning_value

_PRESET: Mapping[str, Scalar] = {
    name: learning_value(SEED_LEARNING, name)
    for name in LEARNING
    if name.startswith("learning.weights.")
}


def replay(
    sessions: Annotated[
        list[str] | None,
        typer.Argument(metavar="SESSION|FILE", help="Sessions' ids, or files."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=NUMBER", help="A setting to change."),
    ] = None,
    preset: Annotated[
        Literal["seed"] | None,
        typer.Option(help="`seed`: every signal counts as one whole observation."),
    ] = None,
    data: Data = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Fold what was recorded under other learning settings; nothing is written.

    Fires, outcomes, votes and edits stay as they are; confidence is counted anew. Shows
    each heuristic's confidence both ways, and which settings would have predicted better.

    Examples: `echoic projection replay --set learning.gamma=0.98`, `echoic projection
    replay --set learning.weights.explicit=0.6 evening`, `echoic projection replay --preset
    seed packs/survival/recording/evening.echoic`.
    """
    wanted = {**(_PRESET if preset else {}), **settings_named(changes or ())}
    if not wanted:
        raise EchoicError(
            "nothing is to be changed", next_step="--set learning.gamma=0.98"
        )
    evidence = asyncio.run(evidence_of(settings_of(data, agent), sessions or ()))
    try:
        found = retuned(evidence, wanted)
    except TuningError as error:
        raise EchoicError(str(error)) from error
    if as_json:
        print_json(found.as_json())
        return
    for line in retuning_screen.lines(found, Style(terminal_width(), has_colour())):
        print(line)


def settings_named(texts: Sequence[str]) -> dict[str, Scalar]:
    """Settings by name, of texts such as `learning.gamma=0.98`.

    Raises:
        EchoicError: one names nothing, or no number.
    """
    found: dict[str, Scalar] = {}
    for text in texts:
        name, equals, number = text.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise EchoicError(
                f"{text!r} sets nothing", next_step="--set learning.gamma=0.98"
            )
    return found
