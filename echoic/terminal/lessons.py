"""What was learnt from a model, as lines of `echoic watch`.

Pure, one line for a message, none for what moves nothing.
"""

from echoic.client.names import Names, named
from schemas.codec.catalogue import OutputMessage
from schemas.messages.learning import (
    CandidateRefused,
    Endorsed,
    HeuristicFormed,
    HeuristicReinforced,
    SilenceWeighed,
)


def lesson(message: OutputMessage, names: Names) -> str | None:
    """Return what a message tells of learning from models; None if nothing."""
    match message:
        case HeuristicFormed():
            return f"formed {message.name}, trusted {message.confidence:.2f}"
        case HeuristicReinforced(heuristic_id=id_, confidence=confidence):
            return f"reinforced {named(id_, names)}, now trusted {confidence:.2f}"
        case CandidateRefused(reason=reason, detail=detail):
            return f"formed nothing: {reason}{f', {detail}' if detail else ''}"
        case SilenceWeighed(heuristic_id=id_, value=value) if value is not None:
            side = "for" if value > 0.0 else "against"
            return f"one more occasion {side} silence: {named(id_, names)}"
        case Endorsed(heuristic_id=id_, similarity=similarity):
            said = f"the model said the same by itself, like {similarity:.2f}"
            return f"endorsed {named(id_, names)}: {said}"
        case _:
            return None
