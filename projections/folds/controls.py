"""Fold an applied control into one agent's state, and what follows for its beliefs."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeAlias, TypeVar

from msgspec.structs import replace

from projections.folds import credit, experiments, goals_and_biases, proposals, sessions
from projections.folds.characters import plans
from projections.folds.executive import (
    facts,
    forgotten,
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
from schemas.messages import characters, controls, executive
from schemas.messages.controls import ProfileSet
from schemas.messages.executive import ContextSwitched
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


_M = TypeVar("_M", bound=controls.Control)
_S = TypeVar("_S")
_P = TypeVar("_P", bound=executive.OfPerson)
_L = TypeVar("_L", ContextSwitched, ProfileSet)
_Fold: TypeAlias = Callable[[AgentState, _M, Origin], AgentState]


def applied(
    state: AgentState, context: FoldContext, message: object, id_: str
) -> AgentState:
    """Return the agent's state after a control that the input or output of an id carries.

    Any other message changes nothing.
    """
    fold = CONTROLS.get(type(message))
    if fold is None:
        return state
    return fold(state, message, Origin(id_, context.now, context.aids, context))


def inferred(
    state: AgentState, context: FoldContext, message: ControlInferred
) -> AgentState:
    """Return the agent's state after a control that the mind made itself."""
    kind = message_type("control", message.control)
    # A newer program may infer what this one does not know.
    if kind is None:
        return state
    control = kind.from_fields(message.fields)
    after = applied(state, context, control, context.output_id)
    if message.by in ("executor", "single"):
        return plans.own(state, after)
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
    message: ContextSwitched | ProfileSet,
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
    is_off = isinstance(message, ProfileSet) and message.off
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
        ProfileSet(person=lent.person, name=name, address=address, language=language),
    )
    return replace(executive, memory=memory)


def _seeded(
    state: AgentState, message: controls.HeuristicSeeded, origin: Origin
) -> AgentState:
    context = origin.context
    state = heuristics.seeded(state, message, origin)
    taught = state.taught(message.heuristic_id)
    if taught is None:
        return state
    return _redeclared(state, context.packs, context.learning, taught)


def _frozen(
    state: AgentState, message: controls.HeuristicFrozen, origin: Origin
) -> AgentState:
    return heuristics.frozen(_revived(state, origin.context, message), message)


def packs_after(packs: Packs, message: controls.PackLoaded) -> Packs:
    """Return the packs once one is loaded or taken out."""
    name, digest = message.name, message.digest
    if message.off:
        return packs.delete(name) if name in packs else packs
    ref = PackRef(name=name, version=message.pack_version, digest=digest)
    return packs.set(name, ref)


def _prior_updated(
    state: AgentState, message: controls.PriorUpdated, _: Origin
) -> AgentState:
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


def _redeclared(
    state: AgentState,
    packs: Sequence[CompiledPack],
    learning: LearningSettings,
    taught: Taught,
) -> AgentState:
    """Return the state whose evidence on a heuristic counts from its present declaration."""
    key = belief_key(taught.heuristic_id, taught.content_hash)
    known = state.beliefs.get(key)
    declared = beliefs.declared_confidence(state, packs, taught.heuristic_id)
    if known is None or known.declared == declared:
        return state
    its = beliefs.learning_under(
        learning, beliefs.terms_of(state, packs, taught.heuristic_id)
    )
    known = confidence.redeclared(known, declared, its)
    return replace(state, beliefs=state.beliefs.set(key, known))


def _revived(
    state: AgentState, context: FoldContext, message: controls.HeuristicFrozen
) -> AgentState:
    """Return the state in which a released heuristic begins a trial if it froze by itself."""
    id_ = message.heuristic_id
    content_hash = heuristics.content_in_force(state, context.packs, id_)
    if message.frozen or content_hash is None:
        return state
    learning = context.judging(state, id_)
    held = context.belief(state, id_, content_hash)
    if beliefs.lifecycle(held, frozen_by_hand=False, learning=learning) != "frozen":
        return state
    declared = beliefs.declared_confidence(state, context.packs, id_)
    return credit.believing(state, id_, content_hash, revived(held, declared, learning))


