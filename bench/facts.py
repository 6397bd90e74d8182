"""What characters' sessions came to: facts counted from their logs, without a judgement.

What changes nothing (`NOTHING_IN`) counts as no success. An action is a repetition if the
same was done to the same target just before. A game hour's cost is what its prompts and
answers would cost with `PRICED`, by litellm's count of tokens and list of prices.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from schemas.codec.decode import read_input, read_output
from schemas.messages.arms import Action
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Decided
from schemas.messages.notes import ControlInferred
from schemas.messages.results import ModelAnswered
from schemas.messages.sensing import Sensed
from schemas.values.record import Record
from schemas.values.subjects import parse
from streams.session_files.file import SessionFile

# Prices are those of the package: nothing is fetched.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

PRICED = "gpt-4o-mini"
"""The model of the source designs' costs: $0.15 and $0.60 a million tokens."""

MET = 0.3
"""A need is met from so much satisfaction on; under it a talker is lonely, too."""

MODEL_LAYERS = ("talker", "executor", "single")
NOTHING = "nothing"
NOTHING_IN = frozenset({"idle", "rest", "talk", "said", "leave_conversation", "Idle"})
"""Actions that change nothing."""

_READ = tuple(
    f".{each.token}" for each in (Decided, ModelAsked, DeliveryAsked, ControlInferred)
)
_NANO = 1e9


