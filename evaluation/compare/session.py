"""One recording, compared: replayed under its own strategy, asked of others, and lived.

It is what runs in a process of its own; its result holds only what the document needs.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from evaluation.compare.confidence_curves import believed
from evaluation.compare.document import Flip, StrategyPart
from evaluation.compare.flips import flips
from evaluation.compare.life import Curve, Life
from evaluation.compare.own_life import lived
from evaluation.compare.rows import asked, critical
from handlers.aids import Bringer
from handlers.mind.stages.executive import config_hash
from handlers.mind.strategies.spec import text_of
from replay.closed_loop.run import Answers
from replay.open_loop.asked import LoggedDecision, logged_state
from replay.recording.chronicle import Chronicle, Packs, chronicle
from replay.recording.outcomes import OutcomeSettings
from replay.recording.source import Recording
from replay.recording.standing import Standing, brought
from replay.verify import Span, Verification, verify
from schemas.codec.decode import UnreadableOutputError, read_input, read_output
from schemas.messages.controls import SessionStarted
from schemas.messages.experiments import Variant
from schemas.messages.notes import ControlApplied
from schemas.values.base import rfc3339
from schemas.values.subjects import SHARED_AGENT, parse
from streams.errors import LogDamaged
from streams.groups import Group

Progress = Callable[[int], None]
"""Told how many steps are done: an input answered again under the recorded strategy, or a
decision that others were asked about, or that a challenger lived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to compare, the same for every recording."""

    baseline: Variant
    """What it leaves open is what made the recording."""
    challengers: tuple[Variant, ...]
    outcome: OutcomeSettings = field(default_factory=OutcomeSettings)
    answers: Answers = field(default_factory=Answers)
    since: int | None = None
    """The input from which on challengers live; before, all is as it was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResult:
    """What one recording came to."""

    recording: "RecordingNote"
    verification: Verification
    decisions: tuple[LoggedDecision, ...]
    """Those that reached a strategy, without their contexts."""
    critical: frozenset[str]
    """The ids of those at critical occasions."""
    chronicle: Chronicle
    flips: tuple[tuple[Flip, ...], ...]
    """Of each challenger."""
    lives: tuple[Life, ...]
    """Of each challenger."""
    predicted: Mapping[str, float]
    """The confidence of each heuristic that answered, by decision id."""
    curves: Mapping[str, Curve]
    """The recorded confidence of each heuristic over time."""
    names: Mapping[str, str]
    """What heuristics are called, by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingNote:
    """What there is to say of a recording itself."""

    agent: str
    sessions: tuple[str, ...]
    title: str
    origin: str
    digest: str
    epoch: str
    first: int
    last: int
    packs: tuple[tuple[str, str, str], ...]
    """Name, version and digest of each pack in force at its start."""
    embedder: str
    seed: str
    strategies: tuple[StrategyPart, ...]
    """As they stand at its start: the baseline's, then each challenger's."""


async def compared(
    recording: Recording, bringer: Bringer, plan: Plan, progress: Progress
) -> SessionResult:
    """Compare one recording.

    Raises:
        UnknownStrategyError: there is no such strategy.
        LogDamaged, UnreadableOutputError: it cannot be read, though it verified.
    """
    verification = await verify(
        recording.log,
        Span(recording.partition, recording.first - 1, recording.last, recording.agent),
        bringer,
        start=recording.start,
        expected_chain=recording.chain,
        progress=progress,
    )
    try:
        return await _read(recording, bringer, plan, progress, verification)
    except (LogDamaged, UnreadableOutputError):
        if verification.is_identical:
            raise
        # The damage is what there is to say; where it is, the verification tells.
        return await _unread(recording, plan, verification)


async def _read(
    recording: Recording,
    bringer: Bringer,
    plan: Plan,
    progress: Progress,
    verification: Verification,
) -> SessionResult:
    decisions = []
    asking = logged_state(recording, (plan.baseline, *plan.challengers))
    async for decision in asking:
        decisions.append(decision)
        progress(verification.inputs + len(decisions))
    done = verification.inputs + len(decisions)
    told = await chronicle(with_packs(recording), recording.agent, plan.outcome)
    reached = asked(decisions)
    lives = await _lives(
        recording, bringer, plan, reached, told, lambda count: progress(done + count)
    )
    curves, names = await believed(recording, told)
    names = {**await _names(recording), **names}
    return SessionResult(
        recording=await _note(recording, plan),
        verification=verification,
        decisions=tuple(replace(each, context=None) for each in reached),
        critical=critical(reached),
        chronicle=told,
        flips=tuple(
            flips(reached, index, told.outcomes, life.texts, names)
            for index, life in enumerate(lives, start=1)
        ),
        lives=lives,
        predicted=_predicted(reached),
        curves=curves,
        names=names,
    )


async def _unread(
    recording: Recording, plan: Plan, verification: Verification
) -> SessionResult:
    none = Life(acts=(), compared=0, drifted=0)
    return SessionResult(
        recording=await _note(recording, plan),
        verification=verification,
        decisions=(),
        critical=frozenset(),
        chronicle=Chronicle((), {}),
        flips=((),) * len(plan.challengers),
        lives=(none,) * len(plan.challengers),
        predicted={},
        curves={},
        names={},
    )


async def _lives(
    recording: Recording,
    bringer: Bringer,
    plan: Plan,
    reached: Sequence[LoggedDecision],
    told: Chronicle,
    progress: Progress,
) -> tuple[Life, ...]:
    """What each challenger does with its own consequences."""
    lives: list[Life] = []
    for index, challenger in enumerate(plan.challengers, start=1):
        done = sum(len(life.acts) for life in lives)
        life = await lived(
            recording,
            challenger,
            bringer,
            answers=plan.answers,
            since=plan.since,
            at_logged_state={each.decision_id: each.odds[index] for each in reached},
            told=told,
            progress=lambda count, before=done: progress(before + count),  # type: ignore[misc]  # mypy infers no default
        )
        lives.append(life)
    return tuple(lives)


def _predicted(decisions: Sequence[LoggedDecision]) -> dict[str, float]:
    """The confidence of the heuristic that answered, by decision id."""
    return {
        each.decision_id: candidate.confidence
        for each in decisions
        if each.context is not None and each.path == "heuristic"
        for candidate in each.context.candidates
        if candidate.arm == each.arm
    }


async def with_packs(recording: Recording) -> AsyncIterator[tuple[Group, Packs]]:
    """The recording's own groups, each with the packs in force at its input."""
    standing = await brought(
        Standing.of(recording.start, recording.agent), recording.log
    )
    async with aclosing(recording.groups()) as groups:
        async for group in groups:
            if parse(group.input.subject).agent not in (recording.agent, SHARED_AGENT):
                continue
            if group.input.sequence >= recording.first:
                yield group, {each.pack.name: each for each in standing.packs}
            outputs = [read_output(each) for each in group.outputs]
            if any(isinstance(each.message, ControlApplied) for each in outputs):
                changed = standing.after(read_input(group.input), outputs)
                standing = await brought(changed, recording.log)


