"""Deciding on an event: what it shows of earlier advice, whether it matters, who answers.

In order: outcomes, salience, how a model would be asked (`consult`), matching, the strategy,
the executive's draw. The one `Decided` of the event holds everything that led to it.
"""

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import cast

from msgspec.structs import replace

from handlers.mind.context import TurnContext
from handlers.mind.flows import (
    audience,
    character,
    converse,
    decision_messages,
    output,
    own_voice,
    recollect,
    restrain,
    silence,
    soured,
    waiting,
)
from handlers.mind.flows.consult import Consultation, consultation, strategy_in_force
from handlers.mind.flows.decision_messages import Occasion, When
from handlers.mind.flows.told import acknowledge, acknowledged, came, met
from handlers.mind.stages import executive, matching, outcomes, salience
from handlers.mind.stages.executive import Choice
from handlers.mind.stages.prompts import Prompt
from handlers.mind.stages.salience import Assessment
from handlers.mind.stages.timing import Ready
from handlers.mind.strategies import exploration, registry
from handlers.mind.strategies.scoring import ranked
from projections.folds import experiments
from projections.folds.events import Domain
from schemas.codec.catalogue import OutputMessage
from schemas.messages.decisions import Decided, Gate
from schemas.messages.experiments import Assignment, Variant
from schemas.messages.learning import OutcomeObserved
from schemas.messages.sensing import Sensed
from schemas.ports.decision_context import (
    DecisionContext,
    HeuristicCandidate,
    Odds,
    Question,
    Strategy,
)
from schemas.values.reasons import Silence, Timing

# A day: an event that far off has a wrong clock, or waited too long to tell.
_IMPLAUSIBLE_S = 24 * 3600.0


def decide(turn: TurnContext, event: Sensed) -> list[OutputMessage]:
    """Return the decision on an event, then what it asks for, all to be emitted.

    What the event shows of earlier advice is emitted before: the decision must see it.
    """
    turn.enter("outcomes")
    domain = turn.appearance.domain
    shown = outcomes.observed(turn.state, event, turn.input.id, domain.name, turn.now)
    shown = shown or _undone(turn, event, domain.name)
    if shown is not None:
        turn.credit(shown)
    # Only these can tell that what was said succeeded.
    if shown is not None or event.in_reply_to is not None:
        silence.shown(turn, event, shown)
    soured.by_event(turn, event, is_undo=shown is not None and shown.by == "undo")
    # After the credit: the decision must see the confidence that the outcome left.
    assignment = _assignment(turn, event)
    # From here on the variant's settings are in force; the outcome was counted without it.
    turn.adopt(_variant(turn, assignment))
    here = _occasion(turn, event, domain, assignment)
    own = own_voice.gate(turn, event)
    if own is not None:
        here = replace(here, assessment=_heard(here.assessment, own))
        if not own.passed:
            return [_gated(turn, here, "own_echo")]
    told = acknowledged(turn, here)
    if told is not None:
        return told
    here = _weighed_again(turn, here)
    # Of a rule that is urgent only its candidates tell.
    if here.assessment.silence in (None, "rate"):
        return _choose(turn, here)
    # A gated event is a decision, too: silence is recorded with what led to it.
    return [_gated(turn, here, here.assessment.silence)]


def _weighed_again(turn: TurnContext, here: Occasion) -> Occasion:
    """Return the occasion that matters as a trusted heuristic is sure of it."""
    found, event = here.assessment, here.event
    candidates = partial(_candidates, turn, here)
    if not restrain.is_worthwhile(turn, event, found, candidates):
        return here
    return replace(here, assessment=salience.let_through(found, "trusted"))


def _gated(turn: TurnContext, here: Occasion, why: Silence) -> OutputMessage:
    turn.enter("messages")
    gates, strategy = here.assessment.gates, strategy_in_force(turn)
    return decision_messages.gated(turn, here, strategy, gates, why)


def _heard(found: Assessment, own: Gate) -> Assessment:
    """Return an assessment with the gate that closes to its own voice."""
    return replace(found, gates=(*found.gates, own))


