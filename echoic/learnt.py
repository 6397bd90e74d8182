"""What an agent goes by: its heuristics, how far each is trusted, and why.

Its rule: folded from the log, so it is there whether or not the read models are.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from echoic.remembering import Progress, Remembered
from handlers.aids import Bringer, PackLibrary
from projections.folds import beliefs
from replay.sessions import Step, steps
from schemas.identity import heuristic_id
from schemas.learning import FeedbackApplied, LifecycleChanged, OutcomeObserved
from schemas.packs import Pack, content_hash, from_blob
from schemas.settings import LearningSettings
from schemas.state import PartitionState, Taught, belief_key
from schemas.subjects import partition_of
from schemas.vectors import Embedder
from streams.log import ReadableLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """One heuristic as it stands."""

    id: str
    name: str
    domain: str
    origin: str
    """`pack` or `taught`."""
    condition: str
    when: str | None
    text: str
    confidence: float
    declared: float
    fires: int
    successes: int
    lifecycle: str
    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One step of a heuristic's confidence."""

    sequence: int
    at: str
    why: str
    detail: str
    before: float
    after: float


async def learnt(log: ReadableLog, known: Remembered) -> list[Learnt]:
    """Every heuristic that the agent goes by: of its packs, then what it was taught."""
    refs = known.shared.packs.update(known.agent.packs)
    found: list[Learnt] = []
    for name in sorted(refs):
        blob = await log.blob(refs[name].digest)
        if blob is not None:
            found.extend(_of_pack(from_blob(blob), known))
    for domain in sorted(known.agent.shelves):
        shelf = known.agent.shelves[domain].heuristics
        found.extend(_taught(shelf[id_], known) for id_ in sorted(shelf))
    return found


async def history(
    log: ReadableLog,
    agent: str,
    heuristic: str,
    embedder: Embedder,
    progress: Progress = lambda _: None,
) -> list[Change]:
    """Every change of a heuristic's confidence, and which message made it."""
    bringer = Bringer(embedder, PackLibrary(log, embedder))
    changes: list[Change] = []
    count = 0
    async for step in steps(log, partition_of(agent), bringer):
        count += 1
        progress(count)
        if step.agent == agent:
            changes.extend(_changes(step, heuristic))
    return changes


def _of_pack(pack: Pack, known: Remembered) -> Iterator[Learnt]:
    for each in pack.heuristics:
        yield _standing(
            known,
            id_=heuristic_id(pack.name, each.name),
            name=each.name,
            domain=pack.name,
            origin="pack",
            content=content_hash(each),
            declared=each.confidence,
            words=(each.condition, each.when, each.action.text),
        )


def _taught(taught: Taught, known: Remembered) -> Learnt:
    return _standing(
        known,
        id_=taught.id,
        name=taught.name,
        domain=taught.domain,
        origin="taught",
        content=taught.content_hash,
        declared=taught.declared,
        words=(taught.condition, taught.when, taught.text),
    )


def _standing(
    known: Remembered,
    *,
    id_: str,
    name: str,
    domain: str,
    origin: str,
    content: str,
    declared: float,
    words: tuple[str, str | None, str],
) -> Learnt:
    settings = known.shared.settings
    learning = settings.learning if settings else LearningSettings()
    belief = known.agent.beliefs.get(belief_key(id_, content))
    belief = belief or beliefs.initial(declared, learning)
    by_hand = known.agent.frozen.get(id_, False)
    condition, when, text = words
    return Learnt(
        id=id_,
        name=name,
        domain=domain,
        origin=origin,
        condition=condition,
        when=when,
        text=text,
        confidence=belief.confidence,
        declared=declared,
        fires=belief.fire_count,
        successes=belief.success_count,
        lifecycle=beliefs.lifecycle(belief, by_hand, learning),
        content_hash=content,
    )


def _changes(step: Step, heuristic: str) -> Iterator[Change]:
    """What a group changed of the confidence in a heuristic."""
    for output in step.outputs:
        message = output.message
        match message:
            case OutcomeObserved(heuristic_id=id_, outcome=outcome) if id_ == heuristic:
                why, detail = f"outcome {outcome}", message.reason or message.by
            case FeedbackApplied(heuristic_id=id_, value=value) if id_ == heuristic:
                why, detail = f"feedback {value:+g}", message.comment or message.actor
            case LifecycleChanged(heuristic_id=id_, after=life) if id_ == heuristic:
                why, detail = f"now {life}", f"before {message.before}"
            case _:
                continue
        key = belief_key(heuristic, message.content_hash or "")
        after = _confidence(step.after, output.agent, key)
        yield Change(
            sequence=step.sequence,
            at=output.at.isoformat(timespec="seconds"),
            why=why,
            detail=detail,
            before=_confidence(step.before, output.agent, key) or after or 0.0,
            after=after or 0.0,
        )


def _confidence(state: PartitionState, agent: str, key: str) -> float | None:
    known = state.agents.get(agent)
    belief = known.beliefs.get(key) if known else None
    return belief.confidence if belief else None
