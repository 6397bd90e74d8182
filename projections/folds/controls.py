"""Fold an applied control into one agent's state, and what follows for its beliefs."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from projections.folds import experiments, goals_and_biases, sessions
from projections.folds.characters import aims, plans
from projections.folds.executive import (
    facts,
    grants,
    modulations,
    people,
    personality,
    reminders,
    restraints,
    silences,
    skills,
)
from projections.folds.fold_context import FoldContext, Origin
from projections.folds.learning import beliefs, confidence, heuristics
from schemas.codec.catalogue import message_type
from schemas.codec.envelope import Input
from schemas.messages import controls
from schemas.messages.characters import AimsSet, PlanSet
from schemas.messages.executive import (
    ContextSwitched,
    FactStated,
    Muted,
    OfPerson,
    PersonalitySelected,
    PersonsGranted,
    ReminderSet,
    SalienceModulated,
    SkillLoaded,
    SkillUnloaded,
    TraitAdjusted,
    UserStateChanged,
)
from schemas.messages.notes import ControlInferred
from schemas.packs.compiled import CompiledPack
from schemas.state.agent import AgentState, PackRef, Packs
from schemas.state.evidence import Belief, Prior, belief_key
from schemas.state.executive import EVERYBODY, ActiveContext, Executive, Lent
from schemas.state.taught import Taught
from schemas.values.learning_settings import LearningSettings
from schemas.values.settings import StrategySpec

_LENT_MOST = 64
"""Of how much it is known what it was before; the oldest change beyond stays as it is."""


def applied(
    state: AgentState, message: object, origin: Origin, input_: Input
) -> AgentState:
    """Return the agent's state after an applied control; unchanged by any other message.

    `input_` is what the control came with, be it the control itself or not.
    """
    after = _applied(state, message, origin, input_)
    if isinstance(message, ContextSwitched | controls.ProfileSet):
        return _lent(state, after, message, origin)
    return after


def lapsed(state: AgentState, now: datetime) -> AgentState:
    """Return the state without what was another for a while, and is no longer."""
    executive = state.executive
    if not executive.lent or all(now < each.until for each in executive.lent):
        return state
    for each in executive.lent:
        if now >= each.until:
            executive = _given_back(executive, each)
    kept = tuple(each for each in executive.lent if now < each.until)
    return replace(state, executive=replace(executive, lent=kept))


def _lent(
    before: AgentState,
    after: AgentState,
    message: ContextSwitched | controls.ProfileSet,
    origin: Origin,
) -> AgentState:
    """Return the state that knows what a change for a while is to give back."""
    is_context = isinstance(message, ContextSwitched)
    whose, held = EVERYBODY if is_context else message.person, before.executive.lent
    if whose is None:
        return after
    own = next((each for each in held if each.person == whose), None)
    kept = tuple(each for each in held if each is not own)
    if message.for_s is not None:
        made = Lent(
            person=whose,
            by=message.by if isinstance(message, ContextSwitched) else whose,
            since=origin.at,
            until=origin.at + timedelta(seconds=message.for_s),
            # What was set for a while before is not what it goes back to.
            was=own.was if own is not None else _was(before.executive, whose),
        )
        kept = (*kept, made)[-_LENT_MOST:]
    if kept == held:
        return after
    executive = after.executive
    is_off = isinstance(message, controls.ProfileSet) and message.off
    if is_off and own is not None:
        executive = _given_back(executive, own)
    return replace(after, executive=replace(executive, lent=kept))


def _was(executive: Executive, whose: str) -> tuple[str, ...]:
    if whose == EVERYBODY:
        now = executive.context
        return (now.name, now.by) if now is not None else ()
    known = executive.memory.profiles.get(whose)
    return (known.name, known.address, known.language) if known else ("", "", "")


def _given_back(executive: Executive, lent: Lent) -> Executive:
    if lent.person == EVERYBODY:
        there = (
            ActiveContext(name=lent.was[0], by=lent.was[1], at=lent.until)
            if (lent.was)
            else None
        )
        return replace(executive, context=there)
    name, address, language = lent.was
    memory = facts.profile_set(
        executive.memory,
        controls.ProfileSet(
            person=lent.person, name=name, address=address, language=language
        ),
    )
    return replace(executive, memory=memory)


def _applied(
    state: AgentState, message: object, origin: Origin, input_: Input
) -> AgentState:
    aids = origin.aids
    # Before the others: it alone sets a timer.
    if isinstance(message, ReminderSet):
        return reminders.applied(state, message, origin)
    if isinstance(message, OfPerson):
        executive = _of_executive(state.executive, message, origin)
        return replace(state, executive=executive)
    match message:
        case (controls.SessionStarted() | controls.SessionEnded()) as message:
            return sessions.applied(state, message, input_)
        case controls.GoalsSet() as message:
            return goals_and_biases.goals_set(state, message, aids)
        case controls.StrategySelected() as message:
            spec = StrategySpec(name=message.strategy, parameters=message.parameters)
            return replace(state, strategy=spec)
        case (controls.ExperimentStarted() | controls.ExperimentStopped()) as message:
            return experiments.applied(state, message, state.now or input_.at)
        case controls.PriorUpdated() as message:
            return _prior_updated(state, message)
        case controls.ProfileSet() as message:
            return goals_and_biases.profile_set(state, message)
        case controls.PackLoaded() as message:
            return replace(state, packs=packs_after(state.packs, message))
        case _:
            return _of_one(state, message, origin)


def inferred(
    state: AgentState, context: FoldContext, message: ControlInferred
) -> AgentState:
    """Return the agent's state after a control that the mind made itself."""
    kind = message_type("control", message.control)
    # A newer program may infer what this one does not know.
    if kind is None:
        return state
    origin = Origin(context.output_id, context.now, context.aids)
    after = applied(state, kind.from_fields(message.fields), origin, context.input)
    if message.by in ("executor", "single"):
        return aims.own(state, after)
    return after