def _undone(turn: TurnContext, event: Sensed, domain: str) -> OutcomeObserved | None:
    """Return the failure of advice that the event undoes, if it undoes any."""
    if not turn.state.shown or event.in_reply_to is not None:
        return None
    fire = outcomes.undone_fire(
        turn.state, event, domain, turn.now, turn.learning.undo_s, turn.action_of
    )
    return outcomes.undone(turn.state, fire, turn.input.id) if fire else None


def _occasion(
    turn: TurnContext, event: Sensed, domain: Domain, assignment: Assignment | None
) -> Occasion:
    """Make the occasion of an event; the event's own values go before the pack's."""
    declared, pack = domain.event_type, domain.pack
    own_ttl_s = (
        event.ttl_s
        or (declared.ttl_s if declared else None)
        or (pack.pack.ttl_s if pack else None)
    )
    ttl_s = own_ttl_s or turn.settings.ttl_s
    kept_s = own_ttl_s or max(ttl_s, turn.settings.executive.queue_ttl_s)
    turn.enter("salience")
    moved = restrain.moved(turn, event)
    weighed, was_said = restrain.weighed(turn, event, domain.name, moved.kept)
    traits = character.traits_of(turn, event, weighed.dimensions)
    in_force = character.skills_of(turn, domain.name)
    turn.enter("gate")
    raised = moved.raised
    further = restrain.relevance_of(
        turn, event, weighed, traits.values, raised, was_said=was_said
    )
    assessment = salience.assess(
        turn.settings,
        domain,
        event,
        weighed,
        raised,
        further,
        is_watched=moved.watched is not None,
    )
    assessment = restrain.gated(turn, event, assessment, moved)
    return Occasion(
        id=turn.input.id,
        at=turn.now,
        event=event,
        domain=domain,
        assessment=assessment,
        ttl_s=ttl_s,
        expires_at=turn.now + timedelta(seconds=ttl_s),
        kept_until=turn.now + timedelta(seconds=kept_s),
        channel=(declared.channel if declared else None) or turn.settings.channel,
        flags=_flags(turn, event),
        assignment=assignment,
        relevance=further,
        own_urgency=salience.urgency(event.urgency, assessment.salience.dimensions),
        traits=traits,
        tone=character.tone_of(traits, in_force),
        skills=in_force,
        watch=moved.watched,
    )


def _assignment(turn: TurnContext, event: Sensed) -> Assignment | None:
    experiment, session = turn.state.experiment, turn.state.session
    if experiment is None or session is None:
        return None
    return experiments.assigned(
        experiment,
        event,
        session.id,
        seed=turn.settings.seed,
        agent=turn.input.agent,
        now=turn.now,
    )


def _flags(turn: TurnContext, event: Sensed) -> tuple[str, ...]:
    """Return the oddities: no vector, an implausible time, a reply to nothing known."""
    flags = []
    if turn.aids.vector is None:
        flags.append("no_vector")
    if event.occurred_at is not None:
        apart = (event.occurred_at - turn.now).total_seconds()
        if abs(apart) > _IMPLAUSIBLE_S:
            flags.append("implausible_time")
    if event.in_reply_to is not None:
        decision_id = outcomes.replied_decision(turn.state, event)
        if decision_id is None or turn.state.decisions.get(decision_id) is None:
            flags.append("unknown_reply")
    return tuple(flags)


def _variant(turn: TurnContext, assignment: Assignment | None) -> Variant | None:
    experiment = turn.state.experiment
    if experiment is None or assignment is None:
        return None
    return experiment.named(assignment.variant)