async def _note(recording: Recording, plan: Plan) -> RecordingNote:
    standing = await brought(
        Standing.of(recording.start, recording.agent), recording.log
    )
    refs = {**standing.shared.packs, **standing.agent.packs}
    return RecordingNote(
        agent=recording.agent,
        sessions=recording.sessions,
        title=await _title(recording),
        origin=recording.origin,
        digest=recording.digest,
        epoch=str(recording.log.epoch),
        first=recording.first,
        last=recording.last,
        packs=tuple(
            (refs[name].name, refs[name].version, refs[name].digest)
            for name in sorted(refs)
        ),
        embedder=standing.settings.embedder,
        seed=standing.settings.seed,
        strategies=tuple(
            _strategy(each, standing) for each in (plan.baseline, *plan.challengers)
        ),
    )


def _strategy(variant: Variant, standing: Standing) -> StrategyPart:
    strategy = standing.asked(variant).strategy
    return StrategyPart(
        label=_label(variant, standing),
        personality=variant.personality,
        name=strategy.name,
        version=strategy.version,
        config=strategy.config,
        config_hash=config_hash(strategy),
    )


async def _names(recording: Recording) -> dict[str, str]:
    """What heuristics are called that are in force at its start, by id."""
    standing = await brought(
        Standing.of(recording.start, recording.agent), recording.log
    )
    names = {
        id_: heuristic.name
        for pack in standing.packs
        for id_, heuristic in zip(pack.ids, pack.pack.heuristics, strict=True)
    }
    shelves = standing.agent.shelves
    taught = {
        each.id: each.name for s in shelves.values() for each in s.heuristics.values()
    }
    return {**names, **taught}


async def _title(recording: Recording) -> str:
    first = await recording.log.record(recording.first)
    message = read_input(first).message if first is not None else None
    return message.title if isinstance(message, SessionStarted) else ""


def _label(variant: Variant, standing: Standing) -> str:
    name = text_of(variant.strategy or standing.strategy)
    return name if variant.personality is None else f"{name}, another personality"


def in_order(results: Sequence[SessionResult]) -> list[SessionResult]:
    """The results as they were lived, however they were named."""
    return sorted(results, key=_place)


def _place(result: SessionResult) -> tuple[str, str, str]:
    tellings = result.chronicle.tellings
    began = rfc3339(tellings[0].at) if tellings else ""
    return result.recording.agent, began, result.recording.digest
