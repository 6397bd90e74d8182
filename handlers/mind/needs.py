"""What the shell must compute or fetch for an input before the mind can answer it.

It follows from the input and all packs that are at hand, never from the state, so that
worker, projector and replay make the same aids.
"""

from collections.abc import Iterable

from msgspec import Struct

from handlers.mind.reply import reading
from schemas.codec import device_texts
from schemas.codec.envelope import Input
from schemas.messages.controls import (
    GoalsSet,
    HeuristicEdited,
    HeuristicSeeded,
    MindStarted,
    PackLoaded,
)
from schemas.messages.executive import SalienceModulated, UserStateChanged
from schemas.messages.results import ModelAnswered
from schemas.messages.sensing import Sensed
from schemas.packs.compiled import CompiledPack
from schemas.values import phrase_matching


class Needs(Struct, frozen=True):
    """What the aids of an input must hold."""

    text: str | None = None
    """The text to embed as the input's own vector."""
    further: tuple[str, ...] = ()
    """Other texts to embed: what heuristics and models say, and goals."""
    pack_digest: str | None = None
    """The pack that the input loads."""


def needs_of(input_: Input, packs: Iterable[CompiledPack] = ()) -> Needs:
    """Return what the aids of an input must hold besides the packs in force."""
    match input_.message:
        case Sensed() as event:
            return Needs(event.text, further=_of_event(event, packs))
        case SalienceModulated(about=str(topic)):
            return Needs(further=(topic,))
        case HeuristicSeeded() as message:
            return Needs(message.condition, further=(message.text,))
        case HeuristicEdited(condition=condition, text=text):
            return Needs(condition, further=(text,) if text else ())
        case ModelAnswered() as answered:
            return Needs(further=reading.texts(answered, input_.agent))
        case GoalsSet(goals=goals):
            return Needs(further=goals)
        # Vectors of goals are made when goals are set, so that no event waits for them (ADR
        # 0009).
        case MindStarted(settings=settings) if settings.goals_choose:
            return Needs(further=settings.goals)
        case UserStateChanged(focus=str(focus)) if focus:
            return Needs(further=(focus,))
        case PackLoaded(digest=digest):
            return Needs(pack_digest=digest)
        case _:
            return Needs()


def _of_event(event: Sensed, packs: Iterable[CompiledPack]) -> tuple[str, ...]:
    # Any of them may be the topic of what a person asks for.
    if event.is_persons:
        return phrase_matching.tails(event.text)
    return device_texts.texts(event, packs)
