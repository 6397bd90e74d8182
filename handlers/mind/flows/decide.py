"""Deciding on an event: what it shows, whether it matters, who answers, and with what.

The stages in order: outcomes, salience, matching, executive, delivery. The one `Decided`
of the event holds everything that led to it.
"""

from handlers.mind.context import Group
from handlers.mind.flows import conclude, decision_messages, silence
from handlers.mind.flows.consult import Consultation, consultation, strategy_in_force
from handlers.mind.flows.occasion import Occasion, occasion
from handlers.mind.stages import completion, executive, matching, outcomes
from handlers.mind.stages.prompts import Prompt
from handlers.mind.strategies import exploration, registry
from handlers.mind.strategies.scoring import ranked
from schemas.messages.asks import ModelAsked
from schemas.messages.experiments import Variant
from schemas.messages.learning import OutcomeObserved
from schemas.messages.sensing import Sensed
from schemas.ports.decision_context import (
    DecisionContext,
    HeuristicCandidate,
    Odds,
    Strategy,
)


def decide(group: Group, event: Sensed) -> None:
    """Say what the event shows of earlier advice, and decide on it."""
    domain = group.appearance.domain
    shown = outcomes.observed(
        group.state,
        event,
        group.taken.id,
        domain.name,
        group.now,
        edition=group.settings.edition,
    )
    shown = shown or _undone(group, event, domain.name)
    if shown is not None:
        group.credit(shown)
    silence.shown(group, event, shown)
    here = occasion(group, event, domain)
    group.adopt(_variant(group, here))
    if here.assessment.silence is None:
        _choose(group, here)
    else:
        group.say(decision_messages.gated(group, here, strategy_in_force(group)))


def _undone(group: Group, event: Sensed, domain: str) -> OutcomeObserved | None:
    """What the event takes back of what was just advised."""
    if not group.state.shown or event.in_reply_to is not None:
        return None
    fire = outcomes.undone_fire(
        group.state,
        event,
        domain,
        group.now,
        group.learning.undo_s,
        group.action_of,
        edition=group.settings.edition,
    )
    return outcomes.undone(group.state, fire, group.taken.id) if fire else None


def _variant(group: Group, here: Occasion) -> Variant | None:
    experiment = group.state.experiment
    if experiment is None or here.assignment is None:
        return None
    return experiment.named(here.assignment.variant)


def _choose(group: Group, here: Occasion) -> None:
    """Take an arm by the strategy, and do what that arm needs done."""
    strategy = strategy_in_force(group)
    relevant = group.relevant_goals(here.domain.name)
    if relevant is None:
        goals = group.goals_of(here.domain.name)
    else:
        goals = tuple(each.text for each in relevant)
    consulted = consultation(group, strategy, goals, here.domain.name)
    context = _context(group, here, consulted, goals)
    choice = executive.choose(_odds(group, strategy, context), context, group.draw)
    result = executive.result(context, choice, group.next_id)
    prompt = None
    if consulted and choice.asks_model:
        prompt = consulted.prompt(group, context, choice.odds.question)
    decision_id = group.say(
        decision_messages.decided(
            group, here, strategy, choice, result, prompt, relevant
        )
    )
    if choice.heuristic is not None:
        group.say(decision_messages.fired(here, choice.heuristic, decision_id, "shown"))
        group.say(
            decision_messages.heuristic_delivery(here, choice.heuristic, decision_id)
        )
    elif choice.quiet is not None:
        group.say(decision_messages.fired(here, choice.quiet, decision_id, "kept"))
    elif consulted is not None and prompt is not None:
        best_id, race = result.matched_heuristic_id, choice.race
        ask = decision_messages.model_asked(
            group, here, consulted, prompt, decision_id, best_id, race
        )
        _ask_model(group, here, strategy, prompt, ask)


def _odds(group: Group, strategy: Strategy, context: DecisionContext) -> Odds:
    """The strategy's odds, with those of others mixed in if it is to be explored."""
    odds = strategy.decide(context)
    settings = group.settings.exploration
    if settings is None:
        return odds
    challengers = [
        registry.in_force(each, group.settings) for each in settings.challengers
    ]
    return exploration.explored(odds, context, settings, challengers)


def _context(
    group: Group,
    here: Occasion,
    consulted: Consultation | None,
    goals: tuple[str, ...],
) -> DecisionContext:
    return DecisionContext(
        event_id=here.id,
        event_text=here.event.text,
        event_source=here.event.source,
        salience=dict[str, float](here.assessment.salience.dimensions.items()),
        candidates=_candidates(group, here),
        immediate=here.event.immediate,
        goals=goals,
        personality_biases=group.biases_of(here.domain.name),
        urgency=here.urgency(),
        llm_arm=consulted.arm if consulted else None,
        now=group.now,
        silences=silence.silences(group, here.event, here.domain.name),
        silence_asks=group.settings.silence,
    )


def _candidates(group: Group, here: Occasion) -> tuple[HeuristicCandidate, ...]:
    """What is known of such situations: the eligible, best first, then the others."""
    matched = matching.candidates(
        group.state,
        here.domain,
        here.event,
        group.aids.vector,
        group.belief,
        group.learning,
        group.settings.limits.match,
        group.aids.batch,
    )
    return (*ranked(matched), *(each for each in matched if not each.eligible))


def _ask_model(
    group: Group, here: Occasion, strategy: Strategy, prompt: Prompt, ask: ModelAsked
) -> None:
    """Ask, and give up the least salient of those that wait if they are too many."""
    for heuristic in prompt.shown:
        group.say(
            decision_messages.fired(here, heuristic, ask.decision_id, "suggested")
        )
    group.say(ask)
    pending = group.state.pending
    given_up = completion.crowded_out(pending[id_] for id_ in sorted(pending))
    if given_up is not None:
        gives_way = completion.superseded(given_up)
        conclude.without_model(group, strategy, given_up, gives_way)
