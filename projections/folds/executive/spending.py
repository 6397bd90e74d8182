"""Fold what asking models takes: calls of the last minute, tokens and cost of the day."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from projections.folds.fold_context import FoldContext
from schemas.codec.catalogue import OutputMessage
from schemas.messages.asks import ModelAsked, RecallAsked
from schemas.messages.notes import Handled
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.state.agent import AgentState
from schemas.state.executive import Spent
from schemas.values import timezones
from schemas.values.exact_math import round6, total
from schemas.values.executive_settings import ExecutiveSettings

_MINUTE = timedelta(seconds=60)


def noticed(
    state: AgentState, context: FoldContext, message: OutputMessage
) -> AgentState:
    """Return the state after an ask of a model, or its answer; without a budget, as it is."""
    settings = context.settings.executive
    assert settings is not None
    spent = state.executive.spent
    match message:
        # What waits for the memory first is counted then, and not again.
        case RecallAsked() | ModelAsked(recall_id=None) if settings.budget_calls:
            calls = (*recent(spent, context.now), context.now)
            spent = replace(spent, calls=calls[-settings.budget_calls :])
        case Handled(reason="recorded") if _has_day(settings):
            answered = context.input.message
            # What a model that fails alone has cost, nobody knows.
            if isinstance(answered, ModelAnswered) or (
                isinstance(answered, ModelFailed) and answered.attempts
            ):
                spent = _answered(of_today(spent, settings, context.now), answered)
        case _:
            return state
    return replace(state, executive=replace(state.executive, spent=spent))


def _has_day(settings: ExecutiveSettings) -> bool:
    """Tell whether there is a budget by the day."""
    return bool(settings.budget_tokens or settings.budget_cost)


def recent(spent: Spent, now: datetime) -> tuple[datetime, ...]:
    """Return when models were asked within the last minute."""
    return tuple(each for each in spent.calls if now - _MINUTE < each <= now)


def of_today(spent: Spent, settings: ExecutiveSettings, now: datetime) -> Spent:
    """Return what was spent on the day that it is in the settings' time zone."""
    today = f"{timezones.local(now, settings.timezone):%Y-%m-%d}"
    if spent.day == today:
        return spent
    return replace(spent, day=today, tokens=0, estimated=0, cost=0.0)


def _answered(spent: Spent, reply: ModelAnswered | ModelFailed) -> Spent:
    tried = reply.attempts or ()
    tokens, guessed = sum(int(each.tokens) for each in tried), 0
    if isinstance(reply, ModelAnswered):
        tokens += reply.tokens
        guessed = reply.estimated_tokens or 0
        cost = reply.cost_usd or 0.0
    else:
        cost = total(each.cost_usd or 0.0 for each in tried)
    # Whatever a provider reports, a budget is never filled up by it.
    return replace(
        spent,
        tokens=spent.tokens + max(tokens, 0),
        estimated=spent.estimated + max(guessed, 0),
        cost=round6(spent.cost + max(cost, 0.0)),
    )
