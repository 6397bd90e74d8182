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

OF_A_NEWER_PACK = ActionDeclared.model_construct(id="unknown")
"""What is known of an action that the pack does not declare any more."""


def begun(character: Character, how: Autonomous, act: Act, now: datetime) -> Character:
    """Return the character that begins an action; its importance is found here."""
    declared = how.action(act.action) or OF_A_NEWER_PACK
    doing = Doing(
        decision_id=act.decision_id,
        behaviour=act.action,
        priority=0.0,
        since=now,
        until=now + timedelta(seconds=declared.lasts_s),
    )
    autonomy = remembered(character.autonomy, how, act)
    return replace(character, doing=doing, idle_since=None, autonomy=autonomy)


def remembered(known: Autonomy, how: Autonomous, act: Act) -> Autonomy:
    """Return what is known once an action is an episode; its importance is found here."""
    act = replace(act, importance=_importance(known.acts, act.action))
    kept = limits.EPISODES if how.remembers else limits.RECENT_ACTS
    return replace(known, acts=(*known.acts, act)[-kept:])


def settled(character: Character, now: datetime) -> Character:
    """Return the character whose action, if its time is over unreported, proves nothing."""
    doing = character.doing
    if doing is not None and now < doing.until:
        return character
    autonomy = ended(character.autonomy, "unknown", "")
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
    autonomy = ended(before, proves, error)
    routines = before.routines
    # What was done by chance trains nothing: nobody chose it for the situation.
    if how.remembers and act.by != "random" and proves in ("succeeded", "failed"):
        routines = learned(routines, how.routines, act, succeeded=proves == "succeeded")
    return replace(character, autonomy=replace(autonomy, routines=routines))


def cancelled(character: Character) -> Character:
    """Return the character whose action a command from outside ended."""
    return replace(character, autonomy=ended(character.autonomy, "cancelled", ""))


def learned(
    routines: Map[str, Routine], how: Routines, act: Act, *, succeeded: bool
) -> Map[str, Routine]:
    """Return the routines after one more end of an action in its situation."""
    known = routines.get(act.situation)
    fresh = (act.situation, act.action, act.target)
    if known is None:
        return stored(routines, *fresh) if succeeded else routines
    if known.action != act.action:
        # Its own counts begin: it did nothing for what the other one earned.
        replaces = succeeded and known.rate < how.replaced_under
        return stored(routines, *fresh) if replaces else routines
    known = counted(known, succeeded=succeeded)
    if succeeded:
        known = replace(known, target=act.target)
    if has_failed(known, how):
        return routines.delete(act.situation)
    return routines.set(act.situation, known)


def stored(
    routines: Map[str, Routine], situation: str, action: str, target: str | None
) -> Map[str, Routine]:
    """Return the routines with what was done once, with success; the worst makes room."""
    if len(routines) >= limits.ROUTINES and situation not in routines:
        worst = min(sorted(routines), key=lambda each: routines[each].rate)
        routines = routines.delete(worst)
    fresh = Routine(action=action, target=target)
    return (routines or EMPTY).set(situation, fresh)


def counted(routine: Routine, *, succeeded: bool) -> Routine:
    """Return a routine after one more use."""
    return replace(
        routine, uses=routine.uses + 1, successes=routine.successes + succeeded
    )


def is_trusted(routine: Routine, how: Routines) -> bool:
    """Tell whether a routine is done again without a model."""
    return routine.uses >= how.least_uses and routine.rate > how.rate_over


def has_failed(routine: Routine, how: Routines) -> bool:
    """Tell whether a routine failed so often that it goes."""
    return routine.uses >= how.dropped_after and routine.rate < how.dropped_under


def ended(autonomy: Autonomy, outcome: Ending, error: str) -> Autonomy:
    """Return what is known once the action that goes on ended so."""
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
