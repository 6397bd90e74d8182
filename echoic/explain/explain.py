"""Explanation of a decision: why it was made, and what would have changed it.

Pure, over what the log recorded of the decision. A supposition recomputes the recorded
gates and nothing else; where only a replay could tell more, the text says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from echoic.client.names import Names, named
from echoic.explain import characters
from echoic.explain.amounts import amount
from echoic.explain.gates import PASSES, REASONS, UNDELIVERED, value_of
from echoic.explain.moments import awaited, not_aloud, occasion
from echoic.explain.sums import Sum, but_for_what_was_said, sums
from echoic.explain.what_if import suppose
from handlers.mind.strategies.heuristic_first import TRIAL
from replay.recording.decisions import DecisionRecord
from schemas.messages.arms import RACE, SILENT, WATCH
from schemas.messages.decisions import Candidate, Completed, Decided, Dropped, Gate
from schemas.values.reasons import silence_of

_QUIET = "silence"
"""The gate of learned silence. It is open when silence is kept, unlike all others."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A candidate, and why it was chosen or not."""

    name: str
    arm: str
    probability: float
    similarity: float | None
    confidence: float | None
    chosen: bool
    why: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one decision."""

    verdict: str
    gates: tuple[Gate, ...]
    sums: tuple[Sum, ...]
    """Of which terms the numbers of the gates of relevance are made, as recorded."""
    candidates: tuple[Weighed, ...]
    counterfactual: str | None
    suppositions: Mapping[str, float] = field(default_factory=dict)
    supposed: str | None = None
    """The result that the suppositions would have led to."""


def explain(
    record: DecisionRecord,
    names: Names,
    suppositions: Mapping[str, float] | None = None,
) -> Explanation:
    """Explain a decision; with suppositions, over recomputed gates.

    Raises:
        EchoicError: a supposition names nothing that the decision was tested by.
    """
    decided = record.decided
    supposed = suppositions or {}
    gates = suppose(decided, supposed) if supposed else decided.gates
    return Explanation(
        verdict=verdict(record, names),
        gates=gates,
        sums=sums(decided),
        candidates=tuple(_weighed(decided, each, names) for each in decided.candidates),
        counterfactual=_counterfactual(record, names),
        suppositions=supposed,
        supposed=_led_to(record, gates, names) if supposed else None,
    )


def verdict(record: DecisionRecord, names: Names) -> str:
    """Return what was decided and why, with a further sentence for what was peculiar."""
    decided = record.decided
    came = _came_of(record, names) + _trimmed(record)
    return came + _tried(decided, names) + _claimed(decided)


def _trimmed(record: DecisionRecord) -> str:
    if not isinstance(record.ending, Completed) or not record.ending.out_of_character:
        return ""
    rules = ", ".join(record.ending.out_of_character)
    return f" Its words were trimmed, as they were out of character: {rules}."


def _claimed(decided: Decided) -> str:
    if decided.claimed is None:
        return ""
    return (
        f" It named {decided.claimed}, whom {decided.source} was not granted, and counts"
        f" as of nobody known."
    )


def _came_of(record: DecisionRecord, names: Names) -> str:
    if not record.is_final:
        if record.decided.path == "proactive":
            return f"Will speak by itself: it waits for {awaited(record.decided)}."
        if record.decided.path == "heuristic":
            who = named(record.decided.matched_heuristic_id, names)
            return f"Will speak by {who}: it waits for {awaited(record.decided)}."
        if record.asks_first is not None:
            return f"Waits for a yes to what it asked: “{record.asks_first}”"
        waits = f"Waits for the model's answer{characters.asked(record)}"
        if not _is_race(record.decided):
            return f"{waits}."
        who = named(record.decided.matched_heuristic_id, names)
        return f"{waits}; the heuristic {who} answers if that takes too long."
    if record.said is not None or characters.acts(record):
        is_told = record.undelivered is None
        return _spoke(record, names) if is_told else _unheard(record, names)
    if record.decided.arm == SILENT and record.decided.is_tried:
        return "Stayed silent, to see what comes of it."
    silence = record.silence or "error"
    reason = REASONS.get(silence, silence)
    if silence == "learned_silence":
        return _kept(record.decided, reason, names)
    if isinstance(record.ending, Dropped):
        detail = record.ending.detail
        more = "" if detail in ("", reason) else f" ({detail})"
        return f"{characters.came_to_nothing(record)}: {reason}{more}."
    closed = _closed_gate(record.decided.gates, silence)
    # The note of a gate without numbers tells for how long it is closed, and by whom.
    is_told = closed is not None and (closed.value is not None or closed.name in PASSES)
    figures = f" ({_figures(closed)})" if closed and is_told else ""
    return f"Stayed silent: {reason}{figures}.{characters.unanswered(record)}"


def _kept(decided: Decided, reason: str, names: Names) -> str:
    """Return which heuristic kept silence, and how probable asking the model was."""
    gate = next(each for each in decided.gates if each.name == _QUIET)
    who = named(decided.matched_heuristic_id, names)
    return (
        f"Stayed silent by {who}: {reason} ({_figures(gate)}; the model was to be asked"
        f" with probability {1.0 - decided.probability:.2f})."
    )


def _tried(decided: Decided, names: Names) -> str:
    if not decided.is_tried:
        return ""
    own = {SILENT: "stayed silent"}.get(decided.greedy_arm, "asked the model")
    heuristic = _heuristic(decided.greedy_arm)
    if heuristic is not None:
        own = f"spoken by {named(heuristic, names)}"
    return (
        f" Tried out ({decided.exploration} exploration, probability"
        f" {decided.probability:.2f}): the strategy itself would have {own}."
    )


def _closed_gate(gates: Sequence[Gate], silence: str = "") -> Gate | None:
    """Return the gate of a silence, else the first on the way that did not pass."""
    closed = [each for each in gates if not each.passed and each.name != _QUIET]
    of_it = (e for e in closed if silence_of(e.name) == silence)
    return next(iter((*of_it, *closed)), None)


def _counterfactual(record: DecisionRecord, names: Names) -> str | None:
    """Return the smallest change of one number that would change the outcome."""
    if not record.is_final:
        return None
    closed = _closed_gate(record.decided.gates)
    if record.said is not None:
        return _nearest(record.decided.gates)
    if record.silence == "learned_silence":
        return _unless_quiet(record.decided)
    if closed is None:
        return _nearly_eligible(record.decided, names)
    passes = PASSES.get(closed.name)
    also = f" {passes}" if passes else ""
    if closed.value is None or closed.threshold is None:
        return f"Would have passed but for {closed.name}.{also}"
    if closed.name == "confidence":
        who = _best(record.decided, closed, names)
        return (
            f"Would have spoken by {who} if threshold ≤ {closed.value:.2f}"
            f" (was {closed.threshold:.2f})."
        )
    # Both salience gates may be closed; opening one alone would change nothing.
    needed = (
        f"{value_of(gate, record.decided)} ≥ {amount(gate.name, gate.threshold)}"
        f" (was {amount(gate.name, gate.value)})"
        for gate in record.decided.gates
        if not gate.passed and gate.value is not None and gate.threshold is not None
    )
    further = f"Would have passed if {' and '.join(needed)}.{also}"
    return further + but_for_what_was_said(record.decided)


def _unless_quiet(decided: Decided) -> str:
    """Return the threshold above which the model would have been asked."""
    gate = next(each for each in decided.gates if each.name == _QUIET)
    return (
        f"Would have asked the model if threshold > {gate.value or 0.0:.2f}"
        f" (was {gate.threshold or 0.0:.2f})."
    )


def _led_to(record: DecisionRecord, gates: Sequence[Gate], names: Names) -> str:
    decided = record.decided
    closed = _closed_gate(gates)
    if closed is not None and closed.name != "confidence":
        reason = silence_of(closed.name)
        return f"would have stayed silent: {reason} ({_figures(closed)})"
    confidence = next((gate for gate in gates if gate.name == "confidence"), None)
    if confidence is None:
        if decided.path == "none":
            return "would have passed; a replay tells what comes of it"
        return "nothing changes: the decision did not rest on it"
    if confidence.passed and _is_race(decided):
        return "nothing changes: the race would be run all the same"
    if confidence.passed:
        return f"would have spoken by {_best(decided, confidence, names)}"
    # Without a trusted heuristic the strategy asks the model, if it may.
    if decided.path == "llm" or _llm(decided) is not None:
        return "would have asked the model"
    return f"would have stayed silent: {record.silence or 'low_confidence'}"


def _spoke(record: DecisionRecord, names: Names) -> str:
    decided = record.decided
    return _how(record, names) + _did(record) + not_aloud(decided)


def _unheard(record: DecisionRecord, names: Names) -> str:
    """Return by whom it was to speak, and why that came to nobody."""
    meant = _spoke(record, names).replace("Spoke by", "Was to speak by", 1)
    why = UNDELIVERED.get(record.undelivered or "", record.undelivered)
    return f"{meant} Nobody heard it: {why}."


def _did(record: DecisionRecord) -> str:
    """Return what a companion did besides, as a sentence."""
    action = record.answer.action
    if action is None or record.decided.layer is not None:
        return ""
    on = f" on {action.target}" if action.target else ""
    given = ", ".join(f"{name} {value}" for name, value in action.params.items())
    return f" Did {action.type}{on}{f' ({given})' if given else ''}."


def _how(record: DecisionRecord, names: Names) -> str:
    decided = record.decided
    if record.path == "heuristic":
        gate = next((g for g in decided.gates if g.name == "confidence"), None)
        figures = f" ({_figures(gate)})" if gate else ""
        who = named(record.heuristic_id, names)
        lost = getattr(record.ending, "model", None)
        race = f": the model {lost} had not answered in time" if lost else ""
        return f"Spoke by the heuristic {who}{figures}{race}.{_on_trial(decided)}"
    if decided.arm == WATCH:
        return "Told what came, as somebody asked to be told of it."
    if record.path == "proactive":
        return f"Spoke by itself: {occasion(decided.type)}."
    if decided.layer is not None:
        return characters.acted(record)
    if record.path == "acknowledged":
        return "Told the person what became of what they asked for."
    model = getattr(record.ending, "model", "the model")
    why = ": nothing learnt was trusted enough"
    if record.winner is not None:
        who = named(decided.matched_heuristic_id, names)
        why = f", in time before the heuristic {who} had to"
    elif decided.is_tried:
        why = ""
    return f"Spoke by the model {model}{why}.{_agreed(record, names)}"


def _on_trial(decided: Decided) -> str:
    """Return that a heuristic was given a trial, as a sentence."""
    if not any(each.name == TRIAL for each in decided.gates):
        return ""
    return (
        f" A trial (probability {decided.probability:.2f}): it was trusted once, and nothing"
        " else answers."
    )


def _agreed(record: DecisionRecord, names: Names) -> str:
    """Return the heuristics that the model was shown and agreed with, as a sentence."""
    ending = record.ending
    agrees = ending.agrees_with if isinstance(ending, Completed) else None
    if not agrees:
        return ""
    known = ", ".join(named(id_, names) for id_ in agrees)
    return f" It was shown {known} and said the same, which earns nothing."


def _figures(gate: Gate) -> str:
    if gate.value is None or gate.threshold is None:
        return gate.note or gate.name
    sign = "≥" if gate.value >= gate.threshold else "<"
    value, threshold = amount(gate.name, gate.value), amount(gate.name, gate.threshold)
    return f"{gate.name} {value} {sign} {threshold}"


def _nearest(gates: Sequence[Gate]) -> str | None:
    """Return the open gate with the smallest margin, as a sentence."""
    held = [gate for gate in gates if gate.margin is not None and gate.margin >= 0]
    if not held:
        return None
    gate = min(held, key=lambda each: each.margin or 0.0)
    return (
        f"Closest gate: {_figures(gate)}, by {amount(gate.name, gate.margin or 0.0)}."
    )


def _nearly_eligible(decided: Decided, names: Names) -> str | None:
    """Return the most similar heuristic, if it was not eligible, and why, as a sentence."""
    learnt = [
        each
        for each in decided.candidates
        if each.similarity is not None and not each.silence
    ]
    nearest = max(learnt, key=lambda each: each.similarity or 0.0, default=None)
    if nearest is None or nearest.eligible:
        return None
    name = named(_heuristic(nearest.arm), names)
    return f"The nearest heuristic, {name}, did not count: {nearest.reason}."


def _best(decided: Decided, gate: Gate, names: Names) -> str:
    """Return the name of the heuristic that the confidence gate tested."""
    if decided.path != "llm" and decided.matched_heuristic_id:
        return named(decided.matched_heuristic_id, names)
    for each in decided.candidates:
        if each.eligible and each.confidence is not None and not each.silence:
            tested = next((g for g in decided.gates if g.name == gate.name), gate)
            # Exact: the gate recorded this candidate's own, rounded number.
            if each.confidence == tested.value:
                return named(_heuristic(each.arm), names)
    return "the best candidate"


def _heuristic(arm: str) -> str | None:
    kind, _, rest = arm.partition(":")
    # `heuristic:<id>@<content hash>`.
    return rest.partition("@")[0] if kind == "heuristic" else None


def _is_race(decided: Decided) -> bool:
    return decided.arm.startswith(RACE)


def _llm(decided: Decided) -> Candidate | None:
    arms = (each for each in decided.candidates if each.arm.startswith("llm:"))
    return next((each for each in arms if each.eligible), None)


def _weighed(decided: Decided, candidate: Candidate, names: Names) -> Weighed:
    heuristic = _heuristic(candidate.arm)
    name = named(heuristic, names) if heuristic else candidate.arm.partition("@")[0]
    if candidate.arm.startswith(RACE):
        name = "race of the two"
    chosen = candidate.arm == decided.arm and decided.path != "none"
    return Weighed(
        name=name,
        arm=candidate.arm,
        probability=candidate.probability,
        similarity=candidate.similarity,
        confidence=candidate.confidence,
        chosen=chosen,
        why="taken" if chosen else _why_not(decided, candidate),
    )


def _why_not(decided: Decided, candidate: Candidate) -> str:
    if not candidate.eligible:
        return candidate.reason or "not eligible"
    if candidate.withheld:
        return "kept from the model, so that it could not copy it"
    if _is_race(decided) and candidate.arm in decided.arm:
        return "runs in the race"
    gate = next((g for g in decided.gates if g.name == "confidence"), None)
    is_tested = gate is not None and candidate.confidence == gate.value
    if is_tested and gate is not None and not gate.passed:
        return f"confidence {gate.value:.2f} < {gate.threshold:.2f}"
    if candidate.arm == SILENT:
        return "not taken: an answer was available"
    if candidate.probability:
        return f"the draw fell elsewhere (probability {candidate.probability:.2f})"
    return "another came first"
