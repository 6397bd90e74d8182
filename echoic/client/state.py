"""An agent's state at a place in the log, folded up to there.

The same fold as the worker's; the running instance is not asked.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import msgspec

from echoic.errors import NotFoundError
from schemas.state.agent import AgentState, PartitionState, SharedState
from schemas.state.character import NOBODY
from schemas.state.executive import Modulation, Restraint
from schemas.state.proposals import Proposal
from schemas.values.lazily import Lazily
from schemas.values.settings import UNSTARTED, MindSettings, StrategySpec
from schemas.values.subjects import partition_of
from schemas.values.vectors import Embedder
from streams.groups import groups
from streams.jetstream.checkpoints import Checkpoints
from streams.log import ReadableLog

if TYPE_CHECKING:
    from handlers import aids as aiding
    from handlers import fold_start, state_sources
    from projections.folds import partition as partition_fold
    from projections.folds.executive import personality, templates
else:
    # What folds is loaded by whoever folds: most commands show what others folded.
    aiding = Lazily("handlers.aids")
    fold_start = Lazily("handlers.fold_start")
    state_sources = Lazily("handlers.state_sources")
    partition_fold = Lazily("projections.folds.partition")
    personality = Lazily("projections.folds.executive.personality")
    templates = Lazily("projections.folds.executive.templates")

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class AgentSnapshot:
    """The state of an agent at a position."""

    agent: AgentState
    shared: SharedState
    position: int
    """The sequence of the last input folded."""
    is_past: bool = False
    """Whether it is that of a place in the log that was named."""

    @property
    def now(self) -> datetime | None:
        """The agent's time; None before its first input."""
        # It stands still between inputs, unless it is that of a recording.
        is_its_own = self.is_past or self.agent.clock
        return self.agent.now if is_its_own else datetime.now(UTC)

    def name_of(self, person: str) -> str:
        """Return a person's name as far as the agent knows it, else the token."""
        profile = self.agent.executive.memory.profiles.get(person)
        return (profile.name if profile else "") or person

    @property
    def strategy(self) -> StrategySpec | None:
        """The strategy in force; None before anything was started."""
        settings = self.shared.settings
        return self.agent.strategy or (settings.strategy if settings else None)

    @property
    def goals(self) -> tuple[str, ...]:
        """The goals for every event: the agent's own, else those of the instance."""
        settings = self.shared.settings
        if self.agent.goals is not None:
            return self.agent.goals
        return settings.goals if settings else ()

    @property
    def packs(self) -> list[str]:
        """The packs in force, each with its version."""
        packs = self.shared.packs.update(self.agent.packs)
        return [f"{name} {packs[name].version}" for name in sorted(packs)]


async def state_at(
    log: ReadableLog,
    agent: str,
    embedder: Embedder,
    *,
    sequence: int | None = None,
    at: datetime | None = None,
    checkpoints: Checkpoints | None = None,
    progress: Progress = lambda _: None,
) -> AgentSnapshot:
    """Return the state of an agent after the last input up to a sequence or a time.

    Raises:
        NotFoundError: that is before the agent's first input.
    """
    state = await partition_at(
        log,
        partition_of(agent),
        embedder,
        sequence=sequence,
        at=at,
        checkpoints=checkpoints,
        progress=progress,
    )
    # Now, an agent without inputs is simply new; in the past, it is a mistake to report.
    is_past = sequence is not None or at is not None
    if agent not in state.agents and is_past:
        await _raise_unborn(log, agent)
    known = state.agents.get(agent, AgentState())
    return AgentSnapshot(known, state.shared, state.position, is_past)


async def partition_at(
    log: ReadableLog,
    partition: int,
    embedder: Embedder,
    *,
    sequence: int | None = None,
    at: datetime | None = None,
    checkpoints: Checkpoints | None = None,
    progress: Progress = lambda _: None,
) -> PartitionState:
    """Return the state of a partition after the last input up to a sequence or a time."""
    provider = aiding.AidProvider(embedder, aiding.PackLibrary(log, embedder))
    # A checkpoint of the same code and embedder, if there is one, saves most of the fold.
    beginnings = fold_start.Beginnings(
        log, checkpoints, state_sources.state_code(embedder.digest)
    )
    state = (await beginnings.of(partition, until=sequence, at=at)).state
    await provider.fetch_packs_of(state)
    count = 0
    recorded = groups(log, partition, state.position, sequence)
    async for group, input_, aids in provider.for_recorded(recorded):
        if at is not None and input_.at > at:
            break
        state = partition_fold.fold_recorded(state, input_, group.outputs, aids)
        count += 1
        progress(count)
    return state


async def _raise_unborn(log: ReadableLog, agent: str) -> None:
    first = await log.page(f"ev.{partition_of(agent)}.in.{agent}.>", 0, 1)
    if first:
        raise NotFoundError(
            f"nothing of {agent!r} is known by then: its first input is"
            f" {first[0].sequence}, at {first[0].recorded_at.astimezone():%Y-%m-%d %_H:%M:%S}",
            next_step=f"echoic state {agent} --at {first[0].sequence}",
        )


