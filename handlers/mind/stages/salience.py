"""Salience: does this event matter enough to answer, now?

S is the weighted mean of the dimensions that have a value: the sensor's hint, else the
pack's default for the event type, and computed novelty. S_eff = S * s with habituation
s = 1 - 0.9 e^(-t/tau), t since the last like event that passed: 0.1 at once, 1 in the end.
tau is 60 s in games, 180 s at work, 300 s at home, 120 s elsewhere, and 30 s in a burst of
5 like events within 10 s. An event passes at S_eff >= the relevance threshold; a threat of
0.8 or more and a person's own words always pass.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import get_args

from msgspec import Struct, structs

from projections.folds.events import BURST_COUNT, Appearance, Domain
from projections.folds.executive import known_facts
from schemas.messages.decisions import Gate, Relevance, Salience
from schemas.messages.sensing import Dimension, Intent, Sensed
from schemas.packs import conditions
from schemas.state.agent import AgentState, Habit, SourceMemory
from schemas.values import vectors
from schemas.values.exact_math import clamp, exp, power, round6, total
from schemas.values.reasons import Passer, Silence, passing
from schemas.values.settings import MindSettings
from schemas.values.vectors import Vector

# An event just repeated keeps 1 - 0.9 of its salience, so that it is never wholly muted.
_DEPTH = 0.9
_BURST_WINDOW_S = 10.0
_BURST_TAU_S = 30.0

GATES = ("intent", "relevance", "habituation")
"""The names of the gates tested here; others in a decision are its strategy's."""

_ABOVE_ALL = 1.0
"""The priority of a person's words, and what a threat's own value is added to: salience
ends at 1, so both are served before other events."""
_NEVER_FORGETS = 0.0

_NO_WEIGHTS: Mapping[Dimension, float] = {}
_INTENT_GATES: Mapping[Intent, Gate] = {
    intent: Gate(name="intent", passed=intent == "actionable", note=intent)
    for intent in get_args(Intent)
}


class Assessment(Struct, frozen=True):
    """An event's salience, the gates it was held against, and the one that it failed."""

    salience: Salience
    gates: tuple[Gate, ...]
    silence: Silence | None
    is_addressed: bool = False
    """Whether these are a person's own words, which expect an answer."""

    @property
    def is_threat(self) -> bool:
        """Whether the threat is high enough to pass every gate but that of intent."""
        return self.salience.is_threat

    @property
    def priority(self) -> float:
        """The priority of the event's asks: threats, then people, then by salience."""
        if self.is_threat:
            return _ABOVE_ALL + self.salience.dimensions.get("threat", 0.0)
        return _ABOVE_ALL if self.is_addressed else self.salience.effective


def weigh(
    state: AgentState,
    settings: MindSettings,
    appearance: Appearance,
    event: Sensed,
    vector: Vector | None,
    share: float = 1.0,
    *,
    alike: Sequence[float] | None = None,
) -> Salience:
    """Compute an event's salience; only a `share` of it may count for now.

    `alike` are its cosines to the source's last events, where they are known already.
    """
    domain = appearance.domain
    tau_s = domain.tau_s
    half_life_s = settings.novelty_half_life * tau_s
    dimensions = _dimensions(state, domain, event, vector, half_life_s, alike)
    score = _weighted_mean(dimensions, _weights(domain))
    habit, now = appearance.habit, state.now
    kept = sensitivity(habit, now, tau_s) if now else 1.0
    if share < 1.0:
        kept = round6(kept * share)
    return Salience(
        dimensions=dimensions,
        score=score,
        sensitivity=kept,
        effective=round6(score * kept),
        share=share if share < 1.0 else None,
    )