def _of_one(state: AgentState, message: object, origin: Origin) -> AgentState:
    match message:
        case AimsSet():
            return aims.applied(state, message, origin.at)
        case PlanSet():
            planned = plans.applied(state.character, message, origin.at)
            return replace(state, character=planned)
        case controls.HeuristicSeeded():
            return heuristics.seeded(state, message, origin.aids, origin.id)
        case controls.HeuristicEdited():
            return heuristics.edited(state, message, origin.aids)
        case PersonsGranted():
            executive = grants.granted(state.executive, message)
            return replace(state, executive=executive)
        case _:
            return state


def packs_after(packs: Packs, message: controls.PackLoaded) -> Packs:
    """Return the packs once one is loaded or taken out."""
    name, digest = message.name, message.digest
    if message.off:
        return packs.delete(name) if name in packs else packs
    ref = PackRef(name=name, version=message.pack_version, digest=digest)
    return packs.set(name, ref)


def _prior_updated(state: AgentState, message: controls.PriorUpdated) -> AgentState:
    if message.is_default:
        known = message.origin in state.priors
        priors = state.priors.delete(message.origin) if known else state.priors
    else:
        prior = Prior(kappa=message.kappa, mean=message.mean)
        priors = state.priors.set(message.origin, prior)
    return replace(state, priors=priors)


def revived(belief: Belief, declared: float, learning: LearningSettings) -> Belief:
    """Return the belief that begins a new trial, from the declared confidence.

    Earlier evidence counts no more; counts of fires and successes stay. Where the
    declared confidence would freeze it again at once, the trial begins at the threshold
    of an active heuristic instead.
    """
    if declared < learning.frozen_below:
        declared = learning.deprecated_below
    # Successes so far become settled ones: `success_count` counts the whole life, while
    # the signals behind it are gone.
    return replace(
        confidence.initial(declared, learning),
        fire_count=belief.fire_count,
        success_count=belief.success_count,
        settled_successes=belief.success_count,
        last_fired=belief.last_fired,
        recent=belief.recent,
        trials=belief.trials + 1,
    )


def redeclared(
    state: AgentState,
    packs: Sequence[CompiledPack],
    learning: LearningSettings,
    taught: Taught,
) -> AgentState:
    """Return the state whose evidence on a heuristic counts from its present declaration."""
    key = belief_key(taught.id, taught.content_hash)
    known = state.beliefs.get(key)
    declared = beliefs.declared_confidence(state, packs, taught.id)
    if known is None or known.declared == declared:
        return state
    its = beliefs.learning_under(learning, beliefs.terms_of(state, packs, taught.id))
    known = confidence.redeclared(known, declared, its)
    return replace(state, beliefs=state.beliefs.set(key, known))


def _of_executive(executive: Executive, control: OfPerson, origin: Origin) -> Executive:
    """Return the executive's state after a control that was sent or inferred."""
    memory = facts.called(executive.memory, control.person, control.called)
    memory = silences.caught_up(memory, control)
    if memory is not executive.memory:
        executive = replace(executive, memory=memory)
    match control:
        case PersonalitySelected():
            own = personality.selected(executive.personality, control)
            return replace(executive, personality=own)
        case TraitAdjusted():
            own = personality.adjusted(executive.personality, control, origin)
            return replace(executive, personality=own)
        case ContextSwitched():
            return _switched(executive, control, origin)
        case Muted():
            return restraints.muted(executive, control, origin)
        case UserStateChanged():
            return people.changed(executive, control, origin)
        case FactStated():
            memory = facts.stated(executive.memory, control, origin)
            return replace(executive, memory=memory)
        case SalienceModulated():
            return modulations.modulated(executive, control, origin)
        case SkillLoaded() | SkillUnloaded():
            return skills.set_by_hand(executive, control)
        case _:
            return executive


def _switched(
    executive: Executive, message: ContextSwitched, origin: Origin
) -> Executive:
    """Return the executive's state in another context, which holds until the next."""
    now = executive.context
    if now is not None and now.name == message.context:
        return executive
    there = ActiveContext(name=message.context, by=message.by, at=origin.at)
    return replace(executive, context=there)
