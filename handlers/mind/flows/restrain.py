"""Restraining: what matters is not said all the same, for somebody asked for peace, or
because too much was said already.

Nothing of it is in force without the executive.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from operator import itemgetter

from msgspec.structs import replace

from handlers.mind.context import TurnContext
from handlers.mind.flows.consult import actions_of
from handlers.mind.stages import (
    completion,
    delivery,
    limits,
    modulation,
    relevance,
    salience,
)
from handlers.mind.stages.limits import Heard
from handlers.mind.stages.modulation import Moved, Topical
from handlers.mind.stages.salience import GATES, Assessment
from handlers.mind.stages.timing import URGENT, Ready, is_immediate
from projections.folds.events import sort_of
from projections.folds.executive import ignored, sayings, spending, templates
from projections.folds.learning.heuristics import content_in_force
from schemas.messages.decisions import Completed, Dropped, Gate, Relevance, Salience
from schemas.messages.sensing import Sensed
from schemas.packs import model_actions
from schemas.ports.decision_context import HeuristicCandidate, Odds
from schemas.state.agent import Pending
from schemas.state.executive import Waiting
from schemas.values.exact_math import round6
from schemas.values.personality import Trait
from schemas.values.reasons import Drop, ResponseType, Silence, silence_of

_COOLDOWN: Silence = "cooldown"
"""Why a heuristic is not eligible that answered a moment ago."""
_QUIP: tuple[Silence, ...] = ("busy", "recently_quipped")
"""Why one is not that only has a quip."""


def moved(turn: TurnContext, event: Sensed) -> Moved:
    """Return how an event must matter more than usual for now, or less."""
    held = turn.state.executive
    found = Moved()
    # Each only where there is any: nearly always nothing was asked for.
    if held.peace.modulations:
        limit, domain = turn.settings.limits.match, turn.appearance.domain
        specific = turn.settings.executive.specific
        here = Topical(event, turn.aids.vector, limit, domain.called, specific)
        found = modulation.moved(held.peace.modulations, turn.now, here)
    if held.peace.restraints:
        found = found.and_raised(limits.raised(held, _heard(turn, event)))
    if not turn.settings.executive.modulates:
        return found
    if held.context is not None:
        known = templates.contexts(turn.packs).get(held.context.name)
        found = found.and_raised(known.threshold if known is not None else 0.0)
    if not held.peace.ignored:
        return found
    share = ignored.kept(held.peace.ignored.get(sort_of(event)), turn.now)
    return replace(found, kept=round6(found.kept * share)) if share < 1.0 else found


def weighed(
    turn: TurnContext, event: Sensed, domain: str, kept: float
) -> tuple[Salience, bool]:
    """Return the salience of an event, and whether a like one was answered lately."""
    state, settings, vector = turn.state, turn.settings, turn.aids.vector
    alike, nearest = relevance.compared(
        state,
        settings,
        event,
        domain,
        vector=vector,
        now=turn.now,
        counts=sayings.comparable(state.executive, turn.appearance, event),
    )
    found = salience.weigh(
        state, settings, turn.appearance, event, vector, kept, alike=alike
    )
    return found, nearest >= settings.limits.match


_ONE = 1.0
_MILLIONTH = 0.000001
"""What must be left: one call, one token, a millionth of a dollar."""


def relevance_of(
    turn: TurnContext,
    event: Sensed,
    weighed: Salience,
    traits: Mapping[Trait, float],
    raised: float,
    *,
    was_said: bool,
) -> Relevance | None:
    """Weigh what speaks for an answer besides salience; None if nothing else counts."""
    settings, domain = turn.settings.executive, turn.appearance.domain
    if not settings.relevance:
        return None
    return relevance.weigh(
        weighed,
        settings,
        is_about_goal=bool(turn.relevant_goals(domain.name)),
        focus=relevance.focus(turn.state.executive, event.person, turn.aids.vector),
        was_said=was_said,
        threshold=salience.relevance_threshold(turn.settings, domain),
        raises=raised,
        by_traits=relevance.by_traits(traits, settings),
    )


def budget(turn: TurnContext) -> Gate | None:
    """Return the gate of the limit on models with the smallest share left; None if none."""
    spent, settings, now = (
        turn.state.executive.spent,
        turn.settings.executive,
        turn.now,
    )
    today = spending.of_today(spent, settings, now)
    calls = len(spending.recent(spent, now))
    guessed = f", {today.estimated} of them estimated" if today.estimated else ""
    most_of = (
        (settings.budget_calls, calls, _ONE, "calls in the last minute"),
        (settings.budget_tokens, today.tokens, _ONE, f"tokens today{guessed}"),
        (settings.budget_cost, today.cost, _MILLIONTH, "US dollars today"),
    )
    shares = [
        (used / most, _left_gate(most - used, least, f"{used:g} of {most:g} {what}"))
        for most, used, least, what in most_of
        if most
    ]
    return max(shares, key=itemgetter(0))[1] if shares else None


def _left_gate(left: float, least: float, note: str) -> Gate:
    left = round6(max(0.0, left))
    return Gate(
        name="budget",
        passed=left >= least,
        value=left,
        threshold=least,
        margin=round6(left - least),
        note=note,
    )


def within_budget(odds: Odds, spent: Gate | None) -> Odds:
    """Return the odds with the budget's gate; if it is closed, silence is for that."""
    if spent is None:
        return odds
    is_for_that = not spent.passed and odds.silence == "llm_unavailable"
    return replace(
        odds,
        gates=(*odds.gates, spent),
        silence="budget_exhausted" if is_for_that else odds.silence,
    )