def assess(
    settings: MindSettings,
    domain: Domain,
    event: Sensed,
    salience: Salience,
    raised: float = 0.0,
    weighed: Relevance | None = None,
    *,
    is_watched: bool = False,
) -> Assessment:
    """Hold an event's salience against the gates of intent, relevance, habituation.

    `raised` is how much more than usual it must matter for now; `weighed` is what was added
    to salience, if more than that is weighed; whether somebody watches for it.
    """
    is_addressed = event.is_persons
    intent = _intent_gate(event, is_addressed, is_watched)
    # What only informs is no occasion; thresholds were never asked, so no other gate.
    if not intent.passed:
        return Assessment(salience, (intent,), "informational", is_addressed)
    # Both sides of a gate in six decimals, so that value and margin agree with `passed`.
    usual = relevance_threshold(settings, domain)
    threshold = round6(clamp(usual + raised, 0.0, 1.0) if raised else usual)
    score, effective = salience.score, salience.effective
    if weighed is not None:
        threshold = weighed.threshold
        added = score + total(weighed.terms.values())
        score, effective = round6(clamp(added, 0.0, 1.0)), weighed.score
    threat: tuple[Passer, ...] = ("threat",) if salience.is_threat else ()
    shown: tuple[Passer, ...] = (*threat, "own_words") if is_addressed else threat
    if is_watched:
        shown = (*shown, "watched")
    why = f"the threshold is moved by {raised:+.2f}" if raised else None
    relevance = _gate("relevance", score, threshold, shown, why)
    habituation = _gate("habituation", effective, threshold, shown, why)
    # Relevance first: an event that never mattered is not silent by habit.
    silence: Silence | None = None
    if not relevance.passed:
        silence = "below_relevance"
    elif not habituation.passed:
        silence = "habituated"
    gates = (intent, relevance, habituation)
    return Assessment(salience, gates, silence, is_addressed)


def let_through(found: Assessment, passer: Passer) -> Assessment:
    """Return an assessment with those gates open that such a passer passes."""
    gates = tuple(
        structs.replace(each, passed=True, note=excuse)
        if not each.passed and (excuse := passing(each.name, (passer,)))
        else each
        for each in found.gates
    )
    silence = None if all(each.passed for each in gates) else found.silence
    return structs.replace(found, gates=gates, silence=silence)


def novelty(
    memory: SourceMemory | None,
    vector: Vector | None,
    now: datetime | None = None,
    half_life_s: float = _NEVER_FORGETS,
    *,
    alike: Sequence[float] | None = None,
) -> float:
    """Return 1 - the highest cosine to the source's last events; 1 for the first of them.

    With a half-life, in seconds, each cosine is halved for every such span of its age.
    `alike` are the cosines, where they are known already.
    """
    if vector is None or memory is None or not memory.recent:
        return 1.0
    if alike is None:
        alike = vectors.likenesses(memory.recent, vector)
    if now is None or half_life_s <= _NEVER_FORGETS:
        most = max(alike)
    else:
        most = _highest_left(alike, memory.recent_at, now, half_life_s)
    return round6(clamp(1.0 - most, 0.0, 1.0))


def sensitivity(habit: Habit | None, now: datetime, tau_s: float) -> float:
    """Return the factor of salience, 0.1 (just repeated) to 1 (not habituated).

    `tau_s` is the time constant of recovery, in seconds.
    """
    if habit is None or habit.passed_at is None or habit.passed_at > now:
        # A pass that is still to come is of another time: a recording played again.
        return 1.0
    elapsed = (now - habit.passed_at).total_seconds()
    tau = min(tau_s, _BURST_TAU_S) if _in_burst(habit, now) else tau_s
    return round6(1.0 - _DEPTH * exp(-elapsed / tau))


def urgency(declared: float | None, dimensions: Mapping[Dimension, float]) -> float:
    """Return an event's urgency from 0 to 1: as declared, else by its salience.

    That is the higher of threat and actionability.
    """
    if declared is not None:
        return round6(declared)
    return round6(
        max(dimensions.get("threat", 0.0), dimensions.get("actionability", 0.0))
    )


