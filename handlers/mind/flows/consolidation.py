"""Consolidation: merge heuristics that say the same, and retire those of no use.

Only learnt and taught heuristics are merged away or retired as stale or never fired; of a
pack's heuristics only one that failed too often, and none that its author locked. Each
change is proposed; the agent's policy may apply it where nothing trusted goes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from msgspec.structs import replace

from handlers.mind.context import TurnContext
from handlers.mind.flows import consult, propose
from handlers.mind.flows.consult import threshold_of
from handlers.mind.stages import similar_heuristics
from handlers.mind.stages.similar_heuristics import KnownHeuristic
from projections.folds import proposals
from projections.folds.learning import beliefs, heuristics
from schemas.messages.learning import ProposalMade
from schemas.messages.repertoire import ChangeReason, RepertoireChange, Stand
from schemas.packs import conditions
from schemas.packs.compiled import CompiledPack
from schemas.ports.decision_context import DecisionContext
from schemas.state.agent import AgentState
from schemas.state.evidence import Belief
from schemas.state.taught import Taught
from schemas.values import ids, vectors
from schemas.values.exact_math import round6
from schemas.values.learning_settings import LearningSettings
from schemas.values.settings import MatchLimits

_SCAN_LIMIT = 512
"""How many taught heuristics of a domain are examined: each is compared with all others."""

_ENOUGH = 5.0
"""So many observations, besides the prior, suffice to retire a deprecated heuristic."""

_BeliefOf = Callable[[str, str], Belief]


_PROPOSAL_LIMIT = 16
"""How many proposals one sleep makes at most; the next one goes on."""


@dataclass(frozen=True, slots=True)
class ConsolidationInput:
    """What a consolidation reads: the state and all that judges a heuristic."""

    state: AgentState
    packs: Sequence[CompiledPack]
    belief_of: _BeliefOf
    learning: LearningSettings
    limits: MatchLimits
    now: datetime

    def is_used(self, heuristic_id: str, content_hash: str) -> bool:
        """Tell whether a heuristic may fire at all."""
        return self.life(heuristic_id, content_hash) != "frozen"

    def life(self, heuristic_id: str, content_hash: str) -> str:
        """Return a heuristic's lifecycle."""
        belief = self.belief_of(heuristic_id, content_hash)
        by_hand = heuristic_id in self.state.frozen
        return beliefs.lifecycle(belief, by_hand, self.learning)

    def observations(self, heuristic_id: str, belief: Belief) -> float:
        """Return the weight of the evidence: alpha + beta less the prior's kappa."""
        its = beliefs.terms_of(self.state, self.packs, heuristic_id)
        kappa = beliefs.learning_under(self.learning, its).kappa
        return round6(belief.alpha + belief.beta - kappa)


def changes(given: ConsolidationInput) -> Iterator[RepertoireChange]:
    """Yield the changes to propose: merges, then retirements.

    No heuristic is part of two: the one that a merge keeps must not be retired by another.
    """
    touched: dict[str, None] = {}
    for change in (*_merges(given), *_retirements(given)):
        its = {each.heuristic_id: None for each in change.before}
        if not any(id_ in touched for id_ in its):
            touched |= its
            yield change


def _merges(given: ConsolidationInput) -> Iterator[RepertoireChange]:
    for domain in sorted(given.state.shelves):
        for taught in _taught(given, domain):
            if not given.is_used(taught.heuristic_id, taught.content_hash):
                continue
            same = _same(given, taught)
            if same is not None:
                yield _merge(given, taught, same)


def _taught(given: ConsolidationInput, domain: str) -> list[Taught]:
    held = given.state.shelves[domain].heuristics
    return [held[id_] for id_ in sorted(held)][:_SCAN_LIMIT]


def _same(given: ConsolidationInput, taught: Taught) -> KnownHeuristic | None:
    """Return the heuristic to merge this one into: same situation and action, worth
    more.
    """
    if not (taught.vector and taught.action_vector):
        return None
    domain, vector, limit = taught.domain, taught.vector, given.limits.duplicate
    near = similar_heuristics.similar(
        given.state, given.packs, domain, vector, limit, by="condition"
    )
    return next((each for each in near if _goes_for(given, taught, each)), None)


def _goes_for(given: ConsolidationInput, taught: Taught, other: KnownHeuristic) -> bool:
    found = other.heuristic
    id_ = found.heuristic_id
    if id_ == taught.heuristic_id or not given.is_used(id_, found.content_hash):
        return False
    if meaning(found.when) != meaning(taught.when):
        return False
    if _likeness(other, taught) < given.limits.endorse:
        return False
    if found.action != taught.action:
        return False
    # A pack's heuristic always stays: its author maintains it.
    if given.state.taught(id_) is None:
        return True
    mine = _worth(given, taught.heuristic_id, taught.content_hash)
    # Strict, with the id as the last part: of two duplicates exactly one goes.
    return mine < _worth(given, id_, found.content_hash)


def _worth(
    given: ConsolidationInput, id_: str, content_hash: str
) -> tuple[float, float, str]:
    """Return the key by which the better of two is kept: evidence, confidence, then id."""
    belief = given.belief_of(id_, content_hash)
    return given.observations(id_, belief), belief.confidence, id_


def _merge(
    given: ConsolidationInput, taught: Taught, same: KnownHeuristic
) -> RepertoireChange:
    stays = stand(given, same.heuristic.heuristic_id, same.heuristic.content_hash)
    goes = stand(given, taught.heuristic_id, taught.content_hash)
    return RepertoireChange(
        kind="merge",
        reason="duplicate",
        domain=taught.domain,
        before=(stays, goes),
        after=(stays, _out(goes)),
        similarity=same.similarity,
        action_similarity=_likeness(same, taught),
    )


