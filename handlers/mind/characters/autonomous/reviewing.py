"""Review: an autonomous character's model judges how it decided, and proposes to change it.

Which decisions were good, which bad, and why: that is remembered as an insight. What it would
have changed are proposals, each with before and after; they are held against actions that the
model was not told of, and by the character's policy are in force at once if these speak for
them. Otherwise a person applies them; any of them can be taken back.
"""

from collections.abc import Sequence
from typing import Literal

import orjson
from msgspec.structs import replace

from handlers.mind.characters import replies
from handlers.mind.characters.autonomous import holdout, prompt, review_reply
from handlers.mind.context import TurnContext
from handlers.mind.flows.consult import afterthought_asked
from handlers.mind.flows.reflect import PATIENCE
from projections.folds import proposals
from projections.folds.characters import persona, retrospects
from projections.folds.characters.body import mind_of
from schemas.messages.learning import (
    CharacterChange,
    InsightFormed,
    ProposalMade,
    RetrospectCause,
)
from schemas.messages.results import ModelAnswered
from schemas.packs.autonomous import Autonomous
from schemas.packs.characters import CharacterMind
from schemas.state import limits
from schemas.state.autonomy import Act, Autonomy
from schemas.state.character import LayerAsk
from schemas.values import ids
from schemas.values.prompt_fencing import fenced

_PURPOSE: Literal["review"] = "review"

PREFIX = "review-"
"""How the ids of its proposals begin."""

_ROUTINES = 20
"""How many routines the model is told of."""


def consider(turn: TurnContext, mind: CharacterMind) -> None:
    """Have the model review what was decided, if it is time to."""
    how, character = mind.autonomous, turn.state.character
    assert how is not None, "its mind is autonomous"
    # By rules nobody tells what was good: without a model there is no review.
    if how.improves is None or turn.settings.model is None:
        return
    decided = character.autonomy.count - character.autonomy.reviewed
    if decided >= how.improves.every and _PURPOSE not in character.asked:
        review(turn, how, "decisions")


def review(turn: TurnContext, how: Autonomous, cause: RetrospectCause) -> None:
    """Ask the model which of the latest decisions were good, which bad, and why."""
    model, known = turn.settings.model, turn.state.character.autonomy
    told = shown(how, known)
    if model is None or not told:
        return
    question = (
        f"{prompt.system(turn.input.agent, how)}\n\n{review_reply.FORM}",
        _asked(persona.in_force(how, known), known, told),
    )
    until = told[-1].decision_id
    asked = afterthought_asked(turn, model, _PURPOSE, until, question, PATIENCE)
    turn.emit(replace(asked, reason=cause))


def heard(turn: TurnContext, asked: LayerAsk, result: ModelAnswered) -> None:
    """Remember the review, and propose what it would have changed."""
    mind, known = mind_of(turn.packs), turn.state.character.autonomy
    how = mind.autonomous if mind is not None else None
    if how is None:
        fail(turn, asked, "the agent is no autonomous character any more")
        return
    try:
        found = review_reply.read(result.text, how, known)
    except replies.Unreadable as error:
        fail(turn, asked, str(error))
        return
    fault = "; ".join(found.left_out)[:2_000]
    _formed(turn, asked, found.text, fault or None)
    told = [each.at for each in shown(how, known, asked.decision_id)]
    span = {"since": told[0], "until": told[-1]} if told else {}
    for place, change in enumerate(found.changes):
        _propose(turn, how, asked, (place, replace(change, **span)))


def fail(turn: TurnContext, asked: LayerAsk, why: str) -> None:
    """End a review of which nothing came; the next is as far off as after any other."""
    _formed(turn, asked, "", why[:2_000])


def shown(how: Autonomous, known: Autonomy, until: str = "") -> Sequence[Act]:
    """Return the actions that a model is told of: the latest that ended, until one."""
    ended = [each for each in known.acts if each.outcome is not None]
    names = [each.decision_id for each in ended]
    if until in names:
        ended = ended[: names.index(until) + 1]
    # Half at most, so that some are held out even when it reviews all that it remembers.
    every = how.improves.every if how.improves is not None else len(ended)
    return ended[-min(every, limits.EPISODES // 2) :]


def _asked(how: Autonomous, known: Autonomy, told: Sequence[Act]) -> str:
    weights = orjson.dumps(
        {each: persona.weight(how, known, each) for each in sorted(how.weights)}
    ).decode()
    routines = [
        f"- {fenced(situation, 300)}: {known.routines[situation].action},"
        f" {known.routines[situation].successes} of {known.routines[situation].uses}"
        for situation in sorted(known.routines)[:_ROUTINES]
    ]
    knows = [f"- {fenced(each, 300)}" for each in persona.knowledge(how, known)]
    did = [_line(each) for each in told]
    parts = (
        ("Weights of what you do at random", [weights]),
        ("What you do by routine, by situation", routines or ["- nothing"]),
        ("What you know of your world", knows or ["- nothing"]),
        ("Your decisions", did),
    )
    sections = [f"## {title}\n" + "\n".join(lines) for title, lines in parts]
    last = "Review these decisions. Which were good? Which were bad? Why?"
    return "\n\n".join((*sections, last))


def _line(act: Act) -> str:
    why = f", because {fenced(act.reasoning, 200)}" if act.reasoning else ""
    return f"- {fenced(act.situation, 300)}: {prompt.told(act)}{why}"


def _formed(turn: TurnContext, asked: LayerAsk, text: str, fault: str | None) -> None:
    mind = mind_of(turn.packs)
    how = mind.autonomous if mind is not None else None
    known, until = turn.state.character.autonomy, asked.decision_id
    turn.emit(
        InsightFormed(
            of=_PURPOSE,
            cause=retrospects.cause_of(asked),
            by="model",
            until=until,
            actions=len(shown(how, known, until)) if how is not None else 0,
            text=text,
            ask_id=asked.ask_id,
            fault=fault,
        )
    )


def _propose(
    turn: TurnContext,
    how: Autonomous,
    asked: LayerAsk,
    numbered: tuple[int, CharacterChange],
) -> None:
    place, change = numbered
    digest = ids.digest(b"review", asked.ask_id.encode(), str(place).encode())
    proposal_id = f"{PREFIX}{digest[:6]}"
    known = turn.state.character.autonomy
    # Two of one review may be about the same.
    is_known = proposals.find(turn.state, proposal_id) is not None
    if is_known or persona.outdated(how, known, change) is not None:
        return
    judged = holdout.judge(change, known.acts, how, known)
    policy = how.improves.apply if how.improves is not None else "by_hand"
    is_applied = policy == "held_out" and judged.verdict == "holds"
    turn.emit(
        ProposalMade(
            proposal_id=proposal_id,
            changes=(),
            evidence=judged.in_words,
            figures=judged.figures,
            by="model",
            applied=True if is_applied else None,
            character=change,
        )
    )
