"""Compare one recording: verify it, ask other strategies, and run them in closed loop.

This is what runs in a process of its own, so its result holds only what the document needs
and can be pickled.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from evaluation.compare.charts import Curve
from evaluation.compare.closed_loop import (
    ClosedLoopRuns,
    ClosedLoopSummary,
    recorded_curves,
    summarized,
)
from evaluation.compare.document import Flip
from evaluation.compare.flips import flips
from evaluation.compare.past import Past, past_of
from evaluation.compare.recording_note import RecordingNote, note_of
from evaluation.compare.rows import BASELINE, Critical, asked, critical
from handlers.aids import AidProvider
from replay.closed_loop.decision import ClosedLoopDecision
from replay.closed_loop.run import Answers, ClosedLoopRun
from replay.closed_loop.simulation import Ending
from replay.open_loop.asked import LoggedDecision
from replay.process_pool import Progress
from replay.recording.outcomes import OutcomeSettings
from replay.recording.recorded_decisions import RecordedDecisions
from replay.recording.source import Recording
from replay.verify import Span, Verification, Verifying, as_in_file, verify
from schemas.codec.decode import UnreadableOutputError
from schemas.messages.experiments import Variant
from schemas.values.base import rfc3339
from streams.errors import LogDamaged

_READING, _DECIDING = 1, 3
"""Relative costs of reading an input and of answering it once, for the progress bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to compare, the same for every recording."""

    baseline: Variant
    """What it leaves open is what made the recording."""
    challengers: tuple[Variant, ...]
    outcome: OutcomeSettings = field(default_factory=OutcomeSettings)
    answers: Answers = field(default_factory=Answers)
    since: int | None = None
    """The input from which on challengers act; before, all is as it was recorded, and
    nothing is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResult:
    """What one recording came to."""

    recording: RecordingNote
    verification: Verification
    decisions: tuple[LoggedDecision, ...]
    """Those that reached a strategy where challengers act, without their contexts."""
    critical: Mapping[str, Critical]
    """The critical occasions, by the ids of the decisions at them."""
    recorded: RecordedDecisions
    """All of them, with what they came to."""
    flips: tuple[tuple[Flip, ...], ...]
    """Of each challenger."""
    closed_loops: tuple[ClosedLoopSummary, ...]
    """Of each challenger."""
    baseline: ClosedLoopSummary | None
    """Of the baseline without exploration; None if that is what was recorded."""
    predicted: Mapping[str, float]
    """The confidence of each heuristic that answered, by decision id."""
    curves: Mapping[str, Curve]
    """The recorded confidence of each heuristic over time."""
    names: Mapping[str, str]
    """What heuristics are called, by id."""


async def compared(
    recording: Recording, provider: AidProvider, plan: Plan, progress: Progress
) -> SessionResult:
    """Compare one recording.

    Raises:
        UnknownStrategyError: there is no such strategy.
        ModelMiss: mode `strict`, and a model's answer was not recorded.
        LogDamaged, UnreadableOutputError: it cannot be read, though it verified.
    """
    try:
        return await _compared(recording, provider, plan, progress)
    except (LogDamaged, UnreadableOutputError):
        verification = await verify(
            recording.log,
            Span.of(recording),
            provider,
            start=recording.start,
            expected_chain=recording.chain,
        )
        verification = as_in_file(verification, recording.altered, recording.last)
        # It verifies and yet cannot be read: the fault is not in the recording.
        if verification.is_identical:
            raise
        # The verification found the damage and names its place, which becomes the verdict.
        return await _unread(recording, plan, verification)


async def _compared(
    recording: Recording, provider: AidProvider, plan: Plan, progress: Progress
) -> SessionResult:
    """Read the recording for what was recorded, then again to answer every input anew."""
    strategies = (plan.baseline, *plan.challengers)
    since = max(plan.since or 0, recording.first)
    work = _Work(recording, len(plan.challengers), progress)
    past = await past_of(
        recording, strategies, plan.outcome, since, work.passing(_READING)
    )
    lives = _lives(plan, past)
    work.run(len(lives) - len(plan.challengers))
    verification, runs = await _runs(recording, provider, lives, past, work)
    reached = [each for each in asked(past.decisions) if each.record.sequence >= since]
    curves, called = recorded_curves(past.evidence, past.recorded)
    note, names = await note_of(recording, strategies)
    names |= called
    summaries = {
        life.index: summarized(
            decisions,
            ending,
            {each.record.id: each.odds[life.index] for each in reached},
            past.recorded,
            has_other_voice=life.index != BASELINE and life.variant.has_other_voice,
        )
        for life, (decisions, ending) in zip(lives, runs, strict=True)
    }
    own = summaries.pop(BASELINE, None)
    found = tuple(summaries.values())
    # Contexts and candidates are large, and the result goes from one process to another.
    later = past.recorded if plan.since is None else _later(past.recorded, since)
    brief = {each.id: each.brief() for each in later.records}
    recorded = replace(later, records=tuple(brief.values()))
    return SessionResult(
        recording=note,
        verification=verification,
        decisions=tuple(
            replace(each, record=brief[each.record.id], context=None)
            for each in reached
        ),
        critical=critical(reached),
        recorded=recorded,
        flips=tuple(
            flips(reached, index, recorded.outcomes, run.texts, names)
            for index, run in enumerate(found, start=1)
        ),
        closed_loops=found,
        baseline=own,
        predicted=_predicted(reached),
        curves=curves,
        names=names,
    )