def _highest_left(
    cosines: Sequence[float],
    times: Sequence[datetime],
    now: datetime,
    half_life_s: float,
) -> float:
    """Return the highest cosine after each faded by age; those without times stay."""
    # States of before times were kept hold vectors without them, which are the oldest.
    undated = len(cosines) - len(times)
    highest = max(cosines[:undated], default=-1.0)
    dated = zip(cosines[undated:], times, strict=True)
    for cosine, at in sorted(dated, key=itemgetter(0), reverse=True):
        # None fades to more than it was, and a power takes 4 µs: one or two are enough.
        if highest >= max(cosine, 0.0):
            break
        highest = max(highest, cosine * _left_of(at, now, half_life_s))
    return highest


def _left_of(at: datetime, now: datetime, half_life_s: float) -> float:
    """Return the weight left after an age; 0 for a time ahead, which is another clock's."""
    age_s = (now - at).total_seconds()
    return power(0.5, age_s / half_life_s) if age_s >= 0.0 else 0.0


def _dimensions(
    state: AgentState,
    domain: Domain,
    event: Sensed,
    vector: Vector | None,
    half_life_s: float,
    alike: Sequence[float] | None,
) -> dict[Dimension, float]:
    defaults = _defaults(state, domain, event)
    # The sensor's own hint goes before the pack's default.
    values: dict[Dimension, float] = {**defaults, **event.salience}
    known = state.sources.get(event.source)
    if "novelty" not in values:
        values["novelty"] = novelty(known, vector, state.now, half_life_s, alike=alike)
    # In one order everywhere: floats are added up in it, and the record holds it.
    return {name: round6(values[name]) for name in sorted(values)}


def _defaults(
    state: AgentState, domain: Domain, event: Sensed
) -> Mapping[Dimension, float]:
    """Return what the pack says such an event means, as things are now."""
    declared = domain.event_type
    if declared is None:
        return {}
    if not declared.salience_when:
        return declared.salience
    fields = {**known_facts.as_fields(state.executive), **event.fields}
    found = dict(declared.salience)
    # The first goes over those after it.
    for each in reversed(declared.salience_when):
        when = conditions.read(each.when)
        assert when is not None, "it has words"
        if conditions.holds(when, event.type, event.source, fields):
            found |= each.salience
    return found


def _in_burst(habit: Habit, now: datetime) -> bool:
    # One less than a burst, since the event at hand is not among them yet.
    latest = habit.seen_at[-(BURST_COUNT - 1) :]
    full = len(latest) == BURST_COUNT - 1
    return full and 0.0 <= (now - latest[0]).total_seconds() <= _BURST_WINDOW_S


def _weights(domain: Domain) -> Mapping[Dimension, float]:
    return domain.pack.pack.salience.weights if domain.pack else _NO_WEIGHTS


def _weighted_mean(
    values: Mapping[Dimension, float], weights: Mapping[Dimension, float]
) -> float:
    whole = weighted = 0.0
    for name, value in values.items():
        weight = weights.get(name, 1.0)
        whole += weight
        weighted += weight * value
    return round6(weighted / whole) if whole else 0.0


def _intent_gate(event: Sensed, is_addressed: bool, is_watched: bool) -> Gate:
    # A report on advice is information unless its sensor says otherwise; a person who
    # refers to what was said, and reports nothing, wants an answer.
    is_report = event.in_reply_to and not (is_addressed and event.outcome is None)
    intent = event.intent or ("informational" if is_report else "actionable")
    if is_watched and intent != "actionable":
        return Gate(name="intent", passed=True, note=passing("intent", ("watched",)))
    return _INTENT_GATES[intent]


def relevance_threshold(settings: MindSettings, domain: Domain) -> float:
    """Return the salience that an event must have: the pack's, else the settings'."""
    own = domain.pack.pack.salience.threshold if domain.pack else None
    return settings.relevance if own is None else own


def _gate(
    name: str,
    value: float,
    threshold: float,
    shown: tuple[Passer, ...],
    why: str | None,
) -> Gate:
    excuse = passing(name, shown)
    return Gate(
        name=name,
        passed=excuse is not None or value >= threshold,
        value=value,
        threshold=threshold,
        margin=round6(value - threshold),
        note=excuse or why,
    )