def as_fields(remembered: AgentSnapshot, agent: str) -> dict[str, object]:
    """Return a state as fields for JSON; `v` grows when a field changes its meaning."""
    known, shared = remembered.agent, remembered.shared
    strategy = remembered.strategy
    return {
        "v": 1,
        "agent": agent,
        "position": remembered.position,
        "now": known.now,
        "session": known.session and known.session.id,
        "strategy": strategy and strategy.name,
        "strategy_parameters": strategy and strategy.parameters,
        "learning": known.learning(shared.settings or UNSTARTED).model_dump(),
        "proposals": [proposal_fields(each) for each in known.proposals],
        "goals": list(remembered.goals),
        "domain_goals": {
            domain: list(known.domain_goals[domain])
            for domain in sorted(known.domain_goals)
        },
        "biases": {name: known.biases[name] for name in sorted(known.biases)},
        "domain_biases": {
            domain: dict(sorted(known.domain_biases[domain].items()))
            for domain in sorted(known.domain_biases)
        },
        "packs": remembered.packs,
        "rapport": {
            person: known.rapport[person].value
            for person in known.rapport.sorted_keys()
        },
        "personality": personality_fields(known, shared.settings or UNSTARTED),
        "executive": _executive_fields(known, remembered.now),
        "character": character_fields(known),
        "beliefs": [_belief(known, key) for key in sorted(known.beliefs)],
        "granted": {
            source: list(known.executive.granted[source])
            for source in sorted(known.executive.granted)
        },
        "open_fires": len(known.fires),
        "shed": {
            source: known.intake[source].shed
            for source in known.intake.sorted_keys()
            if known.intake[source].shed
        },
        "waiting_for_model": len(known.pending),
        "timers": len(known.timers),
        "chain": known.chain,
    }


def character_fields(known: AgentState) -> dict[str, object] | None:
    """Return the body of a character, and what it does and is after; None if it is none."""
    found = known.character
    if found is NOBODY or found == NOBODY:
        return None
    plan, heard = found.plan, found.heard
    at = known.now
    return {
        "needs": {
            name: found.body.needs[name].now(at) if at else found.body.needs[name].value
            for name in sorted(found.body.needs)
        },
        "fields": {name: found.body.fields[name] for name in sorted(found.body.fields)},
        "doing": msgspec.to_builtins(found.doing),
        "idle_since": found.idle_since,
        "aims": [each.as_fields() for each in found.aims],
        "priorities": dict(sorted(found.priorities.items())),
        "tasks": [each.as_fields() for each in plan.left],
        "builds": [each.as_fields() for each in plan.builds],
        "conversation": heard.conversation if heard is not None else None,
        "waits_for_model": sorted(found.asked),
        "thinks_at": found.due,
        "conversations": [
            msgspec.to_builtins(each) for each in found.place.conversations
        ],
        "acts": [msgspec.to_builtins(each) for each in found.autonomy.acts[-5:]],
        "routines": len(found.autonomy.routines),
    }


_H = TypeVar("_H", Restraint, Modulation)


def in_force(held: Iterable[_H], now: datetime | None) -> list[_H]:
    """Return what has not lapsed."""
    return [each for each in held if each.until is None or not now or now < each.until]


def _executive_fields(known: AgentState, now: datetime | None) -> dict[str, object]:
    """Return what keeps the agent from speaking, and what it is yet to say."""
    held = known.executive
    return {
        "restraints": [
            {
                "mode": each.mode,
                "person": each.person,
                "until": each.until,
                "by": each.by,
            }
            for each in in_force(held.peace.restraints, now)
        ],
        "modulations": len(held.peace.modulations),
        "context": held.context and held.context.name,
        "waiting": len(held.waiting),
        "reminders": len(held.reminders.awaited),
    }


def proposal_fields(proposal: Proposal) -> dict[str, object]:
    """Return a proposal as fields for JSON."""
    return {
        "id": proposal.id,
        "status": proposal.status,
        "changes": [change.as_fields(whole=True) for change in proposal.changes],
        "evidence": proposal.evidence,
        "figures": dict(sorted(proposal.figures.items())),
        "by": proposal.by,
        "repertoire": proposal.repertoire and proposal.repertoire.as_fields(whole=True),
        "inferred": proposal.inferred and proposal.inferred.as_fields(whole=True),
        "character": proposal.character and proposal.character.as_fields(whole=True),
    }


def personality_fields(known: AgentState, settings: MindSettings) -> dict[str, object]:
    """Return what moves the traits; `echoic personality show` has the traits themselves."""
    executive = settings.executive
    own, active = known.executive.personality, known.executive.context
    now = known.now
    mood = now and personality.mood_at(own.mood, now, executive.mood_half_life_s)
    return {
        "template": templates.selected(known, executive) or None,
        "context": active.name if active is not None else None,
        "mood": mood and {"valence": mood.valence, "arousal": mood.arousal},
        "overrides": {
            who or "everybody": {
                trait: own.overrides[who][trait].amount
                for trait in sorted(own.overrides[who])
            }
            for who in own.overrides.sorted_keys()
        },
    }


def _belief(known: AgentState, key: str) -> dict[str, object]:
    belief = known.beliefs[key]
    heuristic_id, _, content_hash = key.partition("@")
    return {
        "heuristic_id": heuristic_id,
        "content_hash": content_hash,
        "confidence": belief.confidence,
        "declared": belief.declared,
        "fires": belief.fire_count,
        "successes": belief.success_count,
    }