def gated(
    turn: TurnContext, event: Sensed, own: Assessment, moved: Moved
) -> Assessment:
    """Return the assessment of an event with the gates of limits in their places."""
    settings = turn.settings.executive
    if own.silence == "informational":
        return own
    here = replace(
        _heard(turn, event, own.salience), is_watched=moved.watched is not None
    )
    held = turn.state.executive
    first = list(limits.before_salience(held, settings, here))
    if moved.suppressed is not None:
        first.append(
            modulation.suppressed_gate(moved.suppressed, here.passing("suppressed"))
        )
    said = _already_said(turn, event, own, here)
    last = [*said, *limits.after_salience(held, settings, here)]
    if not first and not last:
        return own
    intent, *others = own.gates
    gates = (intent, *first, *others, *last)
    # What was said already is told of, however little it matters that it goes on.
    silence = _closed(first) or _closed(said) or own.silence or _closed(last)
    return Assessment(own.salience, gates, silence, own.is_addressed)


def _already_said(
    turn: TurnContext, event: Sensed, own: Assessment, here: Heard
) -> tuple[Gate, ...]:
    """Return the gate of a matter of which something was said; empty if nothing was."""
    settings, appearance = turn.settings.executive, turn.appearance
    if not (settings.relevance and settings.again_s) or event.is_persons:
        return ()
    matters, is_unweighed = (
        turn.state.executive.sayings.matters,
        _is_unweighed(event, own),
    )
    found = sayings.known_matter(
        matters, appearance, event, settings, is_unweighed=is_unweighed
    )
    if found is None or found[0].at > turn.now:
        return ()
    return (limits.matter_gate(*found, here),)


def _is_unweighed(event: Sensed, found: Assessment) -> bool:
    """Tell whether nobody says what an event is worth: all that it has is its novelty."""
    return not event.salience and len(found.salience.dimensions) <= 1


def at_timer(
    turn: TurnContext,
    person: str | None,
    asked_by: str | None,
    *,
    is_always: bool = False,
    is_alert: bool = False,
) -> tuple[tuple[Gate, ...], Silence | None]:
    """Return the gates of what no event occasions, and why it is silent, if it is.

    Who asked for it has it pass as their own words would; what is said always does not mind
    how lately something was.
    """
    settings = turn.settings.executive
    here, held = Heard(turn.now, person, asked_by, is_alert), turn.state.executive
    gates = tuple(limits.before_salience(held, settings, here))
    if not is_always:
        gates = (*gates, *limits.after_salience(held, settings, here))
    return gates, _closed(gates)


def is_kept(turn: TurnContext, held: Waiting) -> bool:
    """Tell whether an answer waits on for the end of a mute: somebody asked for it."""
    stopped_by = stopped(turn, held) if held.answer.asked_by is not None else None
    return stopped_by is not None and stopped_by[0] == "muted"