def _heard(
    state: AgentState, control: executive.OfPerson, _: object = None
) -> AgentState:
    """Return the state that knows a control's person as it says, and who caught up."""
    before = state.executive.memory
    memory = facts.called(before, control.person, control.called)
    memory = silences.caught_up(memory, control)
    if memory is before:
        return state
    return replace(state, executive=replace(state.executive, memory=memory))


def _of(name: str, fold: Callable[[_S, _P, Origin], _S]) -> _Fold[_P]:
    """Return the fold of a person's control that changes one slice of the executive."""

    def folded(state: AgentState, control: _P, origin: Origin) -> AgentState:
        state = _heard(state, control)
        made = fold(getattr(state.executive, name), control, origin)
        return replace(state, executive=replace(state.executive, **{name: made}))

    return folded


def _of_person(fold: Callable[[Executive, _P, Origin], Executive]) -> _Fold[_P]:
    def folded(state: AgentState, control: _P, origin: Origin) -> AgentState:
        state = _heard(state, control)
        return replace(state, executive=fold(state.executive, control, origin))

    return folded


def _for_a_while(fold: _Fold[_L]) -> _Fold[_L]:
    """Return the fold of a control that may hold for a while, and is given back then."""
    return lambda state, control, origin: _lent(
        state, fold(state, control, origin), control, origin
    )


def _switched(
    executive: Executive, message: ContextSwitched, origin: Origin
) -> Executive:
    """Return the executive's state in another context, which holds until the next."""
    now = executive.context
    if now is not None and now.name == message.context:
        return executive
    there = ActiveContext(name=message.context, by=message.by, at=origin.at)
    return replace(executive, context=there)


def _on(
    kind: type[_M], fold: _Fold[_M] = lambda state, *_: state
) -> tuple[type, _Fold[Any]]:
    return kind, fold


CONTROLS: Mapping[type, _Fold[Any]] = dict(
    (
        # Of a partition: what they change is shared.
        _on(controls.MindStarted),
        _on(controls.SegmentClosed),
        _on(controls.SessionStarted, sessions.applied),
        _on(controls.SessionEnded, sessions.applied),
        _on(controls.GoalsSet, goals_and_biases.goals_set),
        _on(
            controls.PackLoaded,
            lambda state, message, _: replace(
                state, packs=packs_after(state.packs, message)
            ),
        ),
        _on(
            controls.StrategySelected,
            lambda state, message, _: replace(
                state,
                strategy=StrategySpec(
                    name=message.strategy, parameters=message.parameters
                ),
            ),
        ),
        _on(controls.HeuristicSeeded, _seeded),
        _on(controls.HeuristicEdited, heuristics.edited),
        _on(controls.HeuristicFrozen, _frozen),
        # What it asks for is told by further outputs.
        _on(controls.SleepRequested),
        _on(controls.PriorUpdated, _prior_updated),
        _on(ProfileSet, _for_a_while(goals_and_biases.profile_set)),
        _on(controls.ProposalSubmitted),
        _on(controls.ProposalApplied, proposals.applied),
        _on(controls.ProposalReverted, proposals.reverted),
        _on(controls.ExperimentStarted, experiments.applied),
        _on(controls.ExperimentStopped, experiments.applied),
        _on(controls.PersonForgotten, forgotten.applied),
        _on(characters.AimsSet, plans.aimed),
        _on(characters.PlanSet, plans.applied),
        _on(characters.ReflectionRequested),
        _on(executive.Muted, _of("peace", restraints.muted)),
        _on(executive.SalienceModulated, _of("peace", modulations.modulated)),
        _on(executive.UserStateChanged, _of_person(people.changed)),
        _on(executive.BreakSignalled, _of_person(people.paused)),
        _on(ContextSwitched, _for_a_while(_of_person(_switched))),
        _on(executive.TraitAdjusted, _of_person(personality.adjusted)),
        _on(executive.PersonalitySelected, _of_person(personality.selected)),
        _on(executive.SkillLoaded, _of_person(skills.set_by_hand)),
        _on(executive.SkillUnloaded, _of_person(skills.set_by_hand)),
        _on(executive.FactStated, _of_person(facts.stated)),
        # It sets a timer.
        _on(executive.ReminderSet, reminders.applied),
        _on(executive.OutputInterrupted, _heard),
        _on(executive.PersonsGranted, grants.granted),
        _on(executive.OutputRequested, _heard),
    )
)
"""What each control changes of an agent, sent or inferred alike."""
