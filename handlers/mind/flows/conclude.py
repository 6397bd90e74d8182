"""Concluding: end a decision that waits for the model, with its answer or without it.

The model's answer is delivered if it comes in time. If nothing more is to come of the
model, what is at hand is delivered: an answer without its prediction, or a heuristic that
stands by.
"""

from datetime import timedelta

from handlers.mind.context import TurnContext
from handlers.mind.flows import (
    character,
    consult,
    converse,
    endorsement,
    inferring,
    output,
    restrain,
    waiting,
)
from handlers.mind.flows.decision_messages import SOONEST_S, late_fire, left_s
from handlers.mind.flows.output import Addressee
from handlers.mind.reply import reading
from handlers.mind.stages import completion, prompts
from handlers.mind.stages.prompts import request_hash
from schemas.messages.arms import Action, Chained
from schemas.messages.asks import DeliveryAsked, ModelAsked, UnpredictedWords
from schemas.messages.decisions import Completed, Dropped
from schemas.messages.notes import Handled
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.packs import model_actions
from schemas.ports.decision_context import Strategy
from schemas.state import limits
from schemas.state.agent import Pending
from schemas.values import ids
from schemas.values.model_settings import ModelSettings


def heard(
    turn: TurnContext, strategy: Strategy, result: ModelAnswered | ModelFailed
) -> None:
    """Handle a model's result: conclude its decision, if that still waits for it."""
    refused = completion.refusal(turn.state, result)
    pending = turn.state.pending.get(result.ask_id)
    if refused is not None or pending is None:
        turn.emit(refused or Handled(reason="unknown", detail=result.ask_id))
        return
    # Emitted first: it marks the ask as answered, so that a second result is refused.
    turn.emit(Handled(reason="recorded"))
    if isinstance(result, ModelFailed):
        end_without_model(turn, strategy, pending, completion.failed(pending, result))
    elif pending.about is not None:
        _predicted(turn, strategy, pending, pending.about, result)
    else:
        _answered(turn, strategy, pending, result)


def end_without_model(
    turn: TurnContext, strategy: Strategy, pending: Pending, otherwise: Dropped
) -> None:
    """End a decision without more from the model: deliver what is at hand, else
    `otherwise`.
    """
    about, rival = pending.about, pending.rival
    if about is not None:
        ceiling = consult.manner_of(turn.settings, strategy).ceiling
        unknown = prompts.unpredicted(about.text, ceiling)
        _end(turn, pending, completion.predicted(pending, about, unknown, turn.now))
    elif rival is not None:
        _end(turn, pending, completion.answered_by_rival(pending, rival, turn.now))
    else:
        _drop(turn, pending, otherwise)
        _apologise(turn, pending, otherwise)


def _apologise(turn: TurnContext, pending: Pending, end: Dropped) -> None:
    """Tell a person whose words wait for an answer that there is none."""
    speaker = pending.speaker
    text = converse.unanswered(turn, pending.heard, pending.person, end.reason)
    if speaker is None:
        return
    _, silence = restrain.at_timer(turn, pending.person, speaker, is_always=True)
    if text and silence is None:
        asked = _sentence(turn, pending, text)
        output.send(turn, asked, _to(pending))


def make_room(turn: TurnContext) -> None:
    """End the least salient decision that waits for the model, if too many do."""
    pending = turn.state.pending
    if len(pending) <= limits.PENDING_ANSWERS:
        return
    # Sorted ids: an `immutables.Map` has no order that is the same everywhere (ADR 0005).
    given_up = completion.crowded_out(pending[id_] for id_ in sorted(pending))
    gives_way = completion.superseded(given_up)
    end_without_model(turn, consult.strategy_in_force(turn), given_up, gives_way)


