"""Reflection: what an autonomous character finds when it looks back on its actions.

By its model, which is asked apart from any decision, or without one by rules. Nothing waits
for it, and what comes of it is an episode like others, of the highest importance.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from handlers.mind.characters import replies
from handlers.mind.characters.autonomous import prompt
from handlers.mind.context import TurnContext
from handlers.mind.flows.consult import afterthought_asked
from handlers.mind.flows.reflect import PATIENCE
from projections.folds.characters import retrospects
from schemas.messages.learning import InsightFormed, RetrospectCause
from schemas.messages.results import ModelAnswered
from schemas.packs.autonomous import Autonomous
from schemas.packs.characters import CharacterMind
from schemas.state import limits
from schemas.state.autonomy import Act
from schemas.state.character import LayerAsk

_PURPOSE: Literal["reflection"] = "reflection"

_LATELY, _OFTEN = 10, 3
"""Upstream's rule: what was done three times among the last ten is a habit."""
_TOLD = 40
"""How many actions a model is told of at most."""
_OBSERVATIONS = 3

_FORM = (
    'Answer with one JSON object: {"observations": [one to three sentences about yourself,'
    ' such as "I tend to sit on benches after walking"]}.'
)


def consider(turn: TurnContext, mind: CharacterMind) -> None:
    """Reflect, if it is time to."""
    how, character = mind.autonomous, turn.state.character
    assert how is not None, "its mind is autonomous"
    if how.reflects is None or _PURPOSE in character.asked:
        return
    cause = retrospects.due(character.autonomy, how.reflects)
    if cause is not None:
        reflect(turn, how, cause)


def reflect(turn: TurnContext, how: Autonomous, cause: RetrospectCause) -> None:
    """Ask the model what it finds; without one find something by rules."""
    since = retrospects.unreflected(turn.state.character.autonomy)
    if not since:
        return
    model = turn.settings.model
    if model is None:
        _formed(turn, by_rules(since), cause)
        return
    lines = "\n".join(f"- {prompt.told(each)}" for each in since[-_TOLD:])
    question = (
        f"{prompt.system(turn.input.agent, how)}\n\n{_FORM}",
        f"## What you did\n{lines}\n\nLook back: what do you notice about yourself?",
    )
    asked = afterthought_asked(
        turn, model, _PURPOSE, since[-1].decision_id, question, PATIENCE
    )
    turn.emit(replace(asked, reason=cause))


def heard(turn: TurnContext, asked: LayerAsk, result: ModelAnswered) -> None:
    """Remember what the model found; find it by rules if it found nothing of use."""
    try:
        found = observations(result.text)
    except replies.Unreadable as error:
        fail(turn, asked, str(error))
        return
    _formed(turn, found, retrospects.cause_of(asked), asked)


def fail(turn: TurnContext, asked: LayerAsk, why: str) -> None:
    """Find something by rules, as nothing of use came of the model."""
    text = by_rules(_looked_at(turn, asked.decision_id))
    _formed(turn, text, retrospects.cause_of(asked), asked, why)


def by_rules(acts: Sequence[Act]) -> str:
    """Return what the latest of some actions show without a model.

    What was done at least three times of ten; what failed most; else that all went well. Of
    equally frequent ones the first.
    """
    lately = [each for each in acts if each.outcome is not None][-_LATELY:]
    found = []
    done = Counter(each.action for each in lately).most_common(1)
    if done and done[0][1] >= _OFTEN:
        found.append(f"I tend to do {done[0][0]}: {done[0][1]} of {len(lately)} times.")
    failed = Counter(each.action for each in lately if each.outcome == "failed")
    if failed:
        worst, times = failed.most_common(1)[0]
        error = next(
            each.error
            for each in reversed(lately)
            if each.action == worst and each.outcome == "failed"
        )
        said = f" ({error})" if error else ""
        found.append(f"{worst} failed {times} of {len(lately)} times{said}.")
    else:
        found.append("What I did lately went well.")
    return " ".join(found)[: limits.INSIGHT]


def observations(text: str) -> str:
    """Return what a model found, in one line.

    Raises:
        Unreadable: there is no JSON object with observations in it.
    """
    told = replies.read_object(text).get("observations")
    lines = [told] if isinstance(told, str) else told
    if not isinstance(lines, list):
        raise replies.Unreadable('the reply has no "observations"')
    found = [" ".join(each.split()) for each in lines if isinstance(each, str)]
    joined = " ".join(each for each in found[:_OBSERVATIONS] if each)
    if not joined:
        raise replies.Unreadable("the observations are empty")
    return joined[: limits.INSIGHT]


def _formed(
    turn: TurnContext,
    text: str,
    cause: RetrospectCause,
    asked: LayerAsk | None = None,
    fault: str | None = None,
) -> None:
    looked_at = _looked_at(turn, asked.decision_id if asked is not None else None)
    until = asked.decision_id if asked is not None else looked_at[-1].decision_id
    turn.emit(
        InsightFormed(
            of=_PURPOSE,
            cause=cause,
            by="rules" if asked is None or fault is not None else "model",
            until=until,
            actions=len(looked_at),
            text=text,
            ask_id=asked.ask_id if asked is not None else None,
            fault=fault[:2_000] if fault is not None else None,
        )
    )


def _looked_at(turn: TurnContext, until: str | None) -> tuple[Act, ...]:
    """Return the actions since the last reflection until one, or all of them.

    What was done while the model was asked is the next reflection's.
    """
    since = retrospects.unreflected(turn.state.character.autonomy)
    ids = [each.decision_id for each in since]
    return since[: ids.index(until) + 1] if until in ids else since
