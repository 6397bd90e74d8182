"""Holding a character's proposal against the café's recorded day, which is folded again."""

from pathlib import Path

import pytest
from immutables import Map

from echoic.client.holdout import held_out
from echoic.config.load import load
from echoic.errors import EchoicError, NotFoundError
from schemas.messages.learning import CharacterChange, StoredRoutine
from schemas.state.agent import AgentState
from schemas.state.proposals import Proposal

CAFE = str(Path(__file__).parents[3] / "packs/golem/recording/cafe.echoic")
AT_THE_MENU = "idle + near_chair + near_counter + near_menu + walked_recently"


def proposing(change: CharacterChange | None) -> AgentState:
    """An agent with one proposal."""
    one = Proposal(
        id="review-1", changes=(), evidence="", figures=Map(), by="m", character=change
    )
    return AgentState(proposals=(one,))


def routine(action: str) -> CharacterChange:
    """A routine at the menu."""
    stored = StoredRoutine(action=action, uses=3, successes=3)
    return CharacterChange(kind="routine", name=AT_THE_MENU, after=stored)


async def test_a_recorded_day_speaks_for_what_worked_in_it() -> None:
    """Reading the menu did; what was never done there nobody can judge."""
    held = await held_out(load(), proposing(routine("ExamineMenu")), "review-1", [CAFE])
    assert held.judged.verdict == "holds"
    assert held.judged.actions >= 3
    assert held.recorded > 200
    never = await held_out(load(), proposing(routine("PlayClaw")), "review-1", [CAFE])
    assert never.judged.verdict == "unknown"


async def test_what_cannot_be_held_out_says_so() -> None:
    """No such proposal, or one about settings."""
    with pytest.raises(NotFoundError, match="no proposal 'review-2'"):
        await held_out(load(), proposing(None), "review-2", [CAFE])
    with pytest.raises(EchoicError, match="about no character"):
        await held_out(load(), proposing(None), "review-1", [CAFE])
