"""The simulation under a closed-loop run: a virtual clock, timers and models' answers.

It is a discrete-event simulation on the recorded broker time: before each recorded input,
everything that is due by then is processed in order of time.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from msgspec import structs
from msgspec.structs import replace

from handlers.aids import AidProvider
from handlers.mind import turn as turns
from projections.folds import sessions
from projections.folds.partition import fold_recorded
from projections.rows.episodes import in_words, memorable
from replay.cassette import Player, Take
from replay.closed_loop import carry_over
from replay.closed_loop.decision import ClosedLoopDecision
from replay.closed_loop.history import MILLISECOND_NS, History, Recollection
from replay.closed_loop.made_inputs import made_input, result_of
from replay.recording.decisions import DecisionRecord, DecisionRecords
from replay.recording.in_force import Contender
from replay.recording.likeness import is_episode, nearest
from replay.recording.source import Recording
from schemas.codec.catalogue import InputMessage
from schemas.codec.envelope import Input, Output
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked, TurnAsked
from schemas.messages.controls import Control
from schemas.messages.decisions import HeuristicFired
from schemas.messages.learning import FeedbackApplied, OutcomeObserved
from schemas.messages.results import ClockTicked, Recalled, RecallFailed, TurnGranted
from schemas.ports.aids import Aids
from schemas.state.agent import STRANGER, AgentState
from schemas.state.evidence import belief_key
from schemas.values.record import Record, nanoseconds

Point = tuple[int, float]
"""An agent's time in nanoseconds since 1970, and a confidence from there on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The result of a run."""

    curves: Mapping[tuple[str, str], tuple[Point, ...]]
    """The confidence of each heuristic, by id and content hash, at each change."""
    rapport: Mapping[str, float]
    """The rapport at the end, by person."""
    left_out: Mapping[str, int]
    """How many recorded inputs did not carry over, by the name of their message."""
    hits: int
    """Requests to a model whose answer was recorded."""
    misses: int
    watermark: str | None
    """The note that answers were stubbed; None if they were not."""


@dataclass(slots=True)
class _Curves:
    points: dict[tuple[str, str], list[Point]] = field(default_factory=dict)

    def credited(self, output: Output, own: AgentState) -> None:
        """Record the confidence after a vote or an outcome."""
        message = output.message
        if not isinstance(message, FeedbackApplied | OutcomeObserved):
            return
        id_, content_hash = message.heuristic_id, message.content_hash
        if id_ is None or content_hash is None:
            return
        held = own.beliefs.get(belief_key(id_, content_hash))
        if held is not None:
            point = (nanoseconds(output.at), held.confidence)
            self.points.setdefault((id_, content_hash), []).append(point)


