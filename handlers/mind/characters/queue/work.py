"""The queue: a character works off what it plans, without a model.

Its entries come first, then the planned builds, the most urgent of them first. It takes the
place of wandering and the like; whatever else is done is done first, and then it goes on
where it was.
"""

from datetime import datetime
from typing import Any

from msgspec import Struct

from handlers.mind.characters import reflexes
from handlers.mind.characters.queue import tactics
from handlers.mind.characters.queue.tactics import Fields, Step
from handlers.mind.context import TurnContext
from handlers.mind.flows.infer import infer
from projections.folds.characters import plans
from schemas.messages.arms import QUEUE, Action
from schemas.messages.characters import PlannedBuild, PlanSet, PlanTask
from schemas.messages.decisions import LayerVerdict
from schemas.messages.notes import ControlRefused
from schemas.packs.characters import CharacterMind
from schemas.packs.tactics import Tactics
from schemas.state.character import Character, Plan
from schemas.values.reasons import Verdict

_LAYER = plans.QUEUE


class Work(Struct, frozen=True):
    """What a plan came to."""

    step: Step | None
    verdict: Verdict
    rule: str | None
    why: str

    @property
    def acts(self) -> bool:
        """Whether a step is begun."""
        return self.verdict == "acts"

    def record(self) -> LayerVerdict:
        """Return it as a decision holds it."""
        return LayerVerdict(
            layer=_LAYER, verdict=self.verdict, rule=self.rule, why=self.why
        )

    @property
    def arm(self) -> str:
        """The arm of doing it."""
        assert self.step is not None, "it acts"
        return f"{QUEUE}{self.step.type}"

    @property
    def action(self) -> Action:
        """What the world is asked to do."""
        step = self.step
        assert step is not None, "it acts"
        params: dict[str, Any] = {
            "amount": step.amount,
            "object": step.object,
            "for": step.build,
            "text": step.text or None,
        }
        told = {name: params[name] for name in params if params[name] is not None}
        return Action(type=step.type, target=step.target, params=told)


def find(
    mind: CharacterMind, character: Character, fields: Fields, at: datetime
) -> Work | None:
    """Return what the plan comes to at a time; None if the character has no such layer."""
    known = mind.tactics
    if known is None:
        return None
    character = plans.settled(character, at)
    doing = reflexes.doing_at(character, at)
    found = _next(mind, known, character, fields)
    if found is None:
        return Work(None, "nothing_due", None, "nothing is planned")
    rule, step = found
    if doing is None:
        return Work(step, "acts", rule, step.why)
    if doing.layer == _LAYER:
        return Work(step, "goes_on", rule, f"it does so already: {step.why}")
    if doing.behaviour in known.during:
        return Work(step, "acts", rule, f"in place of {doing.behaviour}: {step.why}")
    return Work(step, "matters_less", rule, f"it waits for {doing.behaviour}")


def _next(
    mind: CharacterMind, known: Tactics, character: Character, fields: Fields
) -> tuple[str, Step] | None:
    """Return the next step of a plan, and what of the plan it is; None if nothing is left."""
    plan, task = character.plan, character.plan.task
    if task is not None and not _builds_first(mind, known, task, character):
        return _of_task(known, plan, task, fields)
    for build in plan.builds:
        if _fault(known, build, fields) is None:
            return build.building, tactics.for_build(known, build, fields)
    return _of_task(known, plan, task, fields) if task is not None else None


def _of_task(
    known: Tactics, plan: Plan, task: PlanTask, fields: Fields
) -> tuple[str, Step]:
    rule = f"task {plan.index + 1} of {len(plan.tasks)}"
    return rule, tactics.for_task(known, task, fields)


def _builds_first(
    mind: CharacterMind, known: Tactics, task: PlanTask, character: Character
) -> bool:
    """Tell whether building matters more to a character than what is queued next."""
    weights = character.priorities
    builds, next_ = mind.kind_of(known.build), mind.kind_of(task.type)
    if builds is None or next_ is None:
        return False
    return weights.get(builds, 0.0) > weights.get(next_, 0.0)


def _fault(known: Tactics, build: PlannedBuild, fields: Fields) -> str | None:
    """Return why a planned build comes to nothing; None if it may be."""
    if build.failures >= known.give_up:
        return f"{build.failures} steps failed, one after the other"
    return tactics.problem(known, build.building, fields)


def tidy(turn: TurnContext, mind: CharacterMind, fields: Fields) -> None:
    """Take out planned builds that cannot be, with the reason."""
    known, plan = mind.tactics, turn.state.character.plan
    if known is None or not plan.builds:
        return
    kept, why = [], []
    for build in plan.builds:
        reason = _fault(known, build, fields)
        if reason is None:
            kept.append(build)
        else:
            why.append(f"{build.building}: {reason}")
    if why:
        after = f"not built: {'; '.join(why)}"[:500]
        refused = infer(turn, PlanSet(builds=tuple(kept)), "rule", after=after)
        if isinstance(refused, ControlRefused):
            turn.emit(refused)
