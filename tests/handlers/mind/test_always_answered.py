"""What a person says comes to a response, or to a silence that is recorded and explained."""

from functools import cache
from random import Random
from typing import Any

import pytest

from echoic.explain.gates import REASONS
from echoic.packs import phrases as shipped
from handlers.mind.turn import Turn
from schemas.codec.catalogue import ControlMessage
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.executive import (
    BreakSignalled,
    Muted,
    SalienceModulated,
    UserStateChanged,
)
from schemas.messages.results import ClockTicked
from schemas.values.executive_settings import ExecutiveSettings
from tests import factories
from tests.factories import heuristic, pack
from tests.scenario import Scenario, decision_id, said

WORDS = shipped.shipped(("en", "de"))
SEEDS = range(18)
EVERY_GATE = {
    "phrases": WORDS,
    "prompt_tokens": 200,
    "timing": True,
    "relevance": True,
    "modulates": True,
    "cooldown_s": 30.0,
    "heuristic_cooldown_s": 120.0,
    "rate_per_hour": 2,
    "budget_calls": 1,
    "budget_tokens": 400,
    "quip_interval_s": 300.0,
    "quiet_hours": "00:00-23:59",
    "check_in": True,
}
SAYINGS = (
    "tell me of the sea", "and then", "a zombie is near", "yes", "…", "?", "be quiet",
    "be quiet for a jiffy", "mute for ten minutes", "unmute", "talk less", "undo that",
    "remind me at 25", "remind me in a minute to eat", "why did you say that",
    "why are you quiet", "stop telling me about zombie", "help", "sei anderthalb Stunden still",
    "warum sagst du nichts", "ignore all that and be quiet " * 30,
)  # fmt: skip


class Talk:
    """A scenario in which people talk, whatever is in force."""

    def __init__(self, seed: int) -> None:
        """Begin with as much in force as there is, and perhaps a model."""
        self.random = Random(seed)
        how: dict[str, Any] = {**EVERY_GATE}
        for name in self.random.sample(sorted(set(how) - {"phrases"}), 4):
            del how[name]
        self.scenario = Scenario(
            pack(
                heuristic("zombie", "a zombie is near", "Run.", 0.9),
                types=("thing", "message"),
            ),
            relevance=0.9,
            model=self.random.choice([None, factories.MODEL]),
            executive=ExecutiveSettings.model_validate(how),
        )
        self.open: list[Turn] = []
        self.spoken: list[Turn] = []

    def go_on(self, steps: int) -> None:
        """Let so many things happen; then let all timers ring."""
        for _ in range(steps):
            self.scenario.wait(self.random.choice([0.2, 3.0, 40.0, 700.0]))
            self._ring()
            self.random.choice([self._speak, self._speak, self._change, self._answer])()
        while self.scenario.mind.timers and self.scenario.at.year < 2028:
            self.scenario.wait(3_600.0)
            self._ring()

    def _speak(self) -> None:
        turn = self.scenario.sense(
            self.random.choice(SAYINGS),
            source="user",
            type_="message",
            person=self.random.choice(["ada", "lee", None]),
        )
        self.spoken.append(turn)
        self.open += [turn] if said(turn, ModelAsked) else []

    def _change(self) -> None:
        choice = self.random.choice
        person = choice([None, "ada"])
        is_off = choice([True, False])
        changes: list[ControlMessage] = [
            Muted(off=is_off, person=person, by="lee"),
            Muted(mode="mute", off=is_off, person=person, by="lee"),
            UserStateChanged(person=person, busy=choice([True, False])),
            UserStateChanged(person=person, asleep=choice([True, False])),
            SalienceModulated(change="suppress", about="the sea"),
            BreakSignalled(person=person),
        ]
        self.scenario.control(choice(changes))

    def _answer(self) -> None:
        if not self.open:
            return
        asked = self.open.pop(self.random.randrange(len(self.open)))
        if self.random.random() < 0.5:
            reason = self.random.choice(["timeout", "no_response", "unavailable"])
            self.scenario.fail_model(asked, reason)
        else:
            self.scenario.answer_model(asked, self.random.choice(["Well.", "", "Why?"]))

    def _ring(self) -> None:
        due = [each.due for each in self.scenario.mind.timers]
        for each in sorted(each for each in due if each <= self.scenario.at):
            self.scenario.tell(ClockTicked(due_at=each))


@cache
def talked(seed: int) -> Talk:
    """A talk that is over."""
    talk = Talk(seed)
    talk.go_on(40)
    return talk


def unsaid(end: Decided | Completed | Dropped) -> str | None:
    """Why nothing was said; None if something was."""
    if isinstance(end, Decided):
        return end.silence
    return end.reason if isinstance(end, Dropped) else None


@pytest.mark.parametrize("seed", SEEDS)
def test_every_word_of_a_person_comes_to_an_end(seed: int) -> None:
    """With something said, or a reason that `explain` and the companion have words for."""
    talk = talked(seed)

    outputs = [each.message for turn in talk.scenario.turns for each in turn.outputs]
    ends = {
        each.decision_id: each
        for each in outputs
        if isinstance(each, Completed | Dropped)
    }
    delivered = {
        each.decision_id
        for each in outputs
        # What is said where the model failed is no answer of the decision.
        if isinstance(each, DeliveryAsked) and each.path != "fallback"
    }
    assert talk.spoken
    for turn in talk.spoken:
        (decided,) = said(turn, Decided)
        id_ = decision_id(turn)
        end = decided if decided.final else ends.get(id_)
        assert end is not None, (decided, talk.scenario.mind.timers)
        reason = unsaid(end)
        assert (reason is None) == (id_ in delivered), (end, reason)
        if reason is not None:
            assert reason in REASONS
            assert all(reason in words.silences for words in WORDS)


def test_all_ends_are_met() -> None:
    """What is drawn above is no narrow life: said, silent, and given up of many kinds."""
    met: set[str | None] = set()
    for seed in SEEDS:
        for turn in talked(seed).scenario.turns:
            met |= {each.path for each in said(turn, Decided)}
            met |= {each.silence for each in said(turn, Decided)}
            met |= {each.reason for each in said(turn, Dropped)}
            met |= {"completed" for _ in said(turn, Completed)}

    wanted = {
        "acknowledged", "heuristic", "llm", "none", "completed", "muted", "quiet",
        "llm_unavailable", "budget_exhausted",
    }  # fmt: skip
    assert wanted <= met, wanted - met
