"""What the companion takes part in: a context holds until another one is switched to."""

from msgspec.structs import replace

from projections.folds.executive.origin import Origin
from schemas.messages.executive import ContextSwitched
from schemas.state.executive import ActiveContext, Executive


def switched(
    executive: Executive, message: ContextSwitched, origin: Origin
) -> Executive:
    """Return the executive's state in another context; in the same one it stays as it is."""
    now = executive.context
    if now is not None and now.name == message.context:
        return executive
    there = ActiveContext(name=message.context, by=message.by, at=origin.at)
    return replace(executive, context=there)
