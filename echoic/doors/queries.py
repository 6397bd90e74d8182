"""Questions that an agent's state answers."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from echoic.client import heuristics as learnt
from echoic.client.heuristics import Learnt
from echoic.client.personality import character, now_of
from echoic.client.state import AgentSnapshot
from echoic.doors.requests import (
    FactsAsked,
    HeuristicAsked,
    HeuristicsAsked,
    Nothing,
    OfPersonAsked,
)
from echoic.doors.services import Reply, refusal
from handlers.aids import PackLibrary
from handlers.mind.stages import matching
from projections.folds import events
from projections.folds.learning import beliefs
from schemas.messages.sensing import Sensed
from schemas.state.evidence import Belief
from schemas.values.base import fields_of
from schemas.values.settings import UNSTARTED
from schemas.values.vectors import Embedder
from streams.log import ReadableLog


@dataclass(frozen=True, slots=True)
class AtHand:
    """What a question is answered from."""

    known: AgentSnapshot
    log: ReadableLog
    embedder: Embedder
    library: PackLibrary


async def personality(at_hand: AtHand, asked: OfPersonAsked) -> Reply:
    """Return the personality in force, towards a person if one is named."""
    known = at_hand.known
    packs = await learnt.packs_of(at_hand.log, known)
    found = character(known, packs, now_of(known.agent), asked.person)
    return {"accepted": True, "personality": found.as_fields()}


async def output(at_hand: AtHand, asked: Nothing) -> Reply:
    """Return what is being spoken, what is to be, and what was cut off."""
    known = at_hand.known.agent.executive
    begun = [each for each in known.speech.asked if each.begun_at is not None]
    waiting = [each for each in known.speech.asked if each.begun_at is None]
    return {
        "accepted": True,
        "speaking": bool(begun),
        "said": msgspec.to_builtins(begun[0]) if begun else None,
        "waiting": [msgspec.to_builtins(each) for each in waiting],
        "unsaid": [msgspec.to_builtins(each) for each in known.speech.unsaid],
    }


async def reminders(at_hand: AtHand, asked: OfPersonAsked) -> Reply:
    """Return what is to be said at its time, the soonest first."""
    held = sorted(
        at_hand.known.agent.executive.reminders.awaited, key=lambda each: each.due
    )
    rows = [
        msgspec.to_builtins(each, enc_hook=fields_of)
        for each in held
        if asked.person in (None, each.person)
    ]
    return {"accepted": True, "reminders": rows}


async def facts(at_hand: AtHand, asked: FactsAsked) -> Reply:
    """Return what was stated, the latest last."""
    about = (asked.about or "").casefold()
    rows = [
        msgspec.to_builtins(each)
        for each in at_hand.known.agent.executive.memory.facts
        if asked.person in (None, each.person)
        and about in f"{each.subject} {each.relation} {each.object}".casefold()
    ]
    return {"accepted": True, "facts": rows}


async def heuristic(at_hand: AtHand, asked: HeuristicAsked) -> Reply:
    """Return one heuristic."""
    rows = await learnt.learnt(at_hand.log, at_hand.known)
    found = [each for each in rows if each.id == asked.heuristic_id]
    if not found:
        return _unknown(asked.heuristic_id)
    return {"accepted": True, "heuristic": asdict(found[0])}


async def heuristics(at_hand: AtHand, asked: HeuristicsAsked) -> Reply:
    """Return the heuristics that the request selects."""
    rows = [
        each
        for each in await learnt.learnt(at_hand.log, at_hand.known)
        if asked.domain in (None, each.domain)
        and each.confidence >= asked.min_confidence
    ]
    if asked.heuristic_id is not None:
        rows = [each for each in rows if each.id == asked.heuristic_id]
        if not rows:
            return _unknown(asked.heuristic_id)
    found = [asdict(each) for each in rows]
    if asked.text is not None:
        found = await _like(at_hand, asked, rows)
    return {"accepted": True, "heuristics": found[: asked.limit]}


QUERIES: Mapping[str, Callable[[AtHand, Any], Awaitable[Reply]]] = {
    "personality": personality,
    "output": output,
    "reminders": reminders,
    "facts": facts,
    "heuristics": heuristics,
    "heuristic": heuristic,
}


def _unknown(heuristic_id: str) -> Reply:
    return refusal(
        "unknown_heuristic", f"there is no heuristic {heuristic_id!r} of this agent"
    )


async def _like(
    at_hand: AtHand, asked: HeuristicsAsked, rows: list[Learnt]
) -> list[dict[str, object]]:
    """Return the rows that match the event, each with its similarity."""
    assert asked.text is not None
    shared, agent = at_hand.known.shared, at_hand.known.agent
    settings, library = shared.settings or UNSTARTED, at_hand.library
    refs = shared.packs.update(agent.packs)
    digests = [refs[name].digest for name in sorted(refs)]
    await library.fetch(digests)
    packs = [library.packs[each] for each in digests if each in library.packs]
    event = Sensed(
        source=asked.source, type=asked.type, text=asked.text, fields=asked.fields
    ).checked()
    learning = agent.learning(settings)

    def belief(heuristic_id: str, content_hash: str) -> Belief:
        return beliefs.bounded_belief(
            agent, packs, learning, heuristic_id, content_hash
        )

    (vector,) = at_hand.embedder.embed([asked.text])
    domain = events.domain_of(packs, event)
    limit = settings.limits.match
    known = {each.id: each for each in rows}
    return [
        {
            **asdict(known[each.heuristic_id]),
            "similarity": each.similarity,
            "eligible": each.eligible,
            "reason": each.reason,
        }
        for each in matching.candidates(
            agent, domain, event, vector, belief, learning, limit
        )
        if each.heuristic_id in known
    ]