def _later(recorded: RecordedDecisions, since: int) -> RecordedDecisions:
    """Return what was decided from an input on: what stays as recorded is not compared."""
    records = tuple(each for each in recorded.records if each.sequence >= since)
    outcomes = recorded.outcomes
    known = {each.id: outcomes[each.id] for each in records if each.id in outcomes}
    return replace(recorded, records=records, outcomes=known)


async def _unread(
    recording: Recording, plan: Plan, verification: Verification
) -> SessionResult:
    none = ClosedLoopSummary(acts=(), compared=0, drifted=0)
    note, _ = await note_of(recording, (plan.baseline, *plan.challengers))
    return SessionResult(
        recording=note,
        verification=verification,
        decisions=(),
        critical={},
        recorded=RecordedDecisions(),
        flips=((),) * len(plan.challengers),
        closed_loops=(none,) * len(plan.challengers),
        baseline=None,
        predicted={},
        curves={},
        names={},
    )


class _Work:
    """The progress of one recording over several passes, in inputs."""

    def __init__(self, recording: Recording, runs: int, progress: Progress) -> None:
        self._first = recording.first
        self._inputs = recording.last - recording.first + 1
        self._whole = _READING + _DECIDING * (1 + runs)
        self._begun = 0
        self._progress = progress

    def run(self, more: int) -> None:
        """Count so many runs more."""
        self._whole += _DECIDING * more

    def passing(self, weight: int) -> Callable[[int], None]:
        """Begin a pass of this weight; call the result with each input's sequence."""
        before, self._begun = self._begun, self._begun + weight

        def read_to(sequence: int) -> None:
            inputs = max(0, sequence - self._first + 1)
            done = (before * self._inputs + weight * inputs) // self._whole
            self._progress(done, self._inputs)

        return read_to


@dataclass(frozen=True, slots=True)
class _Life:
    """A strategy that is run in closed loop."""

    index: int
    variant: Variant
    answers: Answers
    since: int | None


def _lives(plan: Plan, past: Past) -> list[_Life]:
    """Return what is run: challengers, and the baseline if it is not what was recorded."""
    is_other = plan.baseline != Variant()
    tried = any(each.decided.is_tried for each in past.recorded.records)
    lives = [
        _Life(index, each, plan.answers, plan.since)
        for index, each in enumerate(plan.challengers, start=BASELINE + 1)
    ]
    if not (lives and (is_other or tried)):
        return lives
    # Models are asked anew for challengers alone; of the baseline most answers are there.
    asks = plan.answers.mode in ("strict", "requery")
    answers = Answers() if asks else plan.answers
    return [_Life(BASELINE, plan.baseline, answers, plan.since), *lives]


async def _runs(
    recording: Recording,
    provider: AidProvider,
    lives: Sequence[_Life],
    past: Past,
    work: _Work,
) -> tuple[Verification, list[tuple[list[ClosedLoopDecision], Ending]]]:
    """Verify the recording and run each strategy over it in closed loop.

    All is done in one pass, since they need the same embeddings. Only where models are
    really asked do they run one after the other, as they share one budget.
    """
    verifying = Verifying(
        Span.of(recording), recording.log.epoch, start=recording.start
    )
    own = [
        ClosedLoopRun(
            recording, each.variant, provider, answers=each.answers, since=each.since
        )
        for each in lives
    ]
    for each in own:
        each.begin(past.history, past.cassette)
    asks = any(each.answers.port for each in lives)
    passes = [[each] for each in own] if asks else [own]
    found: list[tuple[list[ClosedLoopDecision], Ending]] = []
    await provider.fetch_packs_of(recording.start)
    # Only the first pass verifies; without challengers one pass remains for that alone.
    for is_later, together in enumerate(passes or [[]]):
        runs, minds = ClosedLoopRuns(together), len(together) + (not is_later)
        progress = work.passing(_DECIDING * minds)
        async with aclosing(recording.groups()) as groups:
            async for group, input_, aids in provider.for_recorded(groups):
                if not (is_later or verifying.is_over):
                    verifying.take(group, input_, aids)
                await runs.take(group, input_, aids)
                progress(input_.sequence)
        found += await runs.end()
    verified = verifying.found(recording.chain)
    return as_in_file(verified, recording.altered, recording.last), found


def _predicted(decisions: Sequence[LoggedDecision]) -> dict[str, float]:
    """Return the confidence of the heuristic that answered, by decision id."""
    return {
        each.record.id: candidate.confidence
        for each in decisions
        if each.context is not None and each.decided.path == "heuristic"
        for candidate in each.context.candidates
        if candidate.arm == each.decided.arm
    }


def in_order(results: Sequence[SessionResult]) -> list[SessionResult]:
    """Return the results by agent and time, whatever order they were named in."""
    return sorted(results, key=_place)


def _place(result: SessionResult) -> tuple[str, str, str]:
    records = result.recorded.records
    began = rfc3339(records[0].at) if records else ""
    return result.recording.agent, began, result.recording.digest
