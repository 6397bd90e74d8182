"""The chronicle of a recording: what each decision came to, when, and at what cost.

It is read off the messages without deciding anything again: facts about the logging
strategy.
"""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime

from replay.recording.outcomes import Ledger, Outcome, OutcomeSettings
from replay.recording.session_outcomes import SessionLedger, SessionValue
from replay.recording.source import Recording
from replay.recording.standing import InForce, brought
from schemas.codec.catalogue import OutputMessage
from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Input, Output
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import SILENT, Completed, Decided, Dropped
from schemas.messages.learning import FeedbackApplied, OutcomeObserved
from schemas.messages.notes import ControlApplied
from schemas.messages.results import ModelAnswered
from schemas.messages.sensing import Sensed
from schemas.packs.manifest import CompiledPack
from schemas.values.record import Record
from schemas.values.subjects import parse
from streams.groups import Group

_TOLD = (Decided, Completed, Dropped, ModelAsked, FeedbackApplied, OutcomeObserved)


@dataclass(frozen=True, slots=True)
class Telling:
    """One decision of the recording, and its completion."""

    decision_id: str
    event_id: str
    sequence: int
    """The sequence of the input it answers."""
    at: datetime
    """The agent's time."""
    source: str
    type: str
    text: str
    """The event's."""
    arm: str
    path: str
    said: str | None = None
    silence: str | None = None
    is_gated: bool = False
    """Whether a gate closed before the strategy was asked."""
    asked_model: bool = False
    latency_ms: float | None = None
    """Milliseconds from the event's arrival to its final output, by the broker's clock."""
    tokens: int = 0
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Chronicle:
    """All decisions of a recording, in order, with what they came to."""

    tellings: tuple[Telling, ...]
    outcomes: Mapping[str, Outcome]
    """By decision id."""
    sessions: tuple[SessionValue, ...] = ()
    """The outcome of each session, by each measure that a pack declares."""


Packs = Mapping[str, CompiledPack]
"""The packs in force, by name."""


async def chronicle(recording: Recording, settings: OutcomeSettings) -> Chronicle:
    """Read a recording from its first group to its last.

    `settings` says what counts as a good outcome.

    Raises:
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged: the recording is not sound.
    """
    writing = Writing(recording, settings)
    await writing.bring()
    async with aclosing(recording.groups()) as groups:
        async for group in groups:
            if recording.concerns(group):
                writing.take(group)
                await writing.bring()
    return writing.done()


