"""Logged state: every decision is put together again as the mind met it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from handlers import deciding
from handlers.group import Group
from replay.logged import LoggedDecision, logged_state
from replay.sources import Recording, of_file
from schemas.context import DecisionContext, Odds, Strategy
from schemas.settings import StrategySpec
from tests.replay.lives import everything, recording_of
from tests.replay.recording import evening, verified

ALWAYS = StrategySpec(name="always_llm")


class Overheard:
    """A strategy that keeps what another is asked."""

    def __init__(self, strategy: Strategy, heard: dict[str, DecisionContext]) -> None:
        self._strategy = strategy
        self._heard = heard
        self.name = strategy.name
        self.version = strategy.version
        self.config = strategy.config

    def decide(self, context: DecisionContext) -> Odds:
        self._heard[context.event_id] = context
        return self._strategy.decide(context)


@contextmanager
def overhearing() -> Iterator[dict[str, DecisionContext]]:
    """Keep every context that the mind asks its strategy with, by event."""
    heard: dict[str, DecisionContext] = {}
    in_force = deciding.strategy_in_force

    def overheard(group: Group) -> Strategy:
        return Overheard(in_force(group), heard)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deciding, "strategy_in_force", overheard)
        yield heard


async def replayed(
    recording: Recording, *strategies: StrategySpec | None
) -> list[LoggedDecision]:
    return [each async for each in logged_state(recording, strategies)]


def check_contexts(
    found: list[LoggedDecision], heard: dict[str, DecisionContext]
) -> None:
    """Every context that was heard is there again, and no other."""
    asked = {each.event_id: each for each in found if each.context is not None}
    assert asked.keys() == heard.keys()
    for event_id, context in heard.items():
        assert asked[event_id].context == context


def check_own_odds(found: list[LoggedDecision]) -> None:
    """The agent's own strategy has the odds that were recorded."""
    for each in found:
        if each.context is None:
            assert not each.odds
            continue
        (odds,) = each.odds
        own = dict(odds.arms)
        assert odds.greedy == each.greedy_arm
        assert own == {arm: p for arm, p in each.logging.items() if p or arm in own}


async def test_everything_is_met_again_as_the_mind_met_it():
    """Over a life of everything each context is rebuilt exactly, field by field."""
    with overhearing() as heard:
        session = everything()
    found = await replayed(recording_of(session), None)

    assert len(heard) > 100
    check_contexts(found, heard)
    check_own_odds(found)


async def test_the_evening_is_met_again_as_the_mind_met_it():
    """Over the shipped recording each context is rebuilt exactly, field by field."""
    with overhearing() as heard:
        assert (await verified(evening())).is_identical
    found = await replayed(of_file(evening(), "evening"), None)

    assert len(heard) > 100
    check_contexts(found, heard)
    check_own_odds(found)
