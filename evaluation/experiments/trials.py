"""Read experiments from the log: which ran, and the decisions under one with outcomes.

`switchback` analyses what is read here.
"""

from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from evaluation.experiments.session_trials import SessionTrial
from evaluation.experiments.switchback import Trial
from replay.recording.in_force import in_force_before
from replay.recording.outcomes import Outcomes, OutcomeSettings
from replay.recording.recorded_groups import RecordedGroup, in_context
from schemas.codec.decode import read_input, read_mark
from schemas.codec.envelope import Input, Output
from schemas.messages.controls import (
    ExperimentStarted,
    ExperimentStopped,
    SessionEnded,
    SessionStarted,
)
from schemas.messages.decisions import Decided
from schemas.messages.experiments import Assignment
from schemas.messages.learning import FeedbackApplied
from schemas.messages.notes import ControlApplied
from schemas.messages.sensing import Sensed
from schemas.values.subjects import SHARED_AGENT, parse, partition_of
from streams.groups import groups
from streams.log import ReadableLog, messages

_READ = frozenset((Decided.token, FeedbackApplied.token, ControlApplied.token))


@dataclass(frozen=True, slots=True)
class Begun:
    """An experiment that was started."""

    sequence: int
    """Of the input that started it."""
    at: datetime
    message: ExperimentStarted


@dataclass(frozen=True, slots=True)
class Course:
    """The trials of an experiment so far."""

    begun: Begun
    stopped_at: datetime | None
    """None: it runs."""
    trials: tuple[Trial, ...]
    open_unit: str | None
    """The session or person of the last decision, while that session goes on."""
    sessions: tuple[SessionTrial, ...] = ()
    """What whole sessions came to, each under one variant."""


async def newest(log: ReadableLog, agent: str) -> Begun | None:
    """Return the agent's latest experiment, whether it still runs or not; None without one."""
    found: Begun | None = None
    async for record, applied in messages(log, ControlApplied, agent):
        if applied.control == ExperimentStarted.token:
            # If a start's input was lost, the experiment before it is
            # the newest that can be read.
            found = await _begun(log, read_mark(record).cause_sequence) or found
    return found


async def course(
    log: ReadableLog, agent: str, begun: Begun, settings: OutcomeSettings
) -> Course:
    """Return every decision under an experiment, with its outcome as far as known by now.

    Raises:
        LogDamaged: the log is not sound there.
        MissingPackError: a pack in force is not in the log's store.
    """
    in_force = await in_force_before(log, agent, begun.sequence)
    reading = _Reading(begun.message, Outcomes(settings))
    walk = groups(log, partition_of(agent), begun.sequence)
    async with aclosing(walk) as following:
        async for group in following:
            if parse(group.input.subject).agent not in (agent, SHARED_AGENT):
                continue
            read = await in_context(group, in_force, log)
            in_force = read.after
            reading.take(read)
            if reading.stopped_at is not None:
                break
    return reading.course(begun)


@dataclass(slots=True)
class _Reading:
    """The state of one reading of the log, from the experiment's start on."""

    experiment: ExperimentStarted
    outcomes: Outcomes
    trials: dict[str, Trial] = field(default_factory=dict)
    """By decision id."""
    assigned: dict[str, Assignment] = field(default_factory=dict)
    """The variant that each session began under."""
    open_session: str | None = None
    open_unit: str | None = None
    """Of the last decision, if its session goes on."""
    stopped_at: datetime | None = None

    def take(self, group: RecordedGroup) -> None:
        """Read one group."""
        outputs = group.outputs(_READ)
        if not outputs:
            return
        input_ = group.input
        self.outcomes.take(input_, outputs, group.before.packs)
        for output in outputs:
            match output.message:
                case Decided() as decided:
                    self._decided(input_, output.id, decided)
                case ControlApplied():
                    self._applied(input_, output)
                case _:
                    pass

    def course(self, begun: Begun) -> Course:
        """Return the trials, with outcomes still open marked as waiting."""
        outcomes = self.outcomes.ledger.ended()
        trials = tuple(
            replace(
                trial,
                value=outcome.value,
                is_waiting=outcome.is_censored,
                is_silence=outcome.source == "silence",
            )
            for trial, outcome in (
                (self.trials[id_], outcomes[id_]) for id_ in self.trials
            )
        )
        sessions = tuple(
            SessionTrial(self.assigned[each.session], each)
            for each in self.outcomes.sessions.values()
            if each.session in self.assigned and each.session != self.open_session
        )
        return Course(begun, self.stopped_at, trials, self.open_unit, sessions)

    def _decided(self, input_: Input, decision_id: str, decided: Decided) -> None:
        # A decision may be on another occasion than the input, such as a due timer; only
        # those on a sensor's event are trials.
        is_on_event = isinstance(input_.message, Sensed)
        if not is_on_event or decided.event_id != input_.id:
            return
        assignment, session = decided.experiment, decided.session_id or ""
        if assignment is not None and assignment.id == self.experiment.experiment_id:
            self.trials[decision_id] = _trial(assignment, decided)
            # A session belongs to the variant it began under.
            self.assigned.setdefault(session, assignment)
            self.open_unit, self.open_session = assignment.unit, session

    def _applied(self, input_: Input, output: Output) -> None:
        match input_.message:
            case ExperimentStopped():
                self.stopped_at = output.at
                self.open_unit = self.open_session = None
            case SessionStarted() | SessionEnded():
                self.open_unit = self.open_session = None
            case _:
                pass


def _trial(assignment: Assignment, decided: Decided) -> Trial:
    return Trial(
        unit=assignment.unit,
        variant=assignment.variant,
        probability=assignment.probability,
        is_washout=assignment.washout,
        was_asked=decided.path != "none",
    )


async def _begun(log: ReadableLog, sequence: int) -> Begun | None:
    record = await log.record(sequence)
    if record is None:
        return None
    message = read_input(record).message
    if not isinstance(message, ExperimentStarted):
        return None
    at = datetime.fromtimestamp(record.time_ns / 1e9, UTC)
    return Begun(sequence, at, message)
