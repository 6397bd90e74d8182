"""What the shell must work out for an input before the mind can answer it."""

from msgspec import Struct

from schemas.codec import model_answer
from schemas.codec.envelope import Input
from schemas.messages.controls import (
    GoalsSet,
    HeuristicEdited,
    HeuristicSeeded,
    MindStarted,
    PackLoaded,
)
from schemas.messages.results import ModelAnswered
from schemas.messages.sensing import Sensed


class Needs(Struct, frozen=True):
    """What the shell must bring for an input."""

    text: str | None = None
    """To be embedded."""
    further: tuple[str, ...] = ()
    """Other texts to be embedded: what heuristics and models say."""
    pack_digest: str | None = None
    """The pack that the input loads."""


def needs_of(input_: Input) -> Needs:
    """Return what the aids of an input must hold besides the packs in force."""
    match input_.message:
        case Sensed(text=text):
            return Needs(text=text)
        case HeuristicSeeded() as message:
            return Needs(message.condition, further=(message.text,))
        case HeuristicEdited(condition=condition, text=text):
            return Needs(condition, further=(text,) if text else ())
        case ModelAnswered(text=text):
            return Needs(further=model_answer.texts(text))
        case GoalsSet(goals=goals):
            return Needs(further=goals)
        case MindStarted(settings=settings) if settings.goals_choose:
            return Needs(further=settings.goals)
        case PackLoaded(digest=digest):
            return Needs(pack_digest=digest)
        case _:
            return Needs()
