"""Scenarios at random, led by a seed: events, votes, results, controls in any order."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import orjson

from schemas.codec.catalogue import ControlMessage, ResultMessage
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked
from schemas.messages.controls import (
    ExperimentStarted,
    ExperimentStopped,
    GoalsSet,
    HeuristicEdited,
    HeuristicFrozen,
    HeuristicSeeded,
    ProfileSet,
    ProposalApplied,
    ProposalReverted,
    ProposalSubmitted,
    SessionEnded,
    SessionStarted,
    StrategySelected,
)
from schemas.messages.decisions import Decided
from schemas.messages.executive import (
    BreakSignalled,
    ContextSwitched,
    Muted,
    OutputInterrupted,
    OutputRequested,
    PersonsGranted,
    ReminderSet,
    SalienceModulated,
    UserStateChanged,
)
from schemas.messages.experiments import Variant
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.results import (
    ClockTicked,
    Delivered,
    DeliveryBegun,
    DeliveryFailed,
    DeliveryInterrupted,
    ModelAnswered,
    ModelFailed,
    Recalled,
    RecallFailed,
)
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.settings import ExplorationSettings, StrategySpec
from tests import factories
from tests.factories import after, heuristic, pack, pattern
from tests.handlers.mind import wild_controls
from tests.scenario import Scenario

WORDS = (
    "health",
    "low",
    "dusk",
    "falls",
    "zombie",
    "near",
    "player",
    "died",
    "gone",
    "undo",
)
WHENS = (None, "", "health < 3", "a.b = 1", 'type = "vital"')
STRATEGIES = (
    "heuristic_first", "urgency", "hybrid", "thompson", "always_llm", "silent", "random",
)  # fmt: skip
CHALLENGERS = tuple(StrategySpec(name=name) for name in ("hybrid", "thompson"))
EXPLORATIONS = (
    None,
    ExplorationSettings(scheme="uniform", rate=0.3),
    ExplorationSettings(scheme="challenger", rate=0.5, challengers=CHALLENGERS),
)
SPOKEN = (
    "be quiet for ten minutes", "unmute", "mute", "undo that", "talk less", "help",
    "what's up",
    "why did you say that", "warum sagst du das", "is health low?",
)  # fmt: skip
CHANGES: tuple[Any, ...] = ("suppress", "heighten", "habituate", "threshold", "focus")


class Wild:
    """A scenario that a random number generator leads."""

    def __init__(
        self,
        seed: int,
        executives: Sequence[ExecutiveSettings] = wild_controls.EXECUTIVES,
    ) -> None:
        """Lead the scenario of this seed, with one of these settings."""
        self.random = Random(seed)
        choice = self.random.choice
        self.scenario = Scenario(
            self._garden(),
            model=choice([None, factories.MODEL]),
            strategy={"name": choice(STRATEGIES)},
            exploration=choice(EXPLORATIONS),
            relevance=choice([0.0, 0.5]),
            present=choice(["neutral", "hint", "none"]),
            executive=choice(executives),
            prediction=choice(["same", "separate", "off"]),
            withhold=choice([0.0, 0.5]),
            formation=choice([True, False]),
            endorsement=choice([True, False]),
            learning={
                "gamma": choice([1.0, 0.9]),
                "undo_s": choice([0.0, 30.0]),
                "ignored_after": choice([0, 1, 2]),
                "calibrate_raters": choice([False, True]),
            },
        )
        self.seconds = 0.0

    def lead(self, steps: int) -> Scenario:
        """Let so many things happen."""
        happenings = self.happenings()
        for _ in range(steps):
            self.scenario.wait(self.random.choice([0, 0.5, 5, 40, 100, 2_000]))
            self.scenario.agent = self.random.choice(["ana", "ana", "ana", "bo"])
            self.random.choice(happenings)()
        return self.scenario

    def happenings(self) -> list[Callable[[], None]]:
        """What may happen, each as often as it is likely."""
        likely = [self._sense] * 5 + [self._judge, self._answer, self._change] * 2
        return [*likely, self._restrain, self._speak]

    def _text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 4)))

    def _garden(self) -> Any:
        random = self.random
        return pack(
            *(
                heuristic(
                    f"h{place}",
                    self._text(),
                    self._text(),
                    random.choice([0.05, 0.3, 0.7, 0.9]),
                    when=random.choice([None, "health < 3", "a.b = 1"]),
                )
                for place in range(random.randint(0, 12))
            ),
            events=[
                {"type": "other", "milestones": [{"counts": [1, 2], "text": "{count}"}]}
            ],
            patterns=[
                pattern(
                    random.choice(WORDS),
                    random.choice(WORDS),
                    random.choice([1, 10, 60]),
                    random.random() < 0.5,
                )
                for _ in range(random.randint(0, 5))
            ],
            skills=random.choice([(), wild_controls.SKILLS]),
        )

    def _decisions(self) -> list[str]:
        outputs = [each for turn in self.scenario.turns for each in turn.outputs]
        return [each.id for each in outputs if isinstance(each.message, Decided)]

    def _sense(self) -> None:
        random = self.random
        self.seconds += random.choice([-2, 0, 0.5, 3, 60, 90_000])
        event: dict[str, Any] = {
            "occurred_at": after(self.seconds).isoformat(),
            "in_reply_to": random.choice([*self._decisions(), "nobody"]),
            "outcome": random.choice(["succeeded", "failed", "overridden"]),
            "salience": {
                random.choice(["threat", "social", "opportunity"]): random.random()
            },
            "fields": {"health": random.choice([1, 3, "x"]), "a": {"b": 1}},
            "entities": [random.choice("yz")],
            "immediate": random.random() < 0.8,
            "person": random.choice(["ada", "lee"]),
            "urgency": random.random(),
            "sentiment": 2 * random.random() - 1,
            "intent": random.choice(["actionable", "informational"]),
        }
        self.scenario.sense(
            self._text(),
            type_=random.choice(["vital", "other"]),
            id_=random.choice([None, None, f"e{random.randint(0, 9)}"]),
            **{key: event[key] for key in event if random.random() < 0.3},
        )

    def _speak(self) -> None:
        choice = self.random.choice
        words = choice([*SPOKEN, f"watch for {self._text()}"])
        self.scenario.sense(
            words,
            source="user",
            type_="message",
            person=choice([None, "ada", "lee"]),
            sentiment=choice([None, -0.5]),
        )

    def _restrain(self) -> None:
        choice, person = self.random.choice, self.random.choice([None, "ada"])
        known = self.scenario.mind.executive.peace.modulations
        controls: list[ControlMessage] = [
            Muted(mode=choice(["quiet", "mute"]), for_s=choice([None, 5, 100])),
            Muted(mode=choice(["quiet", "mute"]), off=True, person=person),
            SalienceModulated(
                change=choice(CHANGES),
                about=choice([None, self._text()]),
                type=choice([None, "vital"]),
                amount=choice([None, self.random.uniform(-1, 1)]),
                for_s=choice([None, 50]),
                person=person,
            ),
            SalienceModulated(
                change="clear", modulation_id=choice([None, *(e.id for e in known)])
            ),
            ContextSwitched(context=choice(["work", "home"])),
            OutputInterrupted(),
            OutputRequested(text="Dinner.", person=choice([None, "ada"])),
            PersonsGranted(
                source=choice(["game", "user"]), persons=choice([(), ("ada", "ben")])
            ),
        ]
        self.scenario.control(choice(controls))

    def _judge(self) -> None:
        random = self.random
        if random.random() < 0.2:
            vote = FeedbackGiven(
                heuristic_id="h", rating="scaled", value=random.uniform(-1, 1)
            )
            self.scenario.tell(vote)
            return
        target = random.choice([*self._decisions(), "nobody"])
        rating = random.choice(["positive", "negative"])
        aspect = random.choice(["overall", "overall", "action", "condition", "timing"])
        self.scenario.feedback(target, rating, actor=random.choice("ab"), aspect=aspect)

    def _answer(self) -> None:
        outputs = [each for turn in self.scenario.turns for each in turn.outputs]
        asks = [
            each.id
            for each in outputs
            if isinstance(each.message, ModelAsked | DeliveryAsked | RecallAsked)
        ]
        ask = self.random.choice([*asks[-5:], "nobody"])
        said = ["Hi", "", '{"response": ""}', '{"response": "Hi"}', self._text()]
        text = self.random.choice([*said, self._rule()])
        results: list[ResultMessage | ClockTicked] = [
            ModelAnswered(ask_id=ask, request_hash="r", model="m", text=text),
            ModelFailed(ask_id=ask, request_hash="r", reason="declined"),
            Delivered(ask_id=ask, channel="say"),
            DeliveryFailed(ask_id=ask, channel="say", reason="unknown"),
            DeliveryBegun(ask_id=ask, channel="speech"),
            DeliveryInterrupted(
                ask_id=ask, channel="speech", reason="asked", after_ms=5.0
            ),
            ClockTicked(due_at=self.scenario.at),
            Recalled(ask_id=ask, ids=("x",), texts=(self._text(),), as_of=1),
            RecallFailed(ask_id=ask, reason="timeout"),
        ]
        self.scenario.tell(self.random.choice(results))

    def _rule(self) -> str:
        choice, words = self.random.choice, self.random.randint(9, 12)
        rule = {
            "condition": " ".join(self.random.choices(WORDS, k=words)),
            "type": choice(["suggest", "warn", "remind", "shout"]),
            "message": " ".join(self.random.choices(WORDS, k=words)),
            "when": choice([*WHENS, "x = ", "mana < 2"]),
            "time": choice([None, "noon"]),
        }
        return orjson.dumps(rule).decode()

    def _change(self) -> None:
        choice, random = self.random.choice, self.random.random
        id_ = choice(["h", "k"])
        controls: list[ControlMessage] = [
            SessionStarted(session_id="s", clock=choice(["event", "broker"])),
            SessionEnded(),
            GoalsSet(goals=(self._text(),)),
            StrategySelected(strategy=choice(STRATEGIES)),
            HeuristicSeeded(
                heuristic_id=id_,
                name="n",
                domain=choice(["game", "garden"]),
                condition=self._text(),
                text=self._text(),
                when=choice(WHENS),
                confidence=random(),
            ),
            HeuristicEdited(
                heuristic_id=id_,
                text=choice([None, self._text()]),
                condition=choice([None, self._text()]),
                when=choice(WHENS),
                keep=random() < 0.5,
            ),
            HeuristicFrozen(heuristic_id=id_, frozen=random() < 0.5),
            ProfileSet(biases={"confidence_threshold": random() - 0.5}),
            ExperimentStarted(
                experiment_id="e",
                a=Variant(strategy=choice([None, StrategySpec(name="silent")])),
                b=Variant(
                    personality=choice([None, "Dry."]),
                    template=choice([None, "engineer", "none"]),
                ),
                by=choice(["session", "person"]),
            ),
            ExperimentStopped(),
            UserStateChanged(
                person=choice([None, "ada"]),
                busy=choice([None, True, False]),
                focus=choice([None, "", self._text()]),
            ),
            BreakSignalled(person=choice([None, "ada", "lee"])),
            ReminderSet(
                reminder_id=choice([None, "tea"]),
                text=choice(["", self._text()]),
                in_s=choice([None, 1.0, 60.0, 3_000.0]),
                due_at=choice([None, None, after(self.seconds + 500.0)]),
                person=choice([None, "ada"]),
                urgent=random() < 0.3,
                off=random() < 0.2,
            ),
            *wild_controls.of_character(self.random),
            *wild_controls.of_memory(self.random),
            self._proposal(),
            self._proposal(),
        ]
        self.scenario.control(choice(controls))

    def _proposal(self) -> ControlMessage:
        choice = self.random.choice
        id_ = choice("pq")
        changes = {
            "learning.gamma": choice([1.0, 0.9]),
            "learning.weights.explicit": choice([0.0, 0.8, 2.0]),
            "learning.kappa": choice([1.0, 2.0, 5.0]),
            "strategy.threshold": choice([0.3, 0.7]),
        }
        some = self.random.sample(sorted(changes), self.random.randint(1, 4))
        controls: list[ControlMessage] = [
            ProposalSubmitted(
                proposal_id=id_, changes={name: changes[name] for name in some}
            ),
            ProposalApplied(proposal_id=id_),
            ProposalReverted(proposal_id=id_),
        ]
        return choice(controls)