def cooled(
    turn: TurnContext,
    event: Sensed,
    found: Salience,
    candidates: tuple[HeuristicCandidate, ...],
) -> tuple[HeuristicCandidate, ...]:
    """Return the candidates, those not eligible that answered too recently.

    Nor is a quip eligible while the person is busy, or soon after another.
    """
    if not candidates:
        return candidates
    # Before anything is made: nearly no heuristic is a quip.
    if any(each.response_type == "quip" for each in candidates):
        closed = _closed_to_quips(turn, event, found)
        if closed is not None:
            candidates = tuple(_unless_quip(each, closed[1]) for each in candidates)
    if not turn.state.executive.sayings.said:
        return candidates
    recent = _cooling(turn, event, found)
    return tuple(
        replace(each, eligible=False, reason=_COOLDOWN)
        if each.eligible and each.heuristic_id in recent and not _is_urgent(each)
        else each
        for each in candidates
    )


def only_urgent(
    candidates: Iterable[HeuristicCandidate],
) -> tuple[HeuristicCandidate, ...]:
    """Return those that may answer and are urgent, which pass the rate."""
    return tuple(each for each in candidates if each.eligible and _is_urgent(each))


def is_worthwhile(
    turn: TurnContext,
    event: Sensed,
    found: Assessment,
    candidates: Callable[[], Iterable[HeuristicCandidate]],
) -> bool:
    """Tell whether a trusted heuristic is sure enough for an event of no worth but novelty.

    Its confidence takes the place of salience, of which as little counts if it is ignored.
    """
    is_closed = found.silence in ("below_relevance", "habituated")
    is_weighing = turn.settings.executive.relevance
    if not (is_weighing and is_closed and _is_unweighed(event, found)):
        return False
    share = found.salience.share or 1.0
    least = max(each.threshold or 0.0 for each in found.gates if each.name in GATES)
    return any(
        each.eligible and round6(each.confidence * share) >= least
        for each in candidates()
    )


def waiting(
    turn: TurnContext, event: Sensed, candidates: Iterable[HeuristicCandidate]
) -> tuple[Gate, Silence] | None:
    """Return the closed gate of the only heuristics that fit, with its reason.

    None if one of them may answer, or none is kept from it by a limit.
    """
    settings = turn.settings.executive
    known = tuple(candidates)
    if any(each.eligible for each in known):
        return None
    resting = [each.heuristic_id for each in known if each.reason == _COOLDOWN]
    if resting:
        recent = _cooling(turn, event)
        return limits.heuristic_gate(recent[resting[0]], settings), _COOLDOWN
    if any(each.reason in _QUIP for each in known):
        return _closed_to_quips(turn, event)
    return None


def too_late(turn: TurnContext, pending: Pending, end: Completed) -> Dropped | None:
    """Return the end of a decision whose answer may not be said any more."""
    rival = pending.rival if end.path == "heuristic" else None
    if rival is not None:
        gone = _withdrawn(turn, rival.heuristic_id, rival.content_hash)
        if gone is not None:
            return completion.withheld(pending, *gone)
    is_threat = end.response_type == "alert"
    here = Heard(turn.now, pending.person, pending.speaker, is_threat)
    reason = limits.stopped(turn.state.executive, here)
    reason = reason or _quipped(turn, end.response_type, here)
    return completion.withheld(pending, *reason) if reason is not None else None


def stopped(turn: TurnContext, held: Waiting) -> tuple[Drop, str] | None:
    """Return why an answer that waited may not be said now, with the detail."""
    answer, of = held.answer, held.heuristic
    is_alert = answer.response_type == "alert"
    here = Heard(turn.now, answer.person, answer.asked_by, is_alert)
    gone = _undeclared(turn, held)
    if of is not None:
        gone = _withdrawn(turn, answer.matched_heuristic_id or "", of.content_hash)
    stopped_by = gone or limits.stopped(turn.state.executive, here)
    return stopped_by or _quipped(turn, answer.response_type, here)