class Simulation:
    """One run under way."""

    def __init__(
        self,
        recording: Recording,
        strategy: Contender,
        provider: AidProvider,
        player: Player,
        past: History,
        *,
        heard: Callable[[turns.Turn], None] = lambda turn: None,
    ) -> None:
        """Call `heard` with every turn that is made."""
        self._epoch = recording.log.epoch
        self._agent = recording.agent
        self._partition = recording.partition
        self._strategy = strategy
        self._provider = provider
        self._player = player
        self._past = past
        self._heard = heard
        self._own = History()
        self._state = recording.start
        self._has_begun = False
        self._now_ns = 0
        self._made = 0
        self._expected = 0
        self._estimated: set[str] = set()
        """The decisions whose memories are not as recorded, but an estimate."""
        self._coming: list[tuple[int, int, InputMessage]] = []
        """A heap of answers to come, by broker time, then in the order of asking."""
        self._records = DecisionRecords()
        self._takes: dict[str, list[Take]] = {}
        """The models' answers of each decision that was not yielded yet, by its id."""
        self._curves = _Curves()
        self._left_out: Counter[str] = Counter()

    def fold(self, input_: Input, outputs: tuple[Record, ...], aids: Aids) -> None:
        """Fold a group as it was recorded."""
        self._state = fold_recorded(self._state, input_, outputs, aids)

    async def answer_recorded(self, input_: Input, aids: Aids) -> None:
        """Answer a recorded input, after everything that is due before it."""
        if not self._has_begun:
            # Only now: everything before the first input to answer
            # is folded as it was recorded.
            self._has_begun = True
            self._put_in_force()
        await self._pass_to(input_.record.time_ns)
        is_alien = self._strategy and carry_over.is_of_experiment(input_.message)
        message = (
            None
            if is_alien
            else carry_over.carried_over(input_.message, self._past, self._own)
        )
        if message is None:
            self._left_out[type(input_.message).__name__] += 1
            return
        if message is not input_.message:
            input_ = structs.replace(input_, message=message)
        await self._answer(input_, aids)

    async def answer_once(self, input_: Input, aids: Aids) -> None:
        """Answer one recorded input at the state so far, and then what models answer to it."""
        self._put_in_force()
        self._now_ns = input_.record.time_ns
        await self._answer(input_, aids)
        while self._coming:
            # Timers that are due before an answer go first, as in a race.
            await self._pass_to(self._coming[0][0])

    async def deliver_outstanding(self) -> None:
        """Deliver the answers that are outstanding when the recording ends."""
        while self._coming:
            await self._deliver_next()

    def complete(self, *, at_the_end: bool = False) -> Iterator[ClosedLoopDecision]:
        """Yield the completed decisions, in order; at the end the open ones as well."""
        for decision_id in list(self._takes):
            record = self._own.decision(decision_id)
            assert record is not None
            if not (at_the_end or record.is_final):
                return
            yield ClosedLoopDecision(
                record=record,
                recorded=self._past.like(record),
                takes=tuple(self._takes.pop(decision_id)),
                is_memory_estimated=decision_id in self._estimated,
            )

    def ending(self) -> Ending:
        """Return what it came to."""
        people = self._me.rapport
        return Ending(
            curves={key: tuple(each) for key, each in self._curves.points.items()},
            rapport={person: people[person].value for person in people.sorted_keys()},
            left_out=dict(sorted(self._left_out.items())),
            hits=self._player.hits,
            misses=self._player.misses,
            watermark=self._player.watermark,
        )

    @property
    def _me(self) -> AgentState:
        return self._state.agents.get(self._agent, STRANGER)

    def _put_in_force(self) -> None:
        self._state = carry_over.under(self._state, self._agent, self._strategy)

    async def _pass_to(self, time_ns: int) -> None:
        """Advance the clock to a time: deliver the answers and timers that are due before."""
        while True:
            heard_ns = self._coming[0][0] if self._coming else None
            due_ns = self._due_ns()
            # At equal times an answer comes before a timer, and either may set new timers or
            # asks, so what is next is determined anew each time.
            if due_ns is not None and due_ns < min(time_ns, heard_ns or time_ns):
                await self._tick(due_ns)
            elif heard_ns is not None and heard_ns <= time_ns:
                await self._deliver_next()
            else:
                break
        self._now_ns = max(self._now_ns, time_ns)

    def _due_ns(self) -> int | None:
        """Return when the earliest timer is due, by the broker's time."""
        due = sessions.next_due(self._me)
        # A timer that was set for a moment already past is due
        # now: the clock never goes back.
        return None if due is None else max(nanoseconds(due), self._now_ns)

    async def _tick(self, time_ns: int) -> None:
        due = sessions.next_due(self._me)
        assert due is not None
        await self._synthesize(ClockTicked(due_at=due), time_ns)

    async def _deliver_next(self) -> None:
        time_ns, _, message = heapq.heappop(self._coming)
        await self._synthesize(message, time_ns)

    async def _synthesize(self, message: InputMessage, time_ns: int) -> None:
        """Answer an input made by the simulation."""
        self._now_ns = max(self._now_ns, time_ns)
        self._made += 1
        input_ = made_input(
            message, self._agent, self._partition, self._made, self._now_ns
        )
        (aids,) = await self._provider.for_inputs([input_])
        await self._answer(input_, aids)

    async def _answer(self, input_: Input, aids: Aids) -> None:
        turn = turns.answer(self._state, input_, aids, self._epoch)
        self._state = turn.state
        self._heard(turn)
        # A recorded control may have set another strategy or exploration.
        if isinstance(input_.message, Control):
            self._put_in_force()
        for record in self._records.take(input_, turn.outputs):
            self._own.decided(record)
            self._takes.setdefault(record.id, [])
        # All decisions of the group are noted before an ask refers to one of them.
        for output in turn.outputs:
            self._curves.credited(output, self._me)
            self._close(output)
            match output.message:
                case ModelAsked() as asked:
                    await self._ask(input_, output.id, asked)
                case RecallAsked() as asked:
                    await self._recall(input_, output.id, asked)
                case TurnAsked() as asked:
                    self._wait(input_, output.id, asked)
                case DeliveryAsked(decision_id=decision_id):
                    self._own.had_said(output.id, decision_id)
                case _:
                    pass

    def _close(self, output: Output) -> None:
        """Drop the fire of advice that the recorded run did not give, so nothing credits it.

        The recording shows what the world did after other advice, or none.
        """
        message = output.message
        if not isinstance(message, HeuristicFired) or message.mode != "shown":
            return
        own = self._own.decision(message.decision_id)
        past = self._past.like(own) if own else None
        if own is not None and not own.is_same_arm(past):
            self._state = carry_over.without_fire(self._state, self._agent, output.id)

    async def _ask(self, input_: Input, ask_id: str, asked: ModelAsked) -> None:
        record = self._own.decision(asked.decision_id)
        take = await self._player.take(record.session if record else "", asked)
        # A decision that has its answer may have been yielded
        # already, and its takes with it.
        if record is not None and not record.is_final:
            self._takes[record.id].append(take)
        message = result_of(ask_id, asked, take)
        if message is not None:
            waits_ns = round(take.latency_ms.middle * MILLISECOND_NS)
            self._expect(input_.record.time_ns + waits_ns, message)
        self._own.asks[ask_id] = asked

    async def _recall(self, input_: Input, ask_id: str, asked: RecallAsked) -> None:
        own = self._own.decision(asked.decision_id)
        past = self._past.like(own) if own is not None else None
        known = self._past.recall_of(past.id) if past is not None else None
        found = _answer_of(ask_id, asked, known)
        if known is None and own is not None:
            self._estimated.add(own.id)
            # A day's rows are little to scan, and nobody waits for them here.
            episodes = self._past.before(own.sequence)
            found = await estimated(ask_id, asked, episodes, self._provider)
        if found is not None:
            waits_ns = known.waited_ns if known is not None else 0
            self._expect(input_.record.time_ns + waits_ns, found)

    def _wait(self, input_: Input, ask_id: str, asked: TurnAsked) -> None:
        """Let a layer wait for its turn as long as it did; without delay if it had none."""
        own = self._own.decision(asked.decision_id)
        past = self._past.like(own) if own is not None else None
        known = self._past.turn_of(past.id) if past is not None else None
        if known is None:
            self._expect(input_.record.time_ns, TurnGranted(ask_id=ask_id))
        elif known.result is not None:
            came = replace(known.result, ask_id=ask_id)
            self._expect(input_.record.time_ns + known.waited_ns, came)

    def _expect(self, time_ns: int, message: InputMessage) -> None:
        # The count breaks ties in the order of asking, and spares the heap a comparison
        # of messages, which have no order.
        self._expected += 1
        heapq.heappush(self._coming, (time_ns, self._expected, message))


def _answer_of(
    ask_id: str, asked: RecallAsked, known: Recollection | None
) -> Recalled | RecallFailed | None:
    """Return what the memory answered to the same at the same event; None if nothing."""
    if known is None or known.result is None or known.asked.query != asked.query:
        return None
    return replace(known.result, ask_id=ask_id)


async def estimated(
    ask_id: str,
    asked: RecallAsked,
    earlier: Iterable[DecisionRecord],
    provider: AidProvider,
) -> Recalled:
    """Return what an exact scan finds among earlier decisions of the recorded run.

    What was before the recording is not among them, and words are those said there.
    """
    kept = [each for each in earlier if is_episode(each) and _may_tell(each, asked)]
    query, *made = await provider.vectors_of([asked.query, *(e.text for e in kept)])
    found = memorable(nearest(kept, made, query), provider.alike, asked.limit)
    return Recalled(
        ask_id=ask_id,
        ids=tuple(each.id for each in found),
        texts=tuple(map(in_words, found)),
        as_of=max((each.sequence for each in kept), default=0),
    )


def _may_tell(record: DecisionRecord, asked: RecallAsked) -> bool:
    return record.event is not None and record.event.person in (None, asked.person)
