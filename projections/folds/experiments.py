"""Experiments: which one runs, and when its present variant came into force."""

from datetime import datetime

from msgspec.structs import replace

from schemas.messages.controls import ExperimentStarted, ExperimentStopped
from schemas.messages.experiments import Assignment, Experiment, Variant, VariantName
from schemas.state.agent import AgentState
from schemas.values.settings import MindSettings


def applied(
    state: AgentState, message: ExperimentStarted | ExperimentStopped, now: datetime
) -> AgentState:
    """Return the state after an experiment was started or stopped."""
    if isinstance(message, ExperimentStopped):
        return replace(state, experiment=None)
    return replace(state, experiment=_started(message, now))


def decided(
    experiment: Experiment, assignment: Assignment, now: datetime
) -> Experiment:
    """Return the experiment after a decision under one of its variants."""
    name = assignment.variant
    switched_at = switched(experiment, name, now)
    return replace(experiment, variant=name, switched_at=switched_at)


def asked(state: AgentState, ask_id: str) -> AgentState:
    """Return the state whose pending answer keeps the variant it was asked under.

    The variant may change before the answer comes, which is still judged by this one.
    """
    experiment, pending = state.experiment, state.pending[ask_id]
    if experiment is None or experiment.variant is None:
        return state
    variant = experiment.named(experiment.variant)
    waits = replace(pending, variant=variant)
    return replace(state, pending=state.pending.set(ask_id, waits))


def under(settings: MindSettings, variant: Variant) -> MindSettings:
    """Return the settings with a variant's personality in place of theirs."""
    if variant.personality is None:
        return settings
    return settings.model_copy(update={"personality": variant.personality})


def switched(
    experiment: Experiment, name: VariantName, now: datetime
) -> datetime | None:
    """Return when the variant changed to `name`; None if no other was in force before.

    The washout counts from then, so that a first variant has none.
    """
    return experiment.switched_at if experiment.variant in (None, name) else now


def _started(message: ExperimentStarted, now: datetime) -> Experiment:
    return Experiment(
        id=message.experiment_id,
        a=message.a,
        b=message.b,
        by=message.by,
        washout_s=message.washout_s,
        title=message.title,
        started_at=now,
    )
