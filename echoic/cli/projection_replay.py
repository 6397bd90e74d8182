"""`echoic projection replay`: what would be believed under other learning settings."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import typer

from echoic.cli.options import Call
from echoic.client.evidence import evidence_of, rapport_of
from echoic.errors import EchoicError
from echoic.terminal import retuning
from echoic.terminal.output import print_json, show
from evaluation.evidence.rapport import PREFIX, as_fields, pace_of
from evaluation.tuning.scoring import Retuning, retuned
from schemas.values.base import Scalar
from schemas.values.learning_settings import SEED_LEARNING
from schemas.values.settings_by_name import LEARNING, learning_value

_PRESET: Mapping[str, Scalar] = {
    name: learning_value(SEED_LEARNING, name)
    for name in LEARNING
    if name.startswith("learning.weights.")
}


def replay(
    call: Call,
    sessions: Annotated[
        list[str] | None, typer.Argument(metavar="SESSION|FILE")
    ] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=NUMBER")
    ] = None,
    preset: Literal["seed"] | None = None,
) -> None:
    """Fold what was recorded under other learning settings; nothing is written.

    Fires, outcomes, votes and edits stay as they are; confidence is counted anew. Shows
    each heuristic's confidence both ways, and which settings would have predicted better.
    With `rapport.gain`, `rapport.loss` or `rapport.half_life_days` it is people's rapport.

    Examples: `echoic projection replay --set learning.gamma=0.98`, `echoic projection
    replay --set learning.weights.explicit=0.6 evening`, `echoic projection replay --preset
    seed packs/survival/recording/evening.echoic`, `echoic projection replay --set
    rapport.gain=0.1`.

    Args:
        sessions: Sessions' ids, or files.
        changes: A setting to change.
        preset: `seed`: every signal counts as one whole observation.
    """
    wanted = {**(_PRESET if preset else {}), **_settings_named(changes or ())}
    if not wanted:
        raise EchoicError(
            "nothing is to be changed", next_step="--set learning.gamma=0.98"
        )
    names = sessions or ()
    of_rapport = {
        # Rapport is folded by itself: it has no evidence in common with confidence.
        name: wanted.pop(name)
        for name in list(wanted)
        if name.startswith(PREFIX)
    }
    fields: dict[str, object] = {"v": 1}
    if of_rapport:
        fields["rapport"] = _rapport(call, names, of_rapport)
    if wanted:
        found = _retuned(call, names, wanted)
        fields = {**found.as_json(), **fields}
    if call.as_json:
        print_json(fields)


def _retuned(
    call: Call, names: Sequence[str], wanted: Mapping[str, Scalar]
) -> Retuning:
    """Fold confidences anew, and show them unless a program reads."""
    evidence = asyncio.run(evidence_of(call.settings, names))
    found = retuned(evidence, wanted)
    if not call.as_json:
        show(*retuning.screen(found))
    return found


def _rapport(
    call: Call, names: Sequence[str], wanted: Mapping[str, Scalar]
) -> dict[str, object]:
    """Fold rapport anew, and show it unless a program reads."""
    pace = pace_of(wanted)
    recorded, curves = asyncio.run(rapport_of(call.settings, names, pace))
    fields = as_fields(pace, curves, recorded)
    if not call.as_json:
        show(*retuning.rapport_screen(fields["changes"], curves))
    return fields


def _settings_named(texts: Sequence[str]) -> dict[str, Scalar]:
    """Parse settings by name from texts such as `learning.gamma=0.98`.

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