def _answered(
    turn: TurnContext, strategy: Strategy, pending: Pending, result: ModelAnswered
) -> None:
    manner = consult.manner_of(turn.settings, strategy)
    found = _read(turn, pending, result)
    if isinstance(found, reading.Unread):
        # A heuristic that stands by may still answer; nothing is learnt of this.
        end_without_model(turn, strategy, pending, completion.unread(pending, found))
        return
    said, action = found
    read = prompts.read_answer(said, manner.ceiling, pending.prediction)
    alike = endorsement.alike(turn, pending, read.text)
    end = completion.answered(
        pending, result.model, read, turn.now, alike.shown, _chained(result), action
    )
    declined = _nonsense(pending, result.text, end)
    if declined is not None:
        end_without_model(turn, strategy, pending, declined)
        return
    is_late = turn.now > pending.expires_at
    changed = None if is_late else inferring.settle(turn, pending, said.fields)
    if changed is not None:
        _end(
            turn, pending, completion.settled(pending, result.model, changed, turn.now)
        )
        return
    if isinstance(end, Dropped) or not _ask_prediction(turn, strategy, pending, end):
        _end(turn, pending, end)
    # After the delivery, so that no answer waits for evidence to be counted.
    endorsement.endorse(turn, pending.decision_id, alike)
    inferring.propose(turn, pending, said.fields)


def _nonsense(pending: Pending, raw: str, end: Completed | Dropped) -> Dropped | None:
    """Return the end of a decision whose model sent nonsense; None if the answer is
    usable.
    """
    if isinstance(end, Dropped):
        return None
    why = completion.nonsense(raw, end.text, pending.asked)
    return completion.declined(pending, why) if why is not None else None


def _predicted(
    turn: TurnContext,
    strategy: Strategy,
    pending: Pending,
    about: UnpredictedWords,
    result: ModelAnswered,
) -> None:
    manner = consult.manner_of(turn.settings, strategy)
    read = prompts.read_prediction(about.text, result.text, manner.ceiling)
    _end(turn, pending, completion.predicted(pending, about, read, turn.now))


def _ask_prediction(
    turn: TurnContext, strategy: Strategy, pending: Pending, end: Completed
) -> bool:
    """Ask the model to predict how its answer will turn out; return whether it was asked.

    The answer waits for half of its remaining lifetime at most, and in a race until its
    deadline.
    """
    model = consult.model_of(turn.settings, strategy)
    if pending.prompt is None or model is None:
        return False
    # The other half is left for the delivery.
    left = (pending.expires_at - turn.now) / 2
    if pending.rival is not None:
        left = min(left, pending.rival.due_at - turn.now)
    wait_s = min(left.total_seconds(), model.deadline_s)
    if wait_s < SOONEST_S:
        return False
    goals = turn.goals if pending.goals is None else pending.goals
    told = consult.wording(turn.settings, turn.packs, strategy, pending.domain)
    system = prompts.prediction_system_prompt(told.settings, turn.packs, goals)
    prompt = prompts.prediction_prompt(pending.prompt, end.text, own=told.prediction)
    question = system, prompt
    turn.emit(_prediction_asked(turn, pending, end, model, question, wait_s))
    return True


def _end(turn: TurnContext, pending: Pending, end: Completed | Dropped) -> None:
    if isinstance(end, Dropped):
        _drop(turn, pending, end)
        if end.reason == "stale":
            _apologise(turn, pending, end)
        return
    if end.path == "llm":
        end = character.trimmed(turn, end, pending.person)
    question = _question(turn, end)
    if not question and waiting.hold_late(turn, pending, end):
        return
    withheld = restrain.too_late(turn, pending, end)
    if withheld is not None:
        _drop(turn, pending, withheld)
        return
    if question:
        turn.emit(waiting.asked_first(turn, pending, end, question))
        asked = _sentence(turn, pending, question, asks=True)
        output.send(turn, asked, _to(pending))
        return
    rival = pending.rival
    if end.path == "heuristic" and rival is not None:
        id_, event_id = pending.decision_id, pending.event_id
        turn.emit(late_fire(id_, event_id, rival.heuristic_id, rival))
    turn.emit(end)
    if output.send(turn, _late_delivery(turn, pending, end), _to(pending)) == "speech":
        # Whoever was away when the model was asked is back.
        output.take_back(turn, pending)


def _to(pending: Pending) -> Addressee:
    is_addressed = pending.speaker is not None
    return Addressee(pending.person, pending.hidden_from, is_addressed=is_addressed)