def _choose(turn: TurnContext, here: Occasion) -> list[OutputMessage]:
    """Choose an arm; return the decision, then its fire and delivery, or its ask."""
    turn.enter("consult")
    strategy = strategy_in_force(turn)
    relevant = turn.relevant_goals(here.domain.name)
    goals = (
        turn.goals_of(here.domain.name)
        if relevant is None
        else tuple(each.text for each in relevant)
    )
    consulted, spent = _consulted(turn, here, strategy, goals)
    context = _context(turn, here, consulted, goals)
    if here.assessment.silence is not None:
        if not context.candidates:
            return [_gated(turn, here, here.assessment.silence)]
        through = salience.let_through(here.assessment, "urgent")
        here = replace(here, assessment=through)
    resting = restrain.waiting(turn, here.event, context.candidates)
    if resting is not None:
        closed, reason = resting
        gates = (*here.assessment.gates, closed)
        return [decision_messages.gated(turn, here, strategy, gates, reason)]
    if here.watch is not None and not _knows(context):
        return came(turn, here, here.watch)
    turn.enter("choose")
    odds = restrain.within_budget(_odds(turn, strategy, context), spent)
    choice = executive.choose(odds, context, turn.draw)
    turn.enter("messages")
    met(turn, here.watch, is_told=choice.heuristic is not None)
    # Of the first message returned; it serves as the response's id, too.
    decision_id = turn.next_id
    sorry = _apology(turn, here, choice)
    if sorry:
        return acknowledge(turn, here, sorry)
    result = executive.result(context, choice, decision_id)
    prompt = None
    if consulted and choice.asks_model:
        prompt = _prompt(turn, here, consulted, context, choice.odds.question)
    when = _when(turn, here, choice, asks=prompt is not None)
    decided = decision_messages.decided(
        turn, here, strategy, choice, result, prompt, relevant, when=when
    )
    if choice.heuristic is not None:
        said = _by_heuristic(turn, here, choice.heuristic, decision_id, when.timing)
        return [decided, *said]
    if choice.quiet is not None:
        return [
            decided,
            decision_messages.fired(here, choice.quiet, decision_id, "kept"),
        ]
    if consulted is None or prompt is None:
        return [decided]
    return _by_model(turn, here, consulted, prompt, choice, decided, decision_id)


def _knows(context: DecisionContext) -> bool:
    """Tell whether a heuristic may answer."""
    return any(each.eligible for each in context.candidates)


def _by_model(
    turn: TurnContext,
    here: Occasion,
    consulted: Consultation,
    prompt: Prompt,
    choice: Choice,
    decided: Decided,
    decision_id: str,
) -> list[OutputMessage]:
    """Return what follows from asking a model: what it is shown, and the ask."""
    suggested = [
        decision_messages.fired(here, each, decision_id, "suggested")
        for each in prompt.shown
    ]
    best_id, race = decided.matched_heuristic_id, choice.race
    ask = decision_messages.model_asked(
        turn, here, consulted, prompt, decision_id, best_id, race
    )
    ask = output.streamed(turn, ask, here.event)
    decided, first = recollect.first(turn, here, decided, ask, choice.odds.question)
    return [decided, *suggested, first]


def _apology(turn: TurnContext, here: Occasion, choice: Choice) -> str:
    """Return what is said to a question that there is no model for; else nothing."""
    says = choice.asks_model or choice.heuristic is not None or choice.quiet is not None
    if says or not converse.is_question(turn, here.event):
        return ""
    event, why = here.event, choice.odds.silence
    return converse.unanswered(turn, event.text, event.person, why)


def _consulted(
    turn: TurnContext, here: Occasion, strategy: Strategy, goals: tuple[str, ...]
) -> tuple[Consultation | None, Gate | None]:
    """Return how a model would be asked, if one may be, and the gate of what it may cost."""
    if here.assessment.silence is not None:
        return None, None
    found = consultation(turn, strategy, goals, here.domain.name, here.tone)
    spent = restrain.budget(turn) if found is not None else None
    return (None if spent is not None and not spent.passed else found), spent


def _prompt(
    turn: TurnContext,
    here: Occasion,
    consulted: Consultation,
    context: DecisionContext,
    question: Question | None,
) -> Prompt:
    """Return what the model is asked, with what is remembered and what skills tell."""
    remembered = converse.background(turn, here.event)
    told = character.told(turn, here.event, here.skills, here.response_type)
    speaker = here.event.speaker
    situation = decision_messages.situation(turn, here)
    return consulted.prompt(
        turn, context, question, remembered, told, speaker, situation
    )


