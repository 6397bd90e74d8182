"""Chance: the weighted random policy, with the exact probability of everything it may draw."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from handlers.mind.characters.autonomous import actions
from handlers.mind.context import TurnContext
from projections.folds.characters.situations import Surroundings
from schemas.messages.arms import RANDOM, Action
from schemas.messages.decisions import Candidate, Draw
from schemas.packs.autonomous import ActionDeclared, ActionKind, Autonomous
from schemas.state.autonomy import Act
from schemas.values import ids
from schemas.values.exact_math import total

_PURPOSE = "autonomous_action"
INTERVAL = "autonomous_interval"
ROUTINE = "autonomous_routine"


class _Drawn(Struct, frozen=True):
    """What chance chose."""

    action: Action
    candidates: tuple[Candidate, ...]
    probability: float
    draw: Draw | None
    """None: there was nothing to choose among."""

    @property
    def arm(self) -> str:
        """The arm of the action."""
        return RANDOM + self.action.type


def value(turn: TurnContext, purpose: str) -> float:
    """Return a draw in [0, 1): its key is seed|agent|purpose|n, n the decisions so far."""
    count = str(turn.state.character.autonomy.count)
    return ids.draw(turn.settings.seed, turn.input.agent, purpose, count)


def drawn(
    turn: TurnContext, how: Autonomous, here: Surroundings, acts: Sequence[Act]
) -> tuple[_Drawn | None, tuple[Candidate, ...]]:
    """Draw an action; None if nothing can be done here. Also return all candidates.

    A kind is drawn by its weight among those of which something can be done here, and each
    of its actions alike.
    """
    against = {
        each.id: actions.problem(each, here, acts, actions.target(each, here))
        for each in actions.choices(how)
        if each.kind is not None
    }
    odds = _odds(how, [each for each in against if against[each] is None])
    candidates = tuple(
        Candidate(
            arm=RANDOM + each,
            probability=odds.get(each, 0.0),
            eligible=against[each] is None,
            reason=against[each],
        )
        for each in against
    )
    if not odds:
        return None, candidates
    point = value(turn, _PURPOSE)
    chosen = _at(point, odds)
    declared = how.action(chosen)
    assert declared is not None, "it is of the table"
    action = Action(type=chosen, target=actions.target(declared, here))
    is_certain = odds[chosen] == 1.0
    draw = None if is_certain else Draw(purpose=_PURPOSE, value=point)
    return _Drawn(action, candidates, odds[chosen], draw), candidates


def _odds(how: Autonomous, possible: Sequence[str]) -> Mapping[str, float]:
    """Return with which probability each possible action is drawn; all add up to 1."""
    kinds: dict[ActionKind, list[ActionDeclared]] = {}
    for action in how.actions:
        if action.id in possible and action.kind is not None:
            kinds.setdefault(action.kind, []).append(action)
    shares = {each: how.share(each) for each in kinds}
    whole = total(shares.values())
    if whole <= 0.0:
        # What is left has no weight: each is as good as any.
        return {each: 1.0 / len(possible) for each in possible}
    return {
        action.id: shares[kind] / whole / len(kinds[kind])
        for kind in kinds
        for action in kinds[kind]
        if shares[kind] > 0.0
    }


def _at(point: float, odds: Mapping[str, float]) -> str:
    passed = 0.0
    for each in odds:
        passed += odds[each]
        if point < passed:
            return each
    # Shares that add up to a little less than 1.
    return each
