"""The grammar of an evening: scenes that follow each other, and two matters that go on.

An evening is an hour. Its scenes are drawn one after the other, each with its own chances;
nothing in it knows what a mind does. Three kinds of trouble (`HELD_OUT`) occur only in
evenings that nobody tunes on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from bench.evening import matters, phrases
from bench.evening.matters import Happening, Step, Truth, Wish
from packs.home.sensor import events as home

HOUR_S = 3600.0
_SETTLED_S = 3300.0
"""No scene begins after this, so that each comes to its end."""

ModelMode = Literal["well", "slow", "failing", "hanging", "garbled", "absent"]

HELD_OUT = ("stuck", "flapping", "blackout")
"""A sensor that says of somebody who types and never takes it back; one that tells the same
again and again; all that was cut off comes at once, with a danger among it."""


@dataclass(frozen=True, slots=True)
class Evening:
    """What happens in an hour."""

    seed: int
    people: tuple[str, ...]
    steps: tuple[Step, ...]
    model: tuple[tuple[float, ModelMode], ...]
    """From when on the model is how."""

    def model_at(self, second: float) -> ModelMode:
        """Return how the model is at a second."""
        return [mode for since, mode in self.model if since <= second][-1]


def drawn(seed: int, people: int, *, unseen: bool) -> Evening:
    """Draw the evening of a seed, with one person or two."""
    return _Drawing(seed, ("ada", "ben")[:people], unseen).evening()


class _Drawing:
    """An evening as it is drawn: scenes move `now` on."""

    def __init__(self, seed: int, people: tuple[str, ...], unseen: bool) -> None:
        self.rng = Random(f"evening-{seed}-{len(people)}")
        self._seed, self.people, self._unseen = seed, people, unseen
        self.now = 0.0
        self._steps: list[Step] = []
        self._suppressed: set[str] = set()
        self._watched: set[str] = set()
        self._away = ""
        self._free_until: dict[str, float] = {}
        """When something that was told is forgotten, so that it may happen anew."""

    def evening(self) -> Evening:
        """Draw it."""
        for person in self.people:
            self._add((_HOME, home.presence(person, "kitchen"), _person(home=True)))
        self.now = 30.0
        scenes = {**_SCENES, **(_TROUBLES if self._unseen else {})}
        for track in self.rng.sample(matters.LASTING, k=self.rng.choice((1, 2))):
            self._track(track)
        while self.now < _SETTLED_S:
            scene = self.rng.choices(
                [each for each, _ in scenes.values()],
                [weight for _, weight in scenes.values()],
            )[0]
            scene(self)
            self.wait(30, 150)
        steps = sorted(self._steps, key=lambda each: each.at)
        return Evening(
            self._seed,
            self.people,
            tuple(each for each in steps if each.at < HOUR_S),
            self._models(),
        )

    def wait(self, least: float, most: float) -> None:
        """Let some time pass."""
        self.now += self.rng.uniform(least, most)

    # ---- scenes

    def chat(self) -> None:
        """Somebody says some things, and asks others."""
        person = self._somebody()
        for _ in range(self.rng.randint(1, 3)):
            kind = self.rng.choice(("question", "question", "chat"))
            self._say(person, kind, Truth(question="any" if kind == "question" else ""))
            self.wait(8, 40)

    def burst(self) -> None:
        """Three to six things at once, and nobody is busy."""
        kinds: list[str] = []
        if self.rng.random() < 0.5:
            room = self.rng.choice(matters.BY_ROOM)
            kinds = [room] * self.rng.randint(2, 4)
        while len(kinds) < self.rng.randint(3, 6):
            kinds.append(self.rng.choice(matters.USEFUL))
        self._several(kinds, within_s=5.0)

    def news(self) -> None:
        """One thing worth a word, and something that is not."""
        self._several([self.rng.choice(matters.USEFUL)], within_s=1.0)
        self.wait(5, 60)
        self._chatter()

    def bad_moment(self) -> None:
        """A danger, or a ring, just as something is said."""
        person = self._somebody()
        if self.rng.random() < 0.6:
            self._say(person, "question", Truth(question="any"))
        else:
            self._several([self.rng.choice(matters.USEFUL)], within_s=1.0)
        self.wait(0.1, 4)
        self._alert()

    def call(self) -> None:
        """Somebody is in a call, in which things happen."""
        person = self._somebody()
        self._busy(person, "call", True)
        self.wait(10, 60)
        for _ in range(self.rng.randint(1, 4)):
            self._during_call()
            self.wait(5, 60)
        self._busy(person, "call", False)
        self._add((_HOME, home.pause(person, "call_ended"), Truth()))
        if self.rng.random() < 0.3:
            self.wait(5, 30)
            self._say(person, "missed", Truth(question="missed"))

    def typing(self) -> None:
        """Somebody types for a while."""
        person = self._somebody()
        self._busy(person, "typing", True)
        self.wait(3, 30)
        self._during_call()
        self.wait(5, 40)
        self._busy(person, "typing", False)

    def quiet(self) -> None:
        """Somebody wants quiet, and things go on happening."""
        minutes = self.rng.choice((5, 10, 15))
        person, until = self._somebody(), round(self.now, 3) + 60 * minutes
        wish = Wish("quiet", until)
        self._say(person, "quiet", Truth(wish=wish), span=self._span(minutes))
        for _ in range(self.rng.randint(2, 4)):
            self.wait(15, 70)
            self._during_call()
        self.now = max(self.now, until)
        self.wait(20, 60)
        if self.rng.random() < 0.5:
            self._say(person, "missed", Truth(question="missed"))

    def mute(self) -> None:
        """Somebody wants no word at all, and takes it back or not."""
        person = self._somebody()
        minutes = self.rng.choice((None, 5, 10))
        if minutes is None:
            self._say(person, "mute, open", Truth(wish=Wish("mute")))
        else:
            wish = Wish("mute", round(self.now, 3) + 60 * minutes)
            self._say(person, "mute", Truth(wish=wish), span=self._span(minutes))
        ends = self.now + 60 * (minutes or 5)
        for _ in range(self.rng.randint(1, 3)):
            self.wait(10, 60)
            self._during_call()
        if minutes is not None and self.rng.random() < 0.7:
            self.now = max(self.now, ends)
        else:
            self.wait(5, 30)
            self._say(person, "unmute", Truth(wish=Wish("unmute")))
        self.wait(30, 90)

    def suppress(self) -> None:
        """Somebody wants to hear no more of something, which goes on."""
        free = [each for each in matters.SUPPRESSIBLE if each not in self._suppressed]
        if not free:
            return
        kind = self.rng.choice(free)
        self._suppressed.add(kind)
        topic = self._made(kind)[2].topic
        wish = Wish("suppress", topic=topic)
        self._say(self._somebody(), "suppress", Truth(wish=wish), topic=topic)
        for _ in range(self.rng.randint(1, 2)):
            self.wait(30, 120)
            self._add(self._made(kind))
        self.wait(10, 60)
        self._several([self.rng.choice(matters.PATIENT)], within_s=1.0)

    def watch(self) -> None:
        """Somebody wants to know when something comes; it comes."""
        free = [each for each in matters.WATCHED if each not in self._watched]
        if not free:
            return
        topic = self.rng.choice(free)
        self._watched.add(topic)
        *_, word = matters.WATCHED[topic]
        if self.rng.random() < 0.4:
            self._add(matters.watched(topic))
            self.wait(60, 120)
        wish = Wish("watch", topic=topic, words=(word,))
        self._say(self._somebody(), "watch", Truth(wish=wish), topic=topic,
            clause=matters.CLAUSES[topic])  # fmt: skip
        self.wait(40, 200)
        self._add(matters.watched(topic))

    def reminder(self) -> None:
        """Somebody wants to be reminded, or sets a timer."""
        n = self.rng.randint(2, 9)
        person, due = self._somebody(), round(self.now, 3) + 60 * n
        if self.rng.random() < 0.4:
            wish = Wish("remind", words=("timer",), due=due)
            self._say(person, "timer", Truth(wish=wish), n=str(n))
        else:
            task = self.rng.choice(phrases.TASKS)
            wish = Wish("remind", words=(task,), due=due)
            self._say(person, "remind", Truth(wish=wish), n=str(n), task=task)
        # It may come due in whatever comes next.
        self.wait(10, 60 * n)

    def change(self) -> None:
        """Somebody wants it to speak in another way."""
        self._say(self._somebody(), "change", Truth(wish=Wish("change")))

    def leave(self) -> None:
        """Somebody goes out, and comes back."""
        person = self._somebody()
        last = len(self.people) == 1
        self._add((_HOME, home.goes(person, 0, last=last), Truth("mild", "going")))
        self.wait(2, 10)
        self._add((_HOME, home.presence(person, "out"), _person(home=False, busy="")))
        self._away = person
        for _ in range(self.rng.randint(1, 3)):
            self.wait(20, 120)
            # Who is out can do nothing about an oven that is hot.
            self._several([self.rng.choice(matters.PATIENT)], within_s=1.0)
        if self.rng.random() < 0.3:
            self._alert()
        self.wait(60, 200)
        self._away = ""
        self._add((_HOME, home.presence(person, "hall"), _person(home=True)))
        self._add((_HOME, home.came(person, guest=False), Truth("mild", "coming")))

    # ---- trouble that is held out

    def stuck(self) -> None:
        """The sensor says that somebody types, and nothing when that is over."""
        person = self._somebody()
        self._busy(person, "typing", True)
        self.wait(20, 40)
        # What is true and is not told.
        silent = home.reading(20.0, 8.0)
        self._add((_HOME, silent, _person(busy="", of=person)))
        self._several([self.rng.choice(matters.PATIENT)], within_s=1.0)
        self.wait(200, 400)
        self._busy(person, "typing", False)

    def flapping(self) -> None:
        """A sensor tells the same again and again."""
        happening = self._made(self.rng.choice(matters.PATIENT))
        for _ in range(self.rng.randint(4, 7)):
            self._add(happening)
            self.wait(3, 15)

    def blackout(self) -> None:
        """All that was cut off comes at once."""
        self._several(list(matters.USEFUL), within_s=2.0)
        self._alert()
        self._several(["window", "lamp"], within_s=1.0)

    # ---- parts of scenes

    def _during_call(self) -> None:
        draw = self.rng.random()
        if draw < 0.25:
            self._alert()
        elif draw < 0.75:
            self._several([self.rng.choice(matters.USEFUL)], within_s=1.0)
        else:
            self._chatter()

    def _chatter(self) -> None:
        if self.rng.random() < 0.3:
            self._add(matters.mild(self.rng.choice(("weather", "rain"))))
        else:
            person = self._somebody()
            self._add(matters.needless(self.rng.randrange(4), person))

    def _several(self, kinds: Sequence[str], within_s: float) -> None:
        for kind in kinds:
            happening = self._made(kind)
            # Twice the same would be no news.
            if self._is_news(happening[2]):
                self._add(happening)
                self.now += self.rng.uniform(0.05, within_s / len(kinds))

    def _alert(self) -> None:
        kind = self.rng.choice(matters.ALERTS)
        happening = matters.alert(kind, self.rng.choice(matters.ROOMS))
        if not self._is_news(happening[2]):
            return
        self._add(happening)
        over = matters.ended(kind, self.people[0])
        if over is not None:
            self._later(over, self.rng.uniform(200, 500))

    def _track(self, kind: str) -> None:
        """Something goes on beside all scenes, ends, and maybe comes back."""
        at = self.rng.uniform(60, 900)
        for _ in range(self.rng.choice((1, 2))):
            begun, lasts = at, self.rng.uniform(400, 1800)
            ends = begun + lasts
            for number in range(int(lasts // 300) + 1):
                at = begun + 300 * number
                report, _ = matters.lasting(kind, 10 + 5 * number, self.people[0])
                self._steps.append(_step(at, report))
            _, over = matters.lasting(kind, 0, self.people[0])
            self._steps.append(_step(ends, over))
            at = ends + self.rng.uniform(600, 1200)

    def _made(self, kind: str) -> Happening:
        if kind == "weather":
            return matters.mild(kind)
        return matters.useful(kind, self.rng.choice(matters.ROOMS))

    def _is_news(self, truth: Truth) -> bool:
        if self._free_until.get(truth.matter, -1.0) > self.now:
            return False
        lasts = truth.lasts_s if truth.worth == "urgent" else None
        self._free_until[truth.matter] = self.now + (lasts or 1500)
        return True

    def _busy(self, person: str, activity: str, on: bool) -> None:
        what = "is in a call" if activity == "call" else "is typing"
        told = {"typing": on} if activity == "typing" else {
            "busy": on, "activity": activity if on else "none"}  # fmt: skip
        event = home.state(person, what if on else "is free", **told)
        self._add((_HOME, event, _person(busy=activity if on else "")))
        if activity == "typing" and not on and self.rng.random() < 0.5:
            self._add((_HOME, home.pause(person, "typing_paused"), Truth()))

    def _say(self, person: str, kind: str, truth: Truth, **slots: str) -> None:
        """Let somebody say something; it takes them a second."""
        # Who is out says nothing, nor who is in a call.
        chosen = self.rng.choice(phrases.of(kind, all_=self._unseen))
        self._add(matters.words(person, chosen.format(**slots), truth))
        self.now += 1.0

    def _span(self, minutes: int) -> str:
        words = {5: "five minutes", 10: "ten minutes", 15: "a quarter of an hour"}
        return self.rng.choice((f"{minutes} minutes", words[minutes]))

    def _somebody(self) -> str:
        return self.rng.choice([each for each in self.people if each != self._away])

    def _models(self) -> tuple[tuple[float, ModelMode], ...]:
        if self.rng.random() < 0.2:
            return ((0.0, "absent"),)
        modes: list[ModelMode] = ["well", "slow", "failing", "hanging", "garbled"]
        drawn = self.rng.choices(modes, (5, 1.5, 1, 1, 0.5), k=4)
        return tuple(zip((0.0, 1000.0, 2000.0, 3000.0), drawn, strict=True))

    def _add(self, happening: Happening) -> None:
        self._steps.append(_step(self.now, happening))

    def _later(self, happening: Happening, after_s: float) -> None:
        self._steps.append(_step(self.now + after_s, happening))


_HOME = "home"


def _step(at: float, happening: Happening) -> Step:
    source, event, truth = happening
    return Step(round(at, 3), source, event, truth)


def _person(**changes: object) -> Truth:
    return Truth(person=changes)


_Scenes = Mapping[str, tuple[Callable[[_Drawing], None], float]]

_SCENES: _Scenes = {
    "chat": (_Drawing.chat, 3),
    "burst": (_Drawing.burst, 2.5),
    "news": (_Drawing.news, 2),
    "bad moment": (_Drawing.bad_moment, 2),
    "call": (_Drawing.call, 1.5),
    "typing": (_Drawing.typing, 1.5),
    "quiet": (_Drawing.quiet, 0.8),
    "mute": (_Drawing.mute, 0.8),
    "suppress": (_Drawing.suppress, 0.8),
    "watch": (_Drawing.watch, 1),
    "reminder": (_Drawing.reminder, 1.5),
    "change": (_Drawing.change, 0.5),
    "leave": (_Drawing.leave, 1),
}
_TROUBLES: _Scenes = {
    "stuck": (_Drawing.stuck, 0.5),
    "flapping": (_Drawing.flapping, 0.5),
    "blackout": (_Drawing.blackout, 0.5),
}
