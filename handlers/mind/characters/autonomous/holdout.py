"""Hold-out: what actions that a review was not told of say about a change it proposes.

Each recorded action is replayed under the change: what was drawn counts by how much likelier
the changed weights would draw it (Hajek's estimator, by the recorded odds), and a routine by
what its action came to in its situation. Nothing recorded tells what knowledge would do.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from projections.folds.characters import persona
from schemas.messages.learning import CharacterChange, StoredRoutine
from schemas.packs.autonomous import Autonomous
from schemas.state.autonomy import Act, Autonomy
from schemas.values.exact_math import round6, total

_LEAST_DRAWN = 10.0
"""Fewer effective actions say nothing about weights."""
_LEAST_DONE = 3
"""Fewer times in its situation say nothing about a routine: as often as trust takes."""

_Verdict = Literal["holds", "worse", "unknown"]


class Judged(Struct, frozen=True):
    """What the held-out actions say."""

    verdict: _Verdict
    actions: float = 0.0
    """How many speak about it; of what was drawn, the effective number."""
    now: float | None = None
    """The share that succeeded."""
    then: float | None = None
    """The share that would have succeeded under the change."""

    @property
    def figures(self) -> dict[str, float]:
        """The numbers, for a proposal."""
        told = {"held_out": self.actions, "now": self.now, "then": self.then}
        return {name: value for name, value in told.items() if value is not None}

    @property
    def in_words(self) -> str:
        """The same in a sentence."""
        if self.verdict == "unknown":
            return "no held-out action tells"
        now = "-" if self.now is None else f"{self.now:.2f}"
        then = "-" if self.then is None else f"{self.then:.2f}"
        return f"held out, {self.actions:g} actions: success {now}, with it {then}"


def judge(
    change: CharacterChange, acts: Sequence[Act], how: Autonomous, known: Autonomy
) -> Judged:
    """Judge a change of what is known now by the actions that ended and were not told."""
    proving = [
        each
        for each in acts
        if each.outcome in ("succeeded", "failed")
        and not each.is_empty
        and not _was_told(each, change)
    ]
    if change.kind == "weight":
        after = persona.in_force(how, persona.applied(known, change))
        return _weights(proving, after)
    if change.kind == "routine":
        return _routine(change, proving, how)
    return Judged("unknown")


def _was_told(act: Act, change: CharacterChange) -> bool:
    if change.since is None or change.until is None:
        return False
    return change.since <= act.at <= change.until


def _weights(acts: Sequence[Act], after: Autonomous) -> Judged:
    drawn = [
        (ratio, each.outcome == "succeeded")
        for each in acts
        if each.by == "random" and (ratio := _ratio(each, after)) is not None
    ]
    whole = total(ratio for ratio, _ in drawn)
    squares = total(ratio * ratio for ratio, _ in drawn)
    effective = round6(whole * whole / squares) if squares else 0.0
    if effective < _LEAST_DRAWN:
        return Judged("unknown", effective)
    now = _share([is_good for _, is_good in drawn])
    then = round6(total(ratio for ratio, is_good in drawn if is_good) / whole)
    return Judged("holds" if then >= now else "worse", effective, now, then)


def _ratio(act: Act, after: Autonomous) -> float | None:
    """Return how much likelier its kind is drawn under changed weights."""
    kind = after.action(act.action)
    odds = dict(act.weighed)
    if kind is None or kind.kind is None or not odds.get(kind.kind):
        return None
    shares = {each: after.weights[each] for each in after.weights if each in odds}
    whole = total(shares[each] for each in sorted(shares))
    # Nothing possible has weight: each action is as likely, which the odds do not tell.
    return shares[kind.kind] / whole / odds[kind.kind] if whole > 0.0 else None


def _routine(change: CharacterChange, acts: Sequence[Act], how: Autonomous) -> Judged:
    here = [each for each in acts if each.situation == change.name]
    about = change.after if change.after is not None else change.before
    action = about.action if isinstance(about, StoredRoutine) else None
    its = [each.outcome == "succeeded" for each in here if each.action == action]
    others = [each.outcome == "succeeded" for each in here if each.action != action]
    if len(its) < _LEAST_DONE:
        return Judged("unknown", float(len(its)))
    rate, now = _share(its), _share([*its, *others])
    if change.after is not None:
        holds = rate > how.routines.rate_over and rate >= now
        return Judged("holds" if holds else "worse", float(len(its)), now, rate)
    # Without it the model decides, as the others were decided.
    then = _share(others) if others else None
    holds = rate <= how.routines.rate_over
    return Judged("holds" if holds else "worse", float(len(its)), rate, then)


def _share(good: Sequence[bool]) -> float:
    return round6(good.count(True) / len(good))