@dataclass(slots=True)
class Writing:
    """Builds a chronicle from the groups that concern the recording, in order."""

    recording: Recording
    settings: OutcomeSettings
    standing: InForce = field(init=False)
    tellings: dict[str, Telling] = field(default_factory=dict)
    arrived_ns: dict[str, int] = field(default_factory=dict)
    """When the event of each decision arrived."""
    asked: dict[str, str] = field(default_factory=dict)
    """Ask id to decision id."""
    ledger: Ledger = field(init=False)
    _packs: Packs = field(default_factory=dict)
    _is_changed: bool = True
    sessions: SessionLedger = field(default_factory=SessionLedger)

    def __post_init__(self) -> None:
        self.standing = InForce.of(self.recording.start, self.recording.agent)
        self.ledger = Ledger(self.settings)

    async def bring(self) -> None:
        """Load the packs in force; to be called before the first group and after each."""
        if self._is_changed:
            self._is_changed = False
            self.standing = await brought(self.standing, self.recording.log)
            self._packs = {each.pack.name: each for each in self.standing.packs}

    def done(self) -> Chronicle:
        """Return the chronicle, once all groups were taken."""
        tellings = tuple(self.tellings.values())
        return Chronicle(tellings, self.ledger.ended(), self.sessions.values())

    def take(self, group: Group) -> None:
        """Add one group."""
        outputs = [read_output(each) for each in group.outputs]
        is_within = group.input.sequence >= self.recording.first
        is_own = parse(group.input.subject).agent == self.recording.agent
        if is_within and is_own:
            self._tell(group, outputs)
        if any(isinstance(each.message, ControlApplied) for each in outputs):
            self.standing = self.standing.after(read_input(group.input), outputs)
            self._is_changed = True

    def _tell(self, group: Group, outputs: Sequence[Output]) -> None:
        # Most groups say nothing of a decision, so their input need not be parsed.
        telling = [each for each in outputs if isinstance(each.message, _TOLD)]
        if not telling and parse(group.input.subject).kind != "result":
            return
        input_ = read_input(group.input)
        if isinstance(input_.message, Sensed):
            self._sensed(input_, input_.message, telling)
        for output in telling:
            self._output(input_, output)
        if isinstance(input_.message, ModelAnswered):
            self._answered(input_.message)

    def _sensed(self, input_: Input, event: Sensed, outputs: Sequence[Output]) -> None:
        for output in outputs:
            decided = output.message
            if not isinstance(decided, Decided) or decided.event_id != input_.id:
                continue
            pack = self._packs.get(decided.domain)
            self.sessions.sensed(decided.session_id or "", event, pack, output.at)
            self.ledger.sensed(event, decided.domain, output.at)
            self.ledger.decided(
                output.id,
                event,
                input_.id,
                domain=decided.domain,
                pack=pack,
                is_silent=decided.arm == SILENT,
                is_learnt=decided.silence == "learned_silence",
                now=output.at,
            )
            self.tellings[output.id] = _telling(input_, event, output, decided)
            self.arrived_ns[output.id] = input_.record.time_ns

    def _output(self, input_: Input, output: Output) -> None:
        message: OutputMessage = output.message
        match message:
            case ModelAsked():
                self.asked[output.id] = message.decision_id
                self._change(message.decision_id, asked_model=True)
            case Completed():
                self._end(output, message.decision_id, message.text, message.path)
            case Dropped():
                self._end(output, message.decision_id, None, "fallback", message.reason)
            case FeedbackApplied(decision_id=str(decision_id)):
                self.ledger.voted(decision_id, message.actor, message.value)
            case OutcomeObserved(by="undo"):
                self.ledger.undone(message.decision_id)
            case _:
                pass

    def _end(
        self,
        output: Output,
        decision_id: str,
        said: str | None,
        path: str,
        silence: str | None = None,
    ) -> None:
        arrived_ns = self.arrived_ns.get(decision_id)
        if arrived_ns is None:
            return
        self._change(
            decision_id,
            said=said,
            path=path,
            silence=silence,
            latency_ms=_apart_ms(arrived_ns, output.record),
        )

    def _answered(self, answer: ModelAnswered) -> None:
        decision_id = self.asked.get(answer.ask_id, "")
        telling = self.tellings.get(decision_id)
        if telling is not None:
            tokens = (answer.input_tokens or 0) + (answer.output_tokens or 0)
            self._change(
                decision_id,
                tokens=telling.tokens + tokens,
                cost_usd=telling.cost_usd + (answer.cost_usd or 0.0),
            )

    def _change(self, decision_id: str, **changes: object) -> None:
        telling = self.tellings.get(decision_id)
        if telling is not None:
            self.tellings[decision_id] = replace(telling, **changes)  # type: ignore[arg-type]


def _telling(input_: Input, event: Sensed, output: Output, decided: Decided) -> Telling:
    is_final = decided.final
    return Telling(
        decision_id=output.id,
        event_id=input_.id,
        sequence=input_.sequence,
        at=output.at,
        source=event.source,
        type=event.type,
        text=event.text,
        arm=decided.arm,
        path=decided.path,
        said=decided.text,
        silence=decided.silence,
        is_gated=decided.path == "none",
        latency_ms=_apart_ms(input_.record.time_ns, output.record)
        if is_final
        else None,
    )


def _apart_ms(arrived_ns: int, record: Record) -> float:
    # Clamped, as a broker whose clock is set back would make it negative.
    return max(0.0, (record.time_ns - arrived_ns) / 1e6)