def _retirements(given: ConsolidationInput) -> Iterator[RepertoireChange]:
    for domain in sorted(given.state.shelves):
        for taught in _taught(given, domain):
            reason = _useless(given, taught)
            if reason is not None:
                yield _retire(
                    given, domain, taught.heuristic_id, taught.content_hash, reason
                )
    for pack in given.packs:
        for id_, content_hash in zip(pack.ids, pack.content_hashes, strict=True):
            is_locked = (
                beliefs.terms_of(given.state, given.packs, id_).locked is not None
            )
            if not is_locked and _failed(given, id_, content_hash):
                name = pack.pack.name
                yield _retire(given, name, id_, content_hash, "deprecated")


def _useless(given: ConsolidationInput, taught: Taught) -> ChangeReason | None:
    id_, content_hash = taught.heuristic_id, taught.content_hash
    if not given.is_used(id_, content_hash):
        return None
    if _failed(given, id_, content_hash):
        return "deprecated"
    belief = given.belief_of(id_, content_hash)
    if beliefs.is_stale(belief.last_fired, given.now, given.learning.stale_days):
        return "stale"
    days = given.learning.stale_days
    # 0 days switches it off; what was judged, or has no birth date, is not idle.
    if belief.fire_count or belief.signals or taught.since is None or not days:
        return None
    return "never_fired" if given.now - taught.since > timedelta(days=days) else None


def _failed(given: ConsolidationInput, id_: str, content_hash: str) -> bool:
    if given.life(id_, content_hash) != "deprecated":
        return False
    belief = given.belief_of(id_, content_hash)
    return given.observations(id_, belief) >= _ENOUGH


def _retire(
    given: ConsolidationInput,
    domain: str,
    id_: str,
    content_hash: str,
    reason: ChangeReason,
) -> RepertoireChange:
    goes = stand(given, id_, content_hash)
    return RepertoireChange(
        kind="retire", reason=reason, domain=domain, before=(goes,), after=(_out(goes),)
    )


def stand(given: ConsolidationInput, heuristic_id: str, content_hash: str) -> Stand:
    """Return a heuristic's present name, confidence and use, for the record of a
    proposal.
    """
    return Stand(
        heuristic_id=heuristic_id,
        content_hash=content_hash,
        name=_name(given, heuristic_id),
        in_use=True,
        confidence=given.belief_of(heuristic_id, content_hash).confidence,
    )


def _out(stand: Stand) -> Stand:
    return replace(stand, in_use=False)


def _name(given: ConsolidationInput, heuristic_id: str) -> str:
    found = heuristics.find(given.state, given.packs, heuristic_id)
    assert found is not None
    return found.name


def _likeness(known: KnownHeuristic, taught: Taught) -> float:
    action = known.heuristic.action_vector
    return vectors.cosine(action, taught.action_vector) if action else 0.0


@lru_cache(maxsize=4096)
def meaning(when: str | None) -> tuple[object, ...]:
    """Return the normal form of a `when`: equal for texts that mean the same."""
    return conditions.meaning(conditions.parse(when) if when else None)


def propose_change(turn: TurnContext, change: RepertoireChange) -> None:
    """Propose a change that was not proposed before; apply it if the policy says so."""
    sleeping = turn.state.sleeping
    assert sleeping is not None
    proposal_id = _proposal_id(change)
    is_known = proposals.find(turn.state, proposal_id) is not None
    if is_known or len(sleeping.proposals) >= _PROPOSAL_LIMIT:
        return
    is_applied = sleeping.apply == "safe" and _is_safe(turn, change)
    going = change.going if is_applied else ()
    made = ProposalMade(
        proposal_id=proposal_id,
        changes=(),
        evidence=_evidence(change),
        by="sleep",
        repertoire=change,
        sleep_id=sleeping.id,
        applied=is_applied or None,
    )
    if going:
        turn.watch(going[0].heuristic_id, going[0].content_hash, made)
    else:
        turn.emit(made)
    if is_applied and change.formed is not None:
        turn.emit(propose.proposed_heuristic(change.formed, change.domain, proposal_id))


def _proposal_id(change: RepertoireChange) -> str:
    """Return an id that is the same for the same change, so that nobody is asked twice."""
    named = (f"{e.heuristic_id}@{e.content_hash}/{e.in_use}" for e in change.after)
    parts = (change.kind, change.reason, *named)
    return f"sleep-{ids.digest(*(each.encode() for each in parts))[:8]}"


def _is_safe(turn: TurnContext, change: RepertoireChange) -> bool:
    """Tell whether a change removes no heuristic that answers by itself today."""
    turn.adopt(None)
    strategy = consult.strategy_in_force(turn)
    at_worst = DecisionContext(
        event_id="",
        event_text="",
        event_source="",
        personality_biases=turn.biases_of(change.domain),
        # The highest urgency gives the lowest threshold: what is trusted then counts as
        # trusted.
        urgency=1.0,
    )
    trusted = threshold_of(strategy, turn.settings, at_worst)
    return all(each.confidence < trusted for each in change.going)


def _evidence(change: RepertoireChange) -> str:
    names = ", ".join(each.name for each in change.going)
    match change.reason:
        case "duplicate":
            return f"{names} says the same as {change.before[0].name}"
        case "never_fired" | "stale":
            return f"{names} did not fire for long"
        case "deprecated":
            return f"{names} failed too often"
        case _:
            return "a model said the same twice, and no heuristic does"
