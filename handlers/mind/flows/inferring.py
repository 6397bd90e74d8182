"""Inferring: what a model takes a person to have told is proposed, and counts for nothing.

Only when a person applies the proposal is it a fact or a goal.
"""

from collections.abc import Mapping

from pydantic import ValidationError

from handlers.mind.context import TurnContext
from handlers.mind.reply import reading
from projections.folds import proposals
from projections.folds.executive import facts
from schemas.messages.learning import Inferred, ProposalMade
from schemas.state.agent import Pending
from schemas.values import ids
from schemas.values.prompt_fencing import capped

_CAP = 200
"""How many characters of each part are proposed."""


def propose(turn: TurnContext, pending: Pending, fields: Mapping[str, object]) -> None:
    """Propose the fact and the goal in a model's answer to a person's own words."""
    if not turn.settings.executive.infers or pending.speaker is None:
        return
    for found in (_fact(fields, pending), _goal(fields)):
        if found is None or _is_known(turn, found):
            continue
        digest = ids.digest(found.kind.encode(), pending.ask_id.encode())
        proposal_id = f"infer-{digest[:6]}"
        if proposals.find(turn.state, proposal_id) is not None:
            continue
        turn.emit(
            ProposalMade(
                proposal_id=proposal_id,
                changes=(),
                evidence=f"in the answer to decision {pending.decision_id}",
                by="model",
                inferred=found,
            )
        )


def _fact(fields: Mapping[str, object], pending: Pending) -> Inferred | None:
    told = fields.get("fact")
    if not isinstance(told, dict):
        return None
    parts = {
        name: capped(reading.field(told, name), _CAP)
        for name in ("subject", "relation", "object")
    }
    if not all(parts.values()):
        return None
    try:
        return Inferred(kind="fact", person=pending.person, **parts).checked()
    except ValidationError:
        return None


def _goal(fields: Mapping[str, object]) -> Inferred | None:
    goal = capped(reading.field(fields, "goal"), _CAP)
    return Inferred(kind="goal", goal=goal) if goal else None


def _is_known(turn: TurnContext, found: Inferred) -> bool:
    """Tell whether it counts already, or is proposed."""
    held = (each.inferred for each in turn.state.proposals if each.inferred is not None)
    if any(each == found for each in held) or found.goal in turn.goals:
        return True
    return any(
        facts.same(each.subject, found.subject)
        and facts.same(each.relation, found.relation)
        and facts.same(each.object, found.object)
        and each.person in (None, found.person)
        for each in turn.state.executive.memory.facts
    )
