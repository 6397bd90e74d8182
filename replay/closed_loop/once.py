"""Recorded decisions, each decided once more by another strategy at the recorded state.

Nothing of it is kept: the next decision starts from the state that the recording had there,
as in the open loop. Unlike there the mind itself answers, so each has its gates, its words
and what models would have said. Where the strategy takes the recorded arm, what followed is
as it was recorded; where not, models answer from the cassette, and words are taken as
delivered at once.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace

from handlers.aids import AidProvider
from handlers.mind.turn import Turn
from projections.folds.partition import fold_recorded
from replay.cassette import Cassette, Player
from replay.closed_loop.history import History
from replay.closed_loop.made_inputs import made_input
from replay.closed_loop.simulation import Simulation
from replay.recording.in_force import Contender
from replay.recording.recorded_groups import token_of, written_ns
from replay.recording.source import Recording
from schemas.codec.decode import read_output
from schemas.codec.envelope import Input, Output
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.results import Delivered
from schemas.packs.compiled import CompiledPack
from schemas.ports.aids import Aids
from schemas.state.agent import PartitionState
from schemas.values.record import Record
from streams.groups import Group

_ENDS = frozenset(
    each.token for each in (Completed, Dropped, ModelAsked, DeliveryAsked)
)


@dataclass(frozen=True, slots=True)
class Answer:
    """An input with outputs that answer it, and when they were written."""

    input: Input
    outputs: tuple[Output, ...]
    written_ns: int
    """By the broker's clock; that of the input where nothing was written."""


@dataclass(slots=True, kw_only=True)
class DecidedOnce:
    """A recorded decision, decided once more."""

    id: str
    """That of the recorded decision."""
    made: str
    """That of the new one."""
    state: PartitionState
    """The mind's state with it."""
    packs: Mapping[str, CompiledPack]
    """Those that were loaded, by digest."""
    is_recorded_arm: bool
    answers: list[Answer]
    """The group of its event first, then those that concern it."""


async def decided_once(
    recording: Recording,
    strategy: Contender,
    provider: AidProvider,
    wanted: Collection[str],
    cassette: Cassette,
) -> list[DecidedOnce]:
    """Return the wanted decisions, by their ids, as a strategy makes them; in order.

    Raises:
        MissingPackError: a pack in force is not in the recording's store.
        LogDamaged, SessionFileError: the recording is not sound or not whole.
    """
    deciding = _Deciding(recording, strategy, provider, cassette)
    await provider.fetch_packs_of(recording.start)
    async with aclosing(recording.groups()) as groups:
        async for group, input_, aids in provider.for_recorded(groups):
            if recording.concerns(group):
                deciding.follow(group, input_)
                for record in group.outputs:
                    if record.headers["ce-id"] in wanted:
                        await deciding.decide(record, group, input_, aids)
            deciding.state = fold_recorded(deciding.state, input_, group.outputs, aids)
    return list(deciding.found.values())


class _Deciding:
    """A pass over a recording, with the state that it had at each group."""

    def __init__(
        self,
        recording: Recording,
        strategy: Contender,
        provider: AidProvider,
        cassette: Cassette,
    ) -> None:
        self.state = recording.start
        self.found: dict[str, DecidedOnce] = {}
        """By the recorded decision's id."""
        self._recording = recording
        self._strategy = strategy
        self._provider = provider
        self._cassette = cassette
        self._asks: dict[str, str] = {}
        """The decision of each ask that the recording answers."""

    async def decide(
        self, decision: Record, group: Group, input_: Input, aids: Aids
    ) -> None:
        """Make one decision of a group once more; the state stays as it is."""
        turns: list[Turn] = []
        simulation = Simulation(
            replace(self._recording, start=self.state),
            self._strategy,
            self._provider,
            # A player of its own: it counts how often a request came before.
            Player(self._cassette, "cassette"),
            History(),
            heard=turns.append,
        )
        await simulation.answer_once(input_, aids)
        recorded = read_output(decision)
        made = _same(turns[0].outputs, recorded)
        # An input that is refused today makes no decision.
        if made is None:
            return
        decided = DecidedOnce(
            id=recorded.id,
            made=made.id,
            state=turns[0].state,
            packs=aids.packs,
            is_recorded_arm=_arm(made) == _arm(recorded),
            answers=[Answer(input_, turns[0].outputs, written_ns(group))],
        )
        self.found[decided.id] = decided
        if decided.is_recorded_arm:
            self._expect(decided, turns[0].outputs)
        else:
            decided.answers += _simulated(turns, written_ns(group))

    def follow(self, group: Group, input_: Input) -> None:
        """Add a recorded group to the decisions that it concerns."""
        concerned: dict[str, list[Output]] = {}
        asked = self._asks.pop(getattr(input_.message, "ask_id", ""), None)
        if asked is not None:
            concerned[asked] = []
        for record in group.outputs:
            if token_of(record) in _ENDS:
                output = read_output(record)
                id_ = getattr(output.message, "decision_id", "")
                if id_ in self.found and self.found[id_].is_recorded_arm:
                    concerned.setdefault(id_, []).append(output)
        for id_, outputs in concerned.items():
            answer = Answer(input_, tuple(outputs), written_ns(group))
            self.found[id_].answers.append(answer)
            self._expect(self.found[id_], answer.outputs)

    def _expect(self, decided: DecidedOnce, outputs: tuple[Output, ...]) -> None:
        for output in outputs:
            if isinstance(output.message, ModelAsked | DeliveryAsked):
                self._asks[output.id] = decided.id


def _simulated(turns: list[Turn], written_ns: int) -> Iterator[Answer]:
    """Yield what models answered, and each delivery as done when it was asked for."""
    for number, turn in enumerate(turns):
        at_ns = max(turn.input.record.time_ns, written_ns)
        if number:
            yield Answer(turn.input, turn.outputs, at_ns)
        for output in turn.outputs:
            asked = output.message
            if isinstance(asked, DeliveryAsked):
                said = Delivered(ask_id=output.id, channel=asked.channel)
                done = made_input(said, output.agent, output.partition, number, at_ns)
                yield Answer(done, (), at_ns)


def _same(outputs: tuple[Output, ...], recorded: Output) -> Output | None:
    """Return the decision that was made at the occasion of a recorded one."""
    on = _occasion(recorded)
    return next((each for each in outputs if _occasion(each) == on), None)


def _occasion(output: Output) -> str | None:
    message = output.message
    if not isinstance(message, Decided):
        return None
    return message.timer or message.event_id


def _arm(output: Output) -> str | None:
    return output.message.arm if isinstance(output.message, Decided) else None