@dataclass(slots=True)
class Facts:
    """Facts of one session, or of several added up."""

    seconds: float = 0.0
    decided: Counter[str] = field(default_factory=Counter)
    """Decisions by the layer that acted; `nothing` of those that do nothing."""
    drawn: int = 0
    """Decisions by chance, each with a probability under 1."""
    asked: Counter[str] = field(default_factory=Counter)
    """Model calls by purpose."""
    tokens_in: Counter[str] = field(default_factory=Counter)
    tokens_out: Counter[str] = field(default_factory=Counter)
    between: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Seconds since the layer's call before, by the rule of its cadence."""
    acted: Counter[str] = field(default_factory=Counter)
    """Actions by type, without what changes nothing."""
    repeated: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    """Of those actions, as the world reports them."""
    ended_by: Counter[str] = field(default_factory=Counter)
    """What overrode actions under way."""
    planned: int = 0
    """Builds that were planned."""
    built: int = 0
    unmet_s: Counter[str] = field(default_factory=Counter)
    """Seconds for which each need was under `MET`."""

    def add(self, other: "Facts") -> None:
        """Take in another session's."""
        self.seconds += other.seconds
        for name in ("decided", "asked", "tokens_in", "tokens_out", "acted",
                     "outcomes", "ended_by", "unmet_s"):  # fmt: skip
            getattr(self, name).update(getattr(other, name))
        for rule, spans in other.between.items():
            self.between[rule].extend(spans)
        for name in ("drawn", "repeated", "planned", "built"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def hours(self) -> float:
        """How many of the world's hours they are of."""
        return self.seconds / 3_600

    @property
    def without_model(self) -> float:
        """The share of decisions to act that asked no model."""
        acts = self.decided.total() - self.decided[NOTHING]
        return 1 - self._by_model / acts if acts else 1.0

    @property
    def of_all_without(self) -> float:
        """The share of all decisions that asked no model, those to do nothing too."""
        return 1 - self._by_model / max(self.decided.total(), 1)

    @property
    def _by_model(self) -> int:
        return sum(self.decided[layer] for layer in MODEL_LAYERS)

    @property
    def succeeded(self) -> float:
        """The share that succeeded, of actions that were done to their end."""
        done = self.outcomes.total() - self.outcomes["overridden"]
        return self.outcomes["succeeded"] / max(done, 1)

    @property
    def by_talk(self) -> int:
        """How many actions under way were ended by talk."""
        return sum(self.ended_by[each] for each in ("talk", "said"))

    @property
    def repetition(self) -> float:
        """The share of actions that were done just before."""
        return self.repeated / max(self.acted.total(), 1)

    @property
    def needs_met(self) -> float:
        """The share of the time for which a need was met, in the mean of all needs."""
        whole = self.seconds * max(len(self.unmet_s), 1)
        return 1 - self.unmet_s.total() / whole if whole else 1.0

    @property
    def dollars(self) -> float:
        """What the calls would cost with `PRICED`."""
        each_in, each_out = _prices()
        return each_in * self.tokens_in.total() + each_out * self.tokens_out.total()


def of_session(session: SessionFile) -> Facts:
    """Count a session."""
    reader = _Reader()
    for record in session.records:
        reader.read(record)
    first, last = session.records[0].time_ns, session.records[-1].time_ns
    reader.found.seconds = (last - first) / _NANO
    return reader.found


def total(of: Iterable[Facts]) -> Facts:
    """Return several, added up."""
    whole = Facts()
    for each in of:
        whole.add(each)
    return whole


class _Reader:
    """Reads a session from its beginning to its end."""

    def __init__(self) -> None:
        self.found = Facts()
        self._actions: dict[str, Action] = {}
        self._layers: dict[str, str] = {}
        self._purposes: dict[str, str] = {}
        self._called: dict[str, int] = {}
        self._before: tuple[str, str | None] | None = None
        self._builds: Counter[str] = Counter()
        self._levels: dict[str, tuple[float, int]] = {}

    def read(self, record: Record) -> None:
        if parse(record.subject).direction == "in":
            self._input(record)
        elif record.subject.endswith(_READ):
            self._output(record)

    def _input(self, record: Record) -> None:
        match read_input(record).message:
            case Sensed() as event:
                self._reported(event, record.time_ns)
            case ModelAnswered() as answer:
                purpose = self._purposes.get(answer.ask_id, "")
                self.found.tokens_out[purpose] += tokens(answer.text or "")
            case _:
                pass

    def _output(self, record: Record) -> None:
        output = read_output(record)
        match output.message:
            case Decided() as decided:
                self._decided(output.id, decided, record.time_ns)
            case ModelAsked() as asked:
                purpose = asked.purpose
                self._purposes[output.id] = purpose
                self.found.asked[purpose] += 1
                self.found.tokens_in[purpose] += tokens(
                    f"{asked.system}\n{asked.prompt}"
                )
            case DeliveryAsked(action=Action() as action) as asked:
                self._acted(asked.decision_id, action)
            case ControlInferred(control="plan_set", fields=fields):
                self._planned(fields.get("builds"))
            case _:
                pass

    def _decided(self, id_: str, decided: Decided, at_ns: int) -> None:
        layer = decided.layer or NOTHING
        self.found.decided[layer] += 1
        self.found.drawn += decided.probability < 1
        self._layers[id_] = layer
        if layer not in MODEL_LAYERS:
            return
        rule = next((e.rule for e in decided.layers or () if e.verdict == "acts"), None)
        if layer in self._called:
            span = (at_ns - self._called[layer]) / _NANO
            self.found.between[f"{layer}: {rule}"].append(span)
        self._called[layer] = at_ns

    def _planned(self, builds: Any) -> None:
        # A plan is told whole: what of it stood there before is not planned again.
        if builds is not None:
            now = Counter(each["building"] for each in builds)
            self.found.planned += (now - self._builds).total()
            self._builds = now

    def _acted(self, decision_id: str, action: Action) -> None:
        if action.type in NOTHING_IN:
            return
        self._actions[decision_id] = action
        self.found.acted[action.type] += 1
        what = (action.type, action.target)
        self.found.repeated += what == self._before
        self._before = what

    def _reported(self, event: Sensed, at_ns: int) -> None:
        reference = event.in_reply_to
        action = self._actions.get(reference) if isinstance(reference, str) else None
        if event.outcome is not None and action is not None:
            self.found.outcomes[event.outcome] += 1
            if event.outcome == "overridden":
                self.found.ended_by[event.reason or ""] += 1
            if event.outcome == "succeeded" and action.type == "build":
                self.found.built += 1
                self._builds[str(action.target)] -= 1
        for name, value in event.fields.items():
            # A need is told with its rate: what was told last held until now.
            if f"{name}_rate" in event.fields and isinstance(value, int | float):
                level, since = self._levels.get(name, (1.0, at_ns))
                lacks = level < MET
                self.found.unmet_s[name] += (
                    round((at_ns - since) / _NANO) if lacks else 0
                )
                self._levels[name] = (float(value), at_ns)


@cache
def _prices() -> tuple[float, float]:
    import litellm

    price: Mapping[str, Any] = litellm.model_cost[PRICED]
    return price["input_cost_per_token"], price["output_cost_per_token"]


def tokens(text: str) -> int:
    """Return how many tokens a text has for `PRICED`."""
    import litellm

    return int(litellm.token_counter(model=PRICED, text=text))