def _undeclared(turn: TurnContext, held: Waiting) -> tuple[Drop, str] | None:
    """Return why what a model had ready to do is not done any more: no pack declares it."""
    action = held.answer.action
    if held.answer.path != "llm" or action is None:
        return None
    target = {"target": action.target} if action.target is not None else {}
    wanted = model_actions.Wanted(action.type, {**target, **action.params})
    found = model_actions.checked(wanted, actions_of(turn.packs))
    return ("cancelled", found) if isinstance(found, str) else None


def _withdrawn(
    turn: TurnContext, heuristic_id: str, content_hash: str
) -> tuple[Drop, str] | None:
    """Return why a heuristic's words are not said any more that it had ready.

    Whoever froze it, changed its words or took its pack away meant these as well.
    """
    in_force = content_in_force(turn.state, turn.packs, heuristic_id)
    if in_force is None:
        return "cancelled", f"heuristic {heuristic_id} is in force no more"
    if in_force != content_hash:
        return "cancelled", f"heuristic {heuristic_id} was changed meanwhile"
    if turn.life(heuristic_id, content_hash) == "frozen":
        return "cancelled", f"heuristic {heuristic_id} was frozen meanwhile"
    return None


def _closed_to_quips(
    turn: TurnContext, event: Sensed, found: Salience | None = None
) -> tuple[Gate, Silence] | None:
    """Return the gate that is closed to quips for the event, with its reason."""
    settings = turn.settings.executive
    here = _heard(turn, event, found)
    closed = delivery.closed_to_quips(
        turn.state.executive, settings.quip_interval_s, event.person, turn.now
    )
    return None if closed is None or here.passing(closed[0].name) else closed


def _unless_quip(each: HeuristicCandidate, reason: Silence) -> HeuristicCandidate:
    if not each.eligible or each.response_type != "quip":
        return each
    return replace(each, eligible=False, reason=reason)


def _quipped(
    turn: TurnContext, response_type: ResponseType, here: Heard
) -> tuple[Drop, str] | None:
    """Return why a quip that took its time is not said any more, with the detail."""
    if response_type != "quip" or here.passing("quip"):
        return None
    waited_s = delivery.since_quip_s(turn.state.executive, turn.now)
    if waited_s is None or waited_s >= turn.settings.executive.quip_interval_s:
        return None
    return "cooldown", f"{waited_s:g} s after another quip"


def cool_at(turn: TurnContext, answer: Ready, source: str = "") -> datetime:
    """Return when the cooldown is over that an answer has to wait for; now if it has not.

    What is urgent passes: of one `source` so many times an hour, unless it is a heuristic's.
    """
    held, settings = turn.state.executive, turn.settings.executive
    if answer.is_addressed or answer.is_asked_for:
        return turn.now
    if is_immediate(answer) and limits.is_heeded(held, settings, source, turn.now):
        return turn.now
    return limits.cool_at(held, settings, turn.now)


def _cooling(
    turn: TurnContext, event: Sensed, found: Salience | None = None
) -> dict[str, float]:
    settings, here = turn.settings.executive, _heard(turn, event, found)
    held, appearance = turn.state.executive, turn.appearance
    others = partial(sayings.of_others, held.sayings.matters, appearance, event)
    return dict(limits.cooling(held, settings, here, others))


def _is_urgent(candidate: HeuristicCandidate) -> bool:
    return candidate.response_type == "alert" or candidate.urgency >= URGENT


def _heard(turn: TurnContext, event: Sensed, found: Salience | None = None) -> Heard:
    """Return what limits see of an event, whose salience is found already or does not count."""
    if found is None:
        return Heard(turn.now, event.person, event.speaker, is_threat=False)
    urgency = salience.urgency(event.urgency, found.dimensions)
    settings, held = turn.settings.executive, turn.state.executive
    is_urgent = urgency >= URGENT and limits.is_heeded(
        held, settings, event.source, turn.now
    )
    is_threat, speaker = found.is_threat, event.speaker
    return Heard(turn.now, event.person, speaker, is_threat, is_urgent)


def _closed(gates: Iterable[Gate]) -> Silence | None:
    """Return the reason of the first gate that is closed."""
    for each in gates:
        if not each.passed:
            return silence_of(each.name)
    return None
