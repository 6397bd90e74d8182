"""Credit at random: one fire, at most one implicit and one explicit signal.

An oracle keeps its own slow books of the same scenario, and counts everything anew.
"""

from dataclasses import dataclass, field
from random import Random

import pytest

from handlers.mind.turn import Turn
from schemas.messages.decisions import HeuristicFired
from schemas.messages.results import ClockTicked
from schemas.state.evidence import Belief
from tests.factories import heuristic, pack, pattern
from tests.scenario import Scenario, decision_id, output

KAPPA, DECLARED = 400.0, 0.6
GARDEN = pack(
    heuristic("drink", "health low", "Drink.", confidence=DECLARED),
    patterns=[
        pattern("health", "health restored", 60),
        pattern("health", "player died", 60, success=False),
    ],
)
WEIGHTS = {"implicit": 1.0, "explicit": 0.8, "ignored": 0.3}
ASPECTS = ("overall", "overall", "action", "condition", "timing")
IN_A_ROW = 3


@dataclass
class Fire:
    """One fire, as the oracle knows it."""

    decision_id: str
    fire_id: str
    at: float
    is_open: bool = True
    outcome: str | None = None
    implicit: tuple[str, float] | None = None
    votes: dict[str, tuple[str, float]] = field(default_factory=dict)


class Oracle:
    """What must have been learnt, by the rules and nothing else."""

    def __init__(self) -> None:
        """Begin with no fire."""
        self.fires: list[Fire] = []
        self.row = 0

    def passed(self, now: float) -> None:
        """Expire what was waited for too long."""
        for fire in self.fires:
            if fire.is_open and now >= fire.at + 60:
                fire.is_open, fire.outcome = False, "timeout"
                self.row = 0 if fire.votes else self.row + 1
                if self.row == IN_A_ROW:
                    fire.implicit, self.row = ("ignored", 0.0), 0

    def ended(self, fire: Fire, outcome: str) -> None:
        """The world showed an end, if none was known."""
        if fire.outcome not in (None, "timeout"):
            return
        fire.is_open, fire.outcome, self.row = False, outcome, 0
        if outcome in ("success", "fail"):
            fire.implicit = ("implicit", float(outcome == "success"))

    def voted(self, fire: Fire, actor: str, aspect: str, value: float) -> None:
        """Somebody's latest vote."""
        fire.votes[actor] = (aspect, value)
        self.row = 0

    def counts(self, fire: Fire) -> list[tuple[str, float]]:
        """The signals of one fire."""
        said = [
            value
            for aspect, value in fire.votes.values()
            if aspect in ("overall", "action")
        ]
        mean = sum(said) / len(said) if said else 0.0
        explicit = [("explicit", (mean + 1) / 2)] if said else []
        return [*([fire.implicit] if fire.implicit else []), *explicit]

    def confidence(self) -> float:
        """All of it, counted anew."""
        signals = [each for fire in self.fires for each in self.counts(fire)]
        alpha = KAPPA * DECLARED + sum(WEIGHTS[kind] * y for kind, y in signals)
        return alpha / (KAPPA + sum(WEIGHTS[kind] for kind, _ in signals))


class Course:
    """A scenario and its oracle, led by a random number generator."""

    def __init__(self, seed: int) -> None:
        """Lead the course of this seed."""
        self.random = Random(seed)
        learning = {"undo_s": 30.0, "ignored_after": IN_A_ROW, "kappa": KAPPA}
        self.scenario = Scenario(GARDEN, threshold=0.3, learning=learning)
        self.oracle = Oracle()
        self.now = 0.0

    def step(self) -> None:
        """Let one thing happen to both."""
        self.now += (seconds := self.random.choice([1, 5, 20, 45, 70]))
        self.scenario.wait(seconds)
        self.oracle.passed(self.now)
        happens = [self._advise, self._vote, self._undo, self._show, self._report]
        if self.oracle.fires:
            self.random.choice([*happens, self._advise, self._vote, self._tick])()
        else:
            self._advise()

    def belief(self) -> Belief:
        """What the mind believes."""
        return self.scenario.belief(GARDEN.ids[0], GARDEN.content_hashes[0])

    def _fire(self) -> tuple[int, Fire]:
        recent = range(max(0, len(self.oracle.fires) - 5), len(self.oracle.fires))
        place = self.random.choice(recent)
        return place, self.oracle.fires[place]

    def _advise(self) -> None:
        name = f"e{len(self.oracle.fires)}"
        turn = self.scenario.sense(
            "health low", salience={"threat": 0.9}, entities=[name]
        )
        fired = output(turn, HeuristicFired).id
        self.oracle.fires.append(Fire(decision_id(turn), fired, self.now))

    def _vote(self) -> None:
        _, fire = self._fire()
        actor, aspect = self.random.choice("ab"), self.random.choice(ASPECTS)
        stars = self.random.randint(1, 5)
        self.scenario.feedback(
            fire.decision_id, "scaled", stars=stars, actor=actor, aspect=aspect
        )
        self.oracle.voted(fire, actor, aspect, (stars - 3) / 2)

    def _undo(self) -> None:
        place, fire = self._fire()
        self._named("undo", place)
        if self.now - fire.at <= 30:
            self.oracle.ended(fire, "fail")

    def _show(self) -> None:
        place, fire = self._fire()
        text, outcome = self.random.choice(
            [("health restored", "success"), ("player died", "fail")]
        )
        self._named(text, place)
        if fire.is_open:
            self.oracle.ended(fire, outcome)

    def _report(self) -> None:
        _, fire = self._fire()
        said, outcome = self.random.choice(
            [("succeeded", "success"), ("failed", "fail"), ("cancelled", "cancelled")]
        )
        self.scenario.sense("hm", in_reply_to=fire.decision_id, outcome=said)
        self.oracle.ended(fire, outcome)

    def _tick(self) -> None:
        self.scenario.tell(ClockTicked(due_at=self.scenario.at))

    def _named(self, text: str, place: int) -> Turn:
        return self.scenario.sense(text, entities=[f"e{place}"])


@pytest.mark.parametrize("seed", range(30))
def test_each_fire_has_one_signal_of_each_sort(seed: int) -> None:
    """Whatever comes in whatever order, the mind believes what the oracle counts."""
    course = Course(seed)
    for _ in range(60):
        course.step()
        held = course.belief()
        assert held.confidence == pytest.approx(course.oracle.confidence(), abs=2e-6)

    wanted = sorted(
        (fire.fire_id, kind, round(value, 6))
        for fire in course.oracle.fires
        for kind, value in course.oracle.counts(fire)
    )
    found = sorted(
        (each.fire_id, each.kind, round(each.value, 6))
        for each in course.belief().signals
    )
    assert found == wanted
