"""The café: it passes from one moment to the next, and its one character does what it is told.

It is pure: time is given to it, chance is drawn by its seed, and the same commands at the
same times are the same café, to the byte.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from packs.golem.sensor import deeds, rooms, states
from packs.golem.sensor.deeds import Deed, Refused, Scene, Step
from packs.playing import Told
from schemas.messages.arms import Action
from schemas.messages.sensing import Sensed
from schemas.values.ids import draw
from schemas.values.reasons import ReportedOutcome

SOURCE = "cafe"
_BODY, _ORDERED = "body", "ordered"
_NOISE = 0.05
_ORDERS_H = 1.5
"""How often somebody tells the character to do something, an hour."""
_ORDERS = (
    Action(type="Greet"),
    Action(type="Nod"),
    Action(type="HeadShake"),
    Action(type="Point", target="menu_board"),
    Action(type="RunTo", target="counter"),
    Action(type="LookAt", target="claw_machine"),
)
_SILENT_S = 900.0
"""How long goes by without a report, at most: a session lapses after half an hour."""
_REMEMBERED = 64

End = tuple[ReportedOutcome, str]


@dataclass(slots=True)
class Task:
    """What the character is about."""

    id: str
    """The decision's, or the order's name."""
    is_order: bool
    deed: Deed
    began: float
    """When the present step began."""
    start: rooms.Point
    index: int = 0

    @property
    def step(self) -> Step:
        """The present step."""
        return self.deed.steps[self.index]

    @property
    def ends(self) -> float:
        """When the present step is over."""
        return self.began + self.step.seconds

    def where(self, at: float) -> rooms.Point:
        """Return where the character is."""
        to, seconds = self.step.to, self.step.seconds
        if to is None:
            return self.start
        share = min((at - self.began) / seconds, 1.0) if seconds else 1.0
        x, y = (a + (b - a) * share for a, b in zip(self.start, to, strict=True))
        return x, y


class World:
    """A café of a seed."""

    def __init__(
        self,
        seed: str,
        name: str,
        at: float,
        *,
        noise: float = _NOISE,
        orders_h: float = _ORDERS_H,
    ) -> None:
        """Begin at a second of the first day; `noise` is how likely a way is blocked."""
        self.at = at
        self.machine = states.Machine()
        self.task: Task | None = None
        self._seed, self._name = seed, name
        self._noise, self._orders_h = noise, orders_h
        self._cell = rooms.START
        self._begun = self._orders = 0
        self._order_at = self._next_order()
        self._obeyed: deque[str] = deque(maxlen=_REMEMBERED)
        self._told: list[Told] = []
        self._told_at = at
        self._report()

    @property
    def place(self) -> rooms.Point:
        """Where the character is."""
        return self.task.where(self.at) if self.task is not None else self._cell

    def next_at(self) -> float:
        """Return when something happens next."""
        times = [self._told_at + _SILENT_S, self._order_at]
        times += [self.task.ends] if self.task is not None else []
        return max(min(times), self.at)

    def advance(self) -> Sequence[Told]:
        """Go to the next moment, and return what is told then."""
        self.at = self.next_at()
        self._go_on()
        if self.at >= self._order_at:
            self._be_ordered()
        if self.at >= self._told_at + _SILENT_S:
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
        """Let the character begin what its mind decided; what it did before is overridden."""
        if not self._is_new(name, decision_id):
            return
        if self.task is not None and self.task.is_order:
            self._report(decision_id, ("overridden", "a command goes before"))
            return
        self._begin(decision_id, action, ("overridden", action.type))

    def late(self, name: str, decision_id: str) -> bool:
        """Report what came too late to be begun, and say so."""
        if self._is_new(name, decision_id):
            self._report(decision_id, ("cancelled", "expired before it could begin"))
        return True

    def say(self, name: str, words: str) -> None:
        """Hear words, which mean nothing to a café."""

    def order(self, action: Action) -> None:
        """Tell the character to do something; what it did by itself is cancelled."""
        id_ = f"order-{self._orders}"
        self._orders += 1
        self._stop(("cancelled", f"a command: {action.type}"))
        named = {"action": action.type, "target": action.target}
        text = f"Somebody tells {self._name} to {action.type}."
        self._tell(_ORDERED, text, {k: v for k, v in named.items() if v}, order=id_)
        self._begin(id_, action, None, is_order=True)

    def _is_new(self, name: str, decision_id: str) -> bool:
        """Tell whether a decision is heard for the first time: each is obeyed once."""
        if name != self._name or decision_id in self._obeyed:
            return False
        self._obeyed.append(decision_id)
        return True

    def _be_ordered(self) -> None:
        drawn = draw(self._seed, "order", str(self._orders), "which")
        self.order(_ORDERS[int(drawn * len(_ORDERS))])
        self._order_at = self._next_order()

    def _next_order(self) -> float:
        if self._orders_h <= 0:
            return float("inf")
        share = 0.5 + draw(self._seed, "order", str(self._orders), "when")
        return self.at + share * 3_600 / self._orders_h

    def _begin(
        self, id_: str, action: Action, instead: End | None, *, is_order: bool = False
    ) -> None:
        scene = Scene(self._seed, self._begun, self.place, self.machine, self._noise)
        self._begun += 1
        try:
            deed = deeds.deed_of(scene, action)
        except Refused as refusal:
            deed = deeds.refused(action, str(refusal))
        if not deed.steps:
            return
        if instead is not None:
            self._stop(instead)
        self.task = Task(id_, is_order, deed, self.at, self._cell)
        self._enter(self.task)
        self._go_on()

    def _go_on(self) -> None:
        """Go through all steps that are over."""
        while (task := self.task) is not None and self.at >= task.ends:
            self._cell = task.where(self.at)
            if task.step.fails is not None:
                self._fail(task.step.fails)
            elif task.index + 1 == len(task.deed.steps):
                self._stop(("succeeded", ""))
            else:
                task.index, task.began, task.start = task.index + 1, self.at, self._cell
                self._enter(task)

    def _enter(self, task: Task) -> None:
        """Go over to the state of a step, if the state at hand lets it."""
        step, before = task.step, self.machine.state
        why = None
        if step.thing is not None:
            why = rooms.hindrance(self._seed, step.thing, self.at)
        if (
            why is None
            and step.state is not None
            and not self.machine.request(step.state)
        ):
            why = f"Transition denied: {before} to {step.state}"
        if why is not None:
            self._fail(why)
        elif step.seconds and self.machine.state != before:
            self._report()

    def _fail(self, why: str) -> None:
        moves = self.machine.state not in states.STILL
        if moves:
            self.machine.request(states.IDLE)
        self._stop(("failed", why))

    def _stop(self, end: End) -> None:
        """End what the character does, and report what came of it."""
        task = self.task
        if task is None:
            return
        self._cell, self.task = task.where(self.at), None
        self._report(task.id, end, is_order=task.is_order)

    def _report(
        self, id_: str | None = None, end: End | None = None, *, is_order: bool = False
    ) -> None:
        """Report the body, and how something ended."""
        more: dict[str, Any] = {}
        fields = self._body()
        if end is not None:
            outcome, why = end
            more = {"outcome": outcome, "reason": why or None}
            more |= {} if is_order else {"in_reply_to": id_}
            fields |= {"error": why} if outcome == "failed" else {}
        text = f"{self._name} is {self.machine.state} in the {fields['room']}."
        self._tell(_BODY, text, fields, order=id_ if is_order else None, **more)
        self._told_at = self.at

    def _body(self) -> dict[str, Any]:
        x, y = self.place
        things = [{"name": each.name, "tag": each.tag} for each in rooms.near((x, y))]
        return {
            "fsm_state": self.machine.state,
            "position": [round(x, 1), 0.0, round(y, 1)],
            "nearby_objects": things,
            "room": rooms.room((x, y)),
        }

    def _tell(
        self,
        type_: str,
        text: str,
        fields: dict[str, Any],
        *,
        order: str | None,
        **more: Any,
    ) -> None:
        event = Sensed(source=SOURCE, type=type_, text=text, fields=fields, **more)
        self._told.append(Told(self._name, self.at, event, order))
