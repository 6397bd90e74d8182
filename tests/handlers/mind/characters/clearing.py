"""A place to test with, where one hears 15 tiles far."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from schemas.messages.asks import DeliveryAsked
from schemas.messages.conversations import Conversation, ConversationMoved
from schemas.messages.decisions import Decided
from schemas.messages.results import ClockTicked
from schemas.packs.compiled import CompiledPack
from tests import factories
from tests.scenario import Scenario, one, said


def place_pack(**rules: Any) -> CompiledPack:
    """A place where one hears 15 tiles far."""
    return factories.pack(
        name="forest", types=("said",), mind={"layers": ["place"], "place": rules}
    )


class Clearing:
    """A place in a test: who is where, and everything it tells, with its second."""

    def __init__(self, where: Mapping[str, Any], **rules: Any) -> None:
        """Put everybody somewhere: x, or (x, extraversion)."""
        self.scenario = Scenario(place_pack(**rules), agent="clearing")
        for agent, told in where.items():
            x, extraversion = told if isinstance(told, tuple) else (told, 0.5)
            self.move(agent, x, extraversion=extraversion)
        self.start = self.scenario.at
        self.heard: list[tuple[float, str, bool]] = []
        """When, who, and whether they were asked."""
        self.spoke: list[tuple[float, str, float]] = []
        """When, who, and for how long."""
        self.over: list[float] = []

    def talks(self) -> tuple[Conversation, ...]:
        """The conversations under way."""
        return self.scenario.mind.character.place.conversations

    def move(self, agent: str, x: float, **fields: Any) -> Any:
        """Tell where somebody is."""
        told = {"agent": agent, "x": x, "y": 0, **fields}
        return self._sense("It is there.", "position", told)

    def say(self, agent: str, text: str = "Hm.", **fields: Any) -> Any:
        """Let somebody say something."""
        return self._sense(text, "said", {"agent": agent, **fields})

    def leave(self, agent: str, type_: str = "left") -> Any:
        """Let somebody leave, or die."""
        return self._sense("It goes.", type_, {"agent": agent})

    def members(self) -> tuple[str, ...]:
        """Who takes part in the first conversation."""
        return self.talks()[0].members

    def until(self, second: float) -> None:
        """Let the place do what is due up to a second, each at its time."""
        while True:
            due = self.scenario.mind.character.due
            end = self.start + timedelta(seconds=second)
            if due is None or due > end:
                self.scenario.at = max(end, self.scenario.at)
                return
            self.scenario.at = max(due, self.scenario.at)
            self.note(self.scenario.tell(ClockTicked(due_at=due)))

    def asked(self) -> list[tuple[float, str]]:
        """Who was asked, and when."""
        return [(second, who) for second, who, is_asked in self.heard if is_asked]

    def why(self) -> str:
        """What the last decision came to."""
        (verdict,) = one(self.scenario.turns[-1], Decided).layers or ()
        return verdict.why

    def _sense(self, text: str, type_: str, fields: dict[str, Any]) -> Any:
        turn = self.scenario.sense(text, source="world", type_=type_, fields=fields)
        if hasattr(self, "over"):
            self.note(turn)
        return turn

    def note(self, turn: Any) -> None:
        """Note what a turn tells."""
        second = (self.scenario.at - self.start).total_seconds()
        for each in said(turn, DeliveryAsked):
            action = each.action
            assert action is not None
            assert action.target is not None
            if action.type == "speak":
                seconds = action.params["seconds"]
                self.spoke.append((second, action.target, seconds))
            elif action.type == "heard":
                is_asked = action.params["ask"] is True
                self.heard.append((second, action.target, is_asked))
        for moved in said(turn, ConversationMoved):
            if moved.after is None:
                self.over.append(second)
