"""Crafter as a body of the golem: each of its actions is a goal that takes many steps.

It is the game of `packs/survival`, a second a step; between goals the player stands still.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

from packs.playing import Told
from packs.survival.sensor import goals
from packs.survival.sensor.ends import End, Goal
from packs.survival.sensor.world import VIEW, Observation
from packs.survival.sensor.world import World as Game
from schemas.messages.arms import Action
from schemas.messages.sensing import Sensed

_SOURCE = "survivor"

MACROS: dict[str, tuple[str, str, int]] = {
    "CollectWood": ("gather", "wood", 3),
    "CollectStone": ("gather", "stone", 1),
    "CollectSapling": ("gather", "sapling", 1),
    "PlacePlant": ("place", "plant", 1),
    "PlaceTable": ("place", "table", 1),
    "MakePickaxe": ("make", "wood_pickaxe", 1),
    "MakeSword": ("make", "wood_sword", 1),
    "Drink": ("seek", "water", 1),
    "Eat": ("hunt", "cow", 1),
    "Sleep": ("rest", "sleep", 1),
    "FightZombie": ("fight", "zombie", 1),
    "Retreat": ("retreat", "zombie", 1),
}
"""The goal of each action: its kind, what it is about, and how many."""

_TOLD_S = 60.0
"""How long goes by without a report, at most."""
_LEAST = 3
"""From here down a vital is low, which is told at once."""
_NEAR = ("tree", "stone", "water", "table", "coal", "iron")
_REMEMBERED = 64


class World:
    """A game of a seed, with one player."""

    def __init__(self, seed: int, name: str, at: float) -> None:
        """Begin a life at a second of the first day."""
        self.at = at
        self.game = Game(seed)
        self.see: Observation = self.game.observe()
        self._name = name
        self._goal: tuple[str, Goal] | None = None
        self._next = "noop"
        self._obeyed: deque[str] = deque(maxlen=_REMEMBERED)
        self._told: list[Told] = []
        self._told_at = at
        self._report()

    def next_at(self) -> float:
        """Return the next second."""
        return self.at if self._told else float(int(self.at) + 1)

    def advance(self) -> Sequence[Told]:
        """Let a second pass, with the step that the goal asks for."""
        self.at, before = self.next_at(), self.see
        self.game.step(self._next)
        self.see, self._next = self.game.observe(), "noop"
        if not self.see.alive:
            self._end(End("failed", "the player died"))
            self.game.begin_life()
            self.see = self.game.observe()
            self._report()
        elif self._goal is not None:
            self._go_on(self._goal[1])
        if self._is_due(before):
            self._report()
        return self.told()

    def told(self) -> Sequence[Told]:
        """Return what was told since the last call."""
        told, self._told = self._told, []
        return told

    def pass_to(self, at: float) -> None:
        """Let time pass within which nothing happens."""
        self.at = min(max(at, self.at), self.next_at())

    def obey(self, name: str, decision_id: str, action: Action) -> None:
        """Let the player begin what its mind decided; what it did before is overridden."""
        if name != self._name or decision_id in self._obeyed:
            return
        self._obeyed.append(decision_id)
        self._end(End("overridden", action.type))
        macro = MACROS.get(action.type)
        goal = goals.begin(self.see, *macro) if macro is not None else None
        if goal is None:
            why = f"no action is called {action.type}"
            self._report(decision_id, End("failed", why))
            return
        self._goal = decision_id, goal
        try:
            self._next = next(goal)
        except StopIteration as stop:
            self._end(stop.value)

    def late(self, name: str, decision_id: str) -> bool:
        """Report what came too late to be begun, and say so."""
        if name == self._name and decision_id not in self._obeyed:
            self._obeyed.append(decision_id)
            self._report(decision_id, End("cancelled", "expired before it could begin"))
        return True

    def say(self, name: str, words: str) -> None:
        """Hear words, which mean nothing to the game."""

    def _go_on(self, goal: Goal) -> None:
        try:
            self._next = goal.send(self.see)
        except StopIteration as stop:
            self._end(stop.value)

    def _end(self, end: End) -> None:
        """End what the player is after, and report what came of it."""
        if self._goal is not None:
            decision_id, _ = self._goal
            self._goal, self._next = None, "noop"
            self._report(decision_id, end)

    def _is_due(self, before: Observation) -> bool:
        if self.at - self._told_at >= _TOLD_S or self.see.sleeping != before.sleeping:
            return True
        fell = [name for name in self.see.vitals if self.see.vitals[name] <= _LEAST]
        return any(self.see.vitals[name] < before.vitals[name] for name in fell)

    def _report(self, decision_id: str | None = None, end: End | None = None) -> None:
        fields: dict[str, Any] = {
            "fsm_state": "Asleep" if self.see.sleeping else "Awake",
            "position": [float(each) for each in self.see.cell],
            "nearby_objects": self._near(),
            **self.see.vitals,
            "inventory": {k: n for k, n in sorted(self.see.inventory.items()) if n},
            "life": self.see.life,
        }
        more: dict[str, Any] = {}
        if end is not None:
            more = {
                "in_reply_to": decision_id,
                "outcome": end.outcome,
                "reason": end.reason,
            }
            fields |= {"error": end.reason} if end.outcome == "failed" else {}
        text = f"{self._name} is at {self.see.cell[0]}, {self.see.cell[1]}."
        event = Sensed(source=_SOURCE, type="body", text=text, fields=fields, **more)
        self._told.append(Told(self._name, self.at, event))
        self._told_at = self.at

    def _near(self) -> list[dict[str, str]]:
        """Return what is in view, each kind once, creatures first."""
        x, y = self.see.cell
        beings = sorted({each.kind for each in self.see.creatures})
        ground = [
            kind
            for kind in _NEAR
            if any(
                abs(cell[0] - x) <= VIEW[0] and abs(cell[1] - y) <= VIEW[1]
                for cell in self.see.chart.find(kind)
            )
        ]
        return [{"name": kind, "tag": kind} for kind in (*beings, *ground)]
