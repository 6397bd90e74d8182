"""Episodes: what an autonomous character did, how it ended, and what became habit by it."""

from datetime import datetime, timedelta

from immutables import Map
from msgspec.structs import replace

from schemas.packs.autonomous import ActionDeclared, Autonomous, Routines
from schemas.state import limits
from schemas.state.autonomy import Act, Autonomy, Ending, Routine
from schemas.state.character import Character, Doing
from schemas.values.bounded_map import EMPTY
from schemas.values.exact_math import clamp, round6
from schemas.values.reasons import ReportedOutcome

_USUAL = 0.3
_UNUSUAL = 0.2
"""Added if it is not among the last ten actions (upstream's figures, also the next)."""
_FAILED = 0.3

OF_A_NEWER_PACK = ActionDeclared(id="unknown")
"""What is known of an action that the pack does not declare any more."""


def begun(character: Character, how: Autonomous, act: Act, now: datetime) -> Character:
    """Return the character that begins an action; its importance is found here."""
    declared = how.action(act.action) or OF_A_NEWER_PACK
    before = character.autonomy
    act = replace(act, importance=_importance(before.acts, act.action))
    kept = limits.EPISODES if how.remembers else limits.RECENT_ACTS
    doing = Doing(
        decision_id=act.decision_id,
        behaviour=act.action,
        priority=0.0,
        since=now,
        until=now + timedelta(seconds=declared.lasts_s),
    )
    autonomy = replace(before, acts=(*before.acts, act)[-kept:])
    return replace(character, doing=doing, idle_since=None, autonomy=autonomy)


def settled(character: Character, now: datetime) -> Character:
    """Return the character whose action, if its time is over unreported, proves nothing."""
    doing = character.doing
    if doing is not None and now < doing.until:
        return character
    autonomy = _ended(character.autonomy, "unknown", "")
    return replace(character, autonomy=autonomy)


def reported(
    character: Character,
    how: Autonomous,
    decision_id: str | None,
    outcome: ReportedOutcome,
    error: str,
) -> Character:
    """Return the character that heard of an action's end, and learnt by it."""
    before = character.autonomy
    if not before.acts or before.acts[-1].decision_id != decision_id:
        return character
    act = before.acts[-1]
    if act.outcome is not None:
        return character
    proves: Ending = (
        outcome if outcome != "succeeded" or not act.is_empty else "unknown"
    )
    autonomy = _ended(before, proves, error)
    routines = before.routines
    # What was done by chance trains nothing: nobody chose it for the situation.
    if how.remembers and act.by != "random" and proves in ("succeeded", "failed"):
        routines = learned(routines, how.routines, act, succeeded=proves == "succeeded")
    return replace(character, autonomy=replace(autonomy, routines=routines))


def cancelled(character: Character) -> Character:
    """Return the character whose action a command from outside ended."""
    return replace(character, autonomy=_ended(character.autonomy, "cancelled", ""))


def learned(
    routines: Map[str, Routine], how: Routines, act: Act, *, succeeded: bool
) -> Map[str, Routine]:
    """Return the routines after one more end of an action in its situation."""
    known = routines.get(act.situation)
    fresh = Routine(action=act.action, target=act.target)
    if known is None:
        return _stored(routines, act.situation, fresh) if succeeded else routines
    if known.action != act.action:
        # Its own counts begin: it did nothing for what the other one earned.
        replaces = succeeded and known.rate < how.replaced_under
        return routines.set(act.situation, fresh) if replaces else routines
    known = replace(
        known,
        uses=known.uses + 1,
        successes=known.successes + succeeded,
        target=act.target if succeeded else known.target,
    )
    if known.uses >= how.dropped_after and known.rate < how.dropped_under:
        return routines.delete(act.situation)
    return routines.set(act.situation, known)


def _stored(
    routines: Map[str, Routine], situation: str, routine: Routine
) -> Map[str, Routine]:
    if len(routines) >= limits.ROUTINES:
        worst = min(sorted(routines), key=lambda each: routines[each].rate)
        routines = routines.delete(worst)
    return (routines or EMPTY).set(situation, routine)


def _ended(autonomy: Autonomy, outcome: Ending, error: str) -> Autonomy:
    if not autonomy.acts or autonomy.acts[-1].outcome is not None:
        return autonomy
    last = autonomy.acts[-1]
    importance = last.importance + (_FAILED if outcome == "failed" else 0.0)
    ended = replace(
        last,
        outcome=outcome,
        error=error[: limits.THOUGHT],
        importance=round6(clamp(importance, 0.0, 1.0)),
    )
    return replace(autonomy, acts=(*autonomy.acts[:-1], ended))


def _importance(acts: tuple[Act, ...], action: str) -> float:
    lately = acts[-limits.RECENT_ACTS :]
    is_usual = any(each.action == action for each in lately)
    return round6(_USUAL + (0.0 if is_usual else _UNUSUAL))
