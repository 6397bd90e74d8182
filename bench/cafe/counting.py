"""What a session of an autonomous character came to, counted from its log."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log2

from packs.golem.sensor.actions import BY_ID
from schemas.codec.decode import read_input, read_output
from schemas.messages.arms import RANDOM, ROUTINE
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Completed, Decided
from schemas.messages.results import ModelAnswered
from schemas.messages.sensing import Sensed
from streams.session_files.file import SessionFile

PRICE_IN, PRICE_OUT = 0.15, 0.60
"""Dollars for a million tokens, as gpt-4o-mini has it: the source design's model."""

_CHANCES = 11
"""How many actions there are to choose from."""


@dataclass(slots=True)
class Counts:
    """What some hours on one tier came to; several sessions add up."""

    hours: float = 0.0
    actions: list[str] = field(default_factory=list)
    """What was done, in order; an empty one lies between two sessions."""
    by: Counter[str] = field(default_factory=Counter)
    """How often model, routine and chance chose."""
    fallbacks: int = 0
    """How often chance chose in the model's place."""
    ends: Counter[str] = field(default_factory=Counter)
    """How ways and uses of things ended: what else there is cannot fail."""
    used: int = 0
    """How often a seat, a game or a menu was used with success."""
    calls: Counter[str] = field(default_factory=Counter)
    """Of the model, by purpose."""
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def done(self) -> list[str]:
        """What was done, without the gaps."""
        return [each for each in self.actions if each]

    @property
    def repetition(self) -> float:
        """The share of actions that are the same as the one before."""
        pairs = [
            one == other
            for one, other in zip(self.actions, self.actions[1:], strict=False)
            if one and other
        ]
        return sum(pairs) / len(pairs) if pairs else 0.0

    @property
    def longest(self) -> int:
        """How often one action was done in a row at most."""
        most = run = 0
        before = ""
        for each in self.actions:
            run = run + 1 if each == before else 1
            before, most = each, max(most, run if each else 0)
        return most

    @property
    def variety(self) -> float:
        """The entropy of what was done, 1 if each action is as frequent as any other."""
        counts = Counter(self.done).values()
        whole = sum(counts)
        return -sum(n / whole * log2(n / whole) for n in counts) / log2(_CHANCES) + 0.0

    @property
    def success(self) -> float:
        """The share that succeeded, of what could fail and ended by itself."""
        proved = self.ends["succeeded"] + self.ends["failed"]
        return self.ends["succeeded"] / proved if proved else 0.0

    @property
    def calls_an_hour(self) -> float:
        """How often the model was asked an hour, for whatever purpose."""
        return self.calls.total() / self.hours

    @property
    def dollars_an_hour(self) -> float:
        """What that would cost, by the price of the source design's model."""
        millionths = self.tokens_in * PRICE_IN + self.tokens_out * PRICE_OUT
        return millionths / 1e6 / self.hours


def count(counts: Counts, session: SessionFile, hours: float) -> None:
    """Add what a session came to."""
    counts.hours += hours
    counts.actions.append("")
    asked: dict[str, str] = {}
    for record in session.records:
        kind = record.subject.split(".")[2]
        if kind == "in":
            _heard(counts, read_input(record).message, asked)
        else:
            _decided(counts, read_output(record).message, asked)


def _heard(counts: Counts, message: object, asked: Mapping[str, str]) -> None:
    match message:
        case Sensed(in_reply_to=str() as id_, outcome=str() as outcome):
            does = BY_ID[asked[id_]].does if id_ in asked else None
            if does in ("walk", "use"):
                counts.ends[outcome] += 1
            counts.used += does == "use" and outcome == "succeeded"
        case ModelAnswered(input_tokens=int() as read, output_tokens=int() as said):
            counts.tokens_in += read
            counts.tokens_out += said
        case _:
            pass


def _decided(counts: Counts, message: object, asked: dict[str, str]) -> None:
    match message:
        case ModelAsked(purpose=purpose):
            counts.calls[purpose] += 1
        case DeliveryAsked(action=action, decision_id=id_) if action is not None:
            counts.actions.append(action.type)
            asked[id_] = action.type
        case Decided(final=True, arm=arm, layer="autonomous", action=action):
            if action is not None:
                counts.by[_who(arm)] += 1
        case Completed(choice=choice) if choice is not None:
            counts.by[_who(choice.arm)] += 1
            counts.fallbacks += choice.fallback is not None
        case _:
            pass


def _who(arm: str) -> str:
    if arm.startswith(RANDOM):
        return "chance"
    return "routine" if arm.startswith(ROUTINE) else "model"


def table(counts: Sequence[tuple[str, Counts]]) -> str:
    """Return what each tier came to, a line each."""
    rows = [
        "| tier | decisions an hour | by model | by routine | by chance | repetition |"
        " most in a row | success | used an hour | variety | model calls an hour |"
        " dollars an hour |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, each in counts:
        whole = max(each.by.total(), 1)
        shares = [each.by[who] / whole for who in ("model", "routine", "chance")]
        told = [
            f"{len(each.done) / each.hours:.1f}",
            *(f"{share:.0%}" for share in shares),
        ]
        told += [f"{each.repetition:.1%}", str(each.longest), f"{each.success:.1%}"]
        told += [
            f"{each.used / each.hours:.1f}",
            f"{each.variety:.2f}",
            f"{each.calls_an_hour:.1f}",
        ]
        told += [f"{each.dollars_an_hour:.4f}"]
        rows.append(f"| {name} | {' | '.join(told)} |")
    return "\n".join(rows) + "\n"