def _read(
    turn: TurnContext, pending: Pending, result: ModelAnswered
) -> tuple[reading.Said, Action | None] | reading.Unread:
    """Return what a reply says, and does if it may; else why none of it counts.

    Words that go with what may not be done are not said either: they tell of it as done.
    """
    said = reading.words(result, turn.input.agent, acts=pending.acts)
    if isinstance(said, reading.Unread) or said.action is None:
        return said if isinstance(said, reading.Unread) else (said, None)
    may = model_actions.offered(consult.actions_of(turn.packs), pending.speaker)
    action = model_actions.checked(said.action, may)
    if isinstance(action, str):
        return reading.Unread("malformed", f"the answer is malformed: {action}")
    return said, action


def _question(turn: TurnContext, end: Completed) -> str:
    """Return what is asked before an answer's action is done; empty if nothing is."""
    if end.path != "llm" or end.action is None:
        return ""
    named = (e for e in consult.actions_of(turn.packs) if e.type == end.action.type)
    declared = next(named, None)
    return declared.question(end.action) if declared is not None else ""


def _drop(turn: TurnContext, pending: Pending, end: Dropped) -> None:
    turn.emit(end)
    output.take_back(turn, pending)


def _prediction_asked(
    turn: TurnContext,
    pending: Pending,
    end: Completed,
    model: ModelSettings,
    question: tuple[str, str],
    wait_s: float,
) -> ModelAsked:
    """Return the ask for a prediction of an answer, which waits for it.

    `question` is the system prompt and the prompt.
    """
    system, prompt = question
    return ModelAsked(
        purpose="prediction",
        decision_id=pending.decision_id,
        priority=pending.priority,
        expires_at=turn.now + timedelta(seconds=wait_s),
        ttl_s=wait_s,
        model=model.name,
        system=system,
        prompt=prompt,
        temperature=model.temperature,
        max_tokens=model.max_tokens,
        deadline_s=wait_s,
        channel=pending.channel,
        response_type=pending.response_type,
        urgency=pending.urgency,
        matched_heuristic_id=pending.matched_heuristic_id,
        request_hash=request_hash(model, system, prompt),
        about=UnpredictedWords(
            ask_id=end.ask_id,
            model=end.model,
            text=end.text,
            agrees_with=end.agrees_with,
            agreement=end.agreement,
            chain=end.chain,
            action=end.action,
        ),
        template_digest=ids.digest(system.encode()),
    )


def _chained(result: ModelAnswered) -> Chained | None:
    """Return who of a chain answered; None if a model was asked alone."""
    if result.link is None:
        return None
    asked = 1 + len(result.attempts or ())
    return Chained(link=result.link, attempts=asked, cost_usd=result.cost_usd)


def _sentence(
    turn: TurnContext, pending: Pending, text: str, *, asks: bool = False
) -> DeliveryAsked:
    """Return the ask to say something of our own about an answer: it lives from now on."""
    ttl_s = turn.settings.ttl_s
    return DeliveryAsked(
        decision_id=pending.decision_id,
        event_id=pending.event_id,
        channel=pending.channel,
        text=text,
        response_type="question" if asks else "observation",
        urgency=pending.urgency,
        path="llm" if asks else "fallback",
        priority=pending.priority,
        expires_at=turn.now + timedelta(seconds=ttl_s),
        ttl_s=ttl_s,
    )


def _late_delivery(
    turn: TurnContext, pending: Pending, end: Completed
) -> DeliveryAsked:
    """Return the ask to deliver a late answer, with the lifetime that it has left."""
    rival = pending.rival if end.path == "heuristic" else None
    return DeliveryAsked(
        decision_id=pending.decision_id,
        event_id=pending.event_id,
        channel=pending.channel,
        text=end.text,
        response_type=end.response_type,
        urgency=rival.urgency if rival else pending.urgency,
        path=end.path,
        action=end.action,
        priority=pending.priority,
        expires_at=pending.expires_at,
        ttl_s=left_s(pending.expires_at, turn.now),
    )
