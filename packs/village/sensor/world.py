"""The village: it passes from one moment to the next, and obeys what its villagers decide.

It is pure: time is given to it, chance is drawn by its seed, and the same commands at the
same times are the same village, to the byte.
"""

from collections.abc import Mapping, Sequence

from packs.playing import Told
from packs.village.sensor import deeds, errands, telling, wolf
from packs.village.sensor.deeds import HEARING, Refused, Scene
from packs.village.sensor.land import SQUARE, Cell, distance, made
from packs.village.sensor.villager import (
    ASLEEP,
    AWAKE,
    HOMELESS,
    STARVING,
    Deed,
    Task,
    Villager,
    born,
)
from schemas.messages.arms import Action
from schemas.values.ids import draw
from schemas.values.reasons import ReportedOutcome

_LOOKS_S = 30.0
"""How often all are looked at, though nothing is due: weather and hour change by themselves."""
_REFUSES_S = 5.0
"""How long somebody stands there with what cannot be done, before it is reported: a mind
that tries again at once then does so a few times a minute."""
_TALKED = 0.02
"""Company, for each time that somebody speaks or hears."""


class World:
    """A village of a seed."""

    def __init__(self, seed: str, names: Sequence[str], at: float) -> None:
        """Begin at a second of the first day."""
        land = made(seed, [each for each in names if each not in HOMELESS])
        self.at = at
        self._scene = Scene(seed, land, {})
        for name in names:
            bed = land.home_of(name)
            x, y = (round(draw(seed, name, side, "born") * 10) - 5 for side in "xy")
            start = bed or (SQUARE[0] + x, SQUARE[1] + y)
            self._scene.people[name] = born(seed, name, at, bed, start)
        self._wolf_at = wolf.comes_at(seed, int(at // 86_400))
        self._placed: dict[str, Cell | None] = {}
        """Where the place knows somebody to be; None: not there."""
        self._told: list[Told] = []
        self._looks_at = at
        self._look()

    @property
    def scene(self) -> Scene:
        """Everything that is there."""
        return self._scene

    def next_at(self) -> float:
        """Return when something happens next."""
        times = [self._looks_at, self._wolf_at]
        if self._scene.wolf is not None:
            times.append(self.at + 1)
        times += [
            telling.latest(each)
            for each in self._scene.people.values()
            if each.died is None
        ]
        times += [
            each.task.next_at(self.at)
            for each in self._scene.people.values()
            if each.task is not None
        ]
        return max(min(times), self.at)

    def advance(self) -> Sequence[Told]:
        """Go to the next moment, and return what is told then."""
        self.at = self.next_at()
        if self.at >= self._looks_at:
            self._looks_at = self.at + _LOOKS_S
        for one in self._scene.people.values():
            self._work(one)
        self._prowl()
        self._look()
        return self.told()

    def told(self) -> Sequence[Told]:
        """Return what was told since the last call."""
        told, self._told = self._told, []
        return told

    def pass_to(self, at: float) -> None:
        """Let time pass within which nothing happens."""
        self.at = min(max(at, self.at), self.next_at())

    def obey(self, name: str, decision_id: str, action: Action) -> None:
        """Let a villager begin what its mind decided; what it did before is overridden."""
        one = self._scene.people.get(name)
        if one is None or decision_id in one.obeyed:
            return
        one.obeyed.append(decision_id)
        if one.died is not None:
            self._report(one, decision_id, ("failed", f"{name} is dead"))
        elif action.type in ("talk", "leave_conversation"):
            self._talk_to(one, decision_id, action)
        else:
            self._begin(one, decision_id, action)
        self._look()

    def late(self, name: str, decision_id: str) -> bool:
        """Obey all the same what is stale: at a fast pace each mind is behind its world."""
        return False

    def say(self, name: str, words: str) -> None:
        """Let a villager say something; its place has told those who hear it."""
        one = self._scene.people.get(name)
        if one is None or one.died is not None or one.is_asleep:
            return
        for other in self._scene.awake_near(one, self.at, HEARING):
            self._hear(other, f"{name.capitalize()}: {words}")
        self._hear(one, one.heard)
        self._look()

    def _hear(self, one: Villager, words: str) -> None:
        one.talked_at, one.heard = self.at, words[:500]
        one.needs["company"].change(self.at, by=_TALKED)

    def _talk_to(self, one: Villager, decision_id: str, action: Action) -> None:
        try:
            if action.type == "talk":
                deeds.answers(self._scene, one, action, self.at)
        except Refused as refused:
            self._report(one, decision_id, ("failed", str(refused)))
        else:
            self._report(one, decision_id, ("succeeded", ""))

    def _begin(self, one: Villager, decision_id: str, action: Action) -> None:
        self._stop(one, ("overridden", action.type))
        try:
            deed = errands.deed_of(self._scene, one, action, self.at)
        except Refused as refused:
            deed = _refusal(one, str(refused), self.at)
        one.task = Task(decision_id, action, deed, one.where(self.at), self.at)

    def _stop(self, one: Villager, end: tuple[ReportedOutcome, str]) -> None:
        """End what somebody does, and report what came of it."""
        task = one.task
        if task is not None:
            one.cell, one.task = task.where(self.at), None
            self._settle(one)
            self._report(one, task.decision_id, end)

    def _work(self, one: Villager) -> None:
        """Let somebody who has arrived begin to work, and who has worked enough end it."""
        task = one.task
        if task is None:
            return
        if task.ends is None and self.at >= task.arrives:
            try:
                task.ends = self.at + task.deed.begin(self.at)
            except Refused as refused:
                self._stop(one, ("failed", str(refused)))
        elif task.ends is not None and self.at >= task.ends:
            self._stop(one, task.deed.finish(self.at))

    def _prowl(self) -> None:
        """Let the wolf come, hunt and go."""
        scene = self._scene
        if self.at >= self._wolf_at:
            scene.wolf = wolf.arriving(scene.seed, self.at)
            self._wolf_at = wolf.comes_at(scene.seed, int(self.at // 86_400) + 1)
        if scene.wolf is None:
            return
        prey = [
            each
            for each in scene.people.values()
            if each.died is None and not telling.is_sheltered(scene, each, self.at)
        ]
        here = scene.wolf.cell
        near = min(
            prey, key=lambda one: distance(one.where(self.at), here), default=None
        )
        if near is None or self.at >= scene.wolf.leaves:
            scene.wolf = None
            return
        scene.wolf.step(near.where(self.at))
        if distance(scene.wolf.cell, near.where(self.at)) <= 1:
            near.needs["health"].change(self.at, by=-wolf.BITE)
            scene.wolf = None
            if near.is_asleep:
                self._stop(near, ("failed", "woken by a wolf"))

    def _look(self) -> None:
        """Settle how needs change now, and report each body that has to be."""
        for one in self._scene.people.values():
            if one.died is None:
                self._settle(one)
                self._die(one)
            if one.died is not None and one.told and not one.told["alive"]:
                continue
            now = telling.body(self._scene, one, self.at)
            if telling.is_due(one, now, self.at):
                self._report(one, None, None)
        for one in self._scene.people.values():
            self._place(one)

    def _place(self, one: Villager) -> None:
        """Tell the place where somebody is who can hear, if that has changed."""
        hears = one.died is None and not one.is_asleep
        cell = one.where(self.at) if hears else None
        if self._placed.get(one.name) == cell:
            return
        self._placed[one.name] = cell
        self._told.append(Told(telling.PLACE, self.at, telling.whereabouts(one, cell)))

    def _settle(self, one: Villager) -> None:
        """Let needs change as they do now."""
        task = one.task
        working = task.deed.rates if task is not None and task.ends is not None else {}
        rates = {**AWAKE, **(ASLEEP if one.is_asleep else {}), **working}
        suffers = not (one.level("hunger", self.at) and one.level("thirst", self.at))
        feels = telling.felt(self._scene, one, self.at)
        if suffers or not 0 < feels < 40:
            rates["health"] = STARVING
        for name, need in one.needs.items():
            if need.rate != rates[name]:
                need.change(self.at, rate=rates[name])

    def _die(self, one: Villager) -> None:
        if one.level("health", self.at) <= 0:
            fed = one.level("hunger", self.at) and one.level("thirst", self.at)
            one.died = "of wounds or cold" if fed else "of hunger or thirst"
            self._stop(one, ("failed", "died"))

    def _report(
        self,
        one: Villager,
        decision_id: str | None,
        end: tuple[ReportedOutcome, str] | None,
    ) -> None:
        now = self._fields(one)
        text, more = telling.stands(one, now), {}
        if end is not None:
            outcome, why = end
            more = {
                "in_reply_to": decision_id,
                "outcome": outcome,
                "reason": why or None,
            }
        event = telling.report(one, now, text, **more)
        if one.amount is not None:
            event.fields["amount"], one.amount = one.amount, None
        one.told, one.told_at = now, self.at
        self._told.append(Told(one.name, self.at, event))

    def _fields(self, one: Villager) -> Mapping[str, object]:
        return telling.body(self._scene, one, self.at)


def _refusal(one: Villager, why: str, at: float) -> Deed:
    """Return the deed of somebody who stands there with what cannot be done."""
    return Deed(one.where(at), lambda _: _REFUSES_S, lambda _: ("failed", why))