def _when(turn: TurnContext, here: Occasion, choice: Choice, *, asks: bool) -> When:
    """Return when what was chosen is to be said."""
    if choice.heuristic is None:
        return When("queued" if asks else "immediate")
    answer = _answer(turn, here, choice.heuristic)
    when = waiting.timing_of(turn, answer)
    return When(when, audience.hearing(turn, answer, when))


def _by_heuristic(
    turn: TurnContext,
    here: Occasion,
    heuristic: HeuristicCandidate,
    decision_id: str,
    when: Timing,
) -> list[OutputMessage]:
    """Return what follows from a heuristic's answer: it is said, or waits for its time."""
    if when != "immediate":
        words, person = heuristic.words, here.event.person
        return [waiting.hold(turn, here, decision_id, when, heuristic, words, person)]
    asked = decision_messages.heuristic_delivery(here, heuristic, decision_id)
    to = output.Addressee(
        here.event.person,
        here.hidden_from,
        here.assessment.is_addressed,
        here.assessment.is_threat,
    )
    return [
        decision_messages.fired(here, heuristic, decision_id, "shown"),
        output.routed(turn, asked, to),
    ]


def _answer(turn: TurnContext, here: Occasion, heuristic: HeuristicCandidate) -> Ready:
    """Return what timing must know of a heuristic's answer."""
    # An alert's own type counts, and an event that threatens makes an alert of any.
    kind = "alert" if here.assessment.is_threat else heuristic.response_type
    return Ready(
        kind,
        here.urgency(heuristic),
        here.assessment.salience.effective,
        here.event.person,
        here.assessment.is_addressed,
        here.traits["enthusiasm"],
        here.hidden_from,
        is_aloud=here.channel == turn.settings.channel,
    )


def _odds(turn: TurnContext, strategy: Strategy, context: DecisionContext) -> Odds:
    """Return the strategy's odds, mixed with others' if exploration is on."""
    odds = strategy.decide(context)
    settings = turn.settings.exploration
    if settings is None:
        return odds
    challengers = [
        registry.in_force(each, turn.settings) for each in settings.challengers
    ]
    return exploration.explored(odds, context, settings, challengers)


def _context(
    turn: TurnContext,
    here: Occasion,
    consulted: Consultation | None,
    goals: tuple[str, ...],
) -> DecisionContext:
    return DecisionContext(
        event_id=here.id,
        event_text=here.event.text,
        event_source=here.event.source,
        salience=dict(cast(Mapping[str, float], here.assessment.salience.dimensions)),
        candidates=_candidates(turn, here),
        immediate=here.event.immediate,
        goals=goals,
        personality_biases=turn.biases_of(here.domain.name),
        urgency=here.urgency(),
        llm_arm=consulted.arm if consulted else None,
        now=turn.now,
        silences=_silences(turn, here),
        silence_asks=turn.settings.silence,
        trials=turn.settings.trials,
    )


def _silences(turn: TurnContext, here: Occasion) -> tuple[HeuristicCandidate, ...]:
    """Return the learnt silences that hold; none where nothing was learnt."""
    domain = here.domain.name
    if domain not in turn.state.shelves:
        return ()
    return silence.silences(turn, here.event, domain)


def _candidates(turn: TurnContext, here: Occasion) -> tuple[HeuristicCandidate, ...]:
    """Return the matched heuristics: the eligible ones, best first, then the others."""
    turn.enter("match")
    matched = matching.candidates(
        turn.state,
        here.domain,
        character.known_with(turn, here.event),
        turn.aids.vector,
        turn.belief,
        turn.learning,
        turn.settings.limits.match,
        turn.aids.batch,
    )
    matched = restrain.cooled(
        turn, here.event, here.assessment.salience, tuple(matched)
    )
    if here.assessment.silence == "rate":
        matched = restrain.only_urgent(matched)
    matched = character.voiced(turn, here.event, matched, here.skills, here.traits)
    return (*ranked(matched), *(each for each in matched if not each.eligible))
