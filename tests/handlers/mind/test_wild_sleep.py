"""Scenarios at random with sleep in them: whatever happens, each turn holds what must hold."""

import pytest

from schemas.messages.controls import (
    HeuristicSeeded,
    ProposalApplied,
    ProposalReverted,
    SleepRequested,
)
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.messages.sleep import SleepBegun, SleepEnded
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.handlers.mind.wild import Wild


class Sleepy(Wild):
    """A scenario that is slept through, and whose proposals are taken up at random."""

    def __init__(self, seed: int) -> None:
        """Lead the scenario of this seed, with a memory for sleep."""
        super().__init__(seed)
        choice = self.random.choice
        sleep = {
            "events": choice([1, 4, 16]),
            "auto": choice([True, False]),
            "idle_s": choice([60.0, 1_800.0]),
            "apply": choice(["safe", "by_hand"]),
        }
        settings = self.scenario.settings.model_dump()
        started = factories.mind_started(**{**settings, "sleep": sleep})
        self.scenario.control(started, agent=SHARED_AGENT)

    def _answer(self) -> None:
        sleeping = self.scenario.mind.sleeping
        if sleeping is None or self.random.random() < 0.5:
            super()._answer()
            return
        rule = self._rule() if sleeping.for_rule else self._text()
        answer = ModelAnswered(
            ask_id=sleeping.ask_id, request_hash="r", model="m", text=rule
        )
        self.scenario.tell(self.random.choice([answer, self._failure(sleeping.ask_id)]))

    def _failure(self, ask_id: str) -> ModelAnswered | ModelFailed:
        if self.random.random() < 0.8:
            text = '{"response": ""}'
            return ModelAnswered(ask_id=ask_id, request_hash="r", model="m", text=text)
        return ModelFailed(ask_id=ask_id, request_hash="r", reason="declined")

    def _twin(self) -> None:
        """Teach one of two that say the same."""
        name = self.random.choice(["t", "u"])
        twin = HeuristicSeeded(
            heuristic_id=name,
            name=name,
            domain="garden",
            condition="the twins are here",
            text="Greet both.",
        )
        self.scenario.control(twin)

    def _change(self) -> None:
        choice, proposals = self.random.choice, self.scenario.mind.proposals
        if self.random.random() < 0.5:
            self.random.choice([super()._change, self._twin])()
        elif proposals and self.random.random() < 0.6:
            id_ = choice(proposals).id
            self.scenario.control(ProposalApplied(proposal_id=id_))
            if choice([True, False]):
                self.scenario.control(ProposalReverted(proposal_id=id_))
        else:
            by_hand = SleepRequested(limit=choice([0, 1, 8]))
            safe = SleepRequested(limit=choice([0, 1, 8]), apply="safe")
            self.scenario.control(choice([by_hand, safe]))


@pytest.mark.parametrize("seed", range(12))
def test_every_sleep_ends_or_goes_on(seed: int) -> None:
    """One at a time for each agent, and with no timer once it is over."""
    scenario = Sleepy(seed).lead(60)

    for agent in ("ana", "bo"):
        mind = scenario.state.agents.get(agent)
        begun, ended = (
            sum(
                isinstance(each.message, kind)
                for turn in scenario.turns
                for each in turn.outputs
                if each.agent == agent
            )
            for kind in (SleepBegun, SleepEnded)
        )
        is_asleep = mind is not None and mind.sleeping is not None
        assert begun - ended == is_asleep
        purposes = [each.purpose for each in mind.timers] if mind else []
        assert purposes.count("reflection") == is_asleep
        assert purposes.count("sleep") <= 1


def test_such_scenarios_do_sleep() -> None:
    """What the others hold is held of something."""
    outputs = [each for seed in range(12) for each in Sleepy(seed).lead(60).outputs()]

    names = {type(each).__name__ for each in outputs}
    assert {"SleepBegun", "Reflected", "ProposalMade", "SleepEnded"} <= names
