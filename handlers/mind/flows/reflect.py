"""Sleep: an agent reviews recent decisions, one at a time, and proposes what to change.

A model that is shown no heuristic decides again on what happened. Its answer endorses the
heuristics that say the same; what it says each time may become one. No decision waits for
any of it, and a decision that waits for the model ends it.
"""

from datetime import datetime, timedelta

from handlers.mind.context import TurnContext
from handlers.mind.flows import consolidation, consult, endorsement, form
from handlers.mind.flows.consult import Consultation, consultation, manner_of
from handlers.mind.reply import reading
from handlers.mind.reply.reading import Said, Unread
from handlers.mind.stages import formation, prompts
from handlers.mind.stages.formation import Fault, Rule
from handlers.mind.stages.similar_heuristics import KnownHeuristic
from projections.folds import formation as lessons
from projections.folds.learning import heuristics
from schemas.messages.controls import SleepRequested
from schemas.messages.learning import CandidateRefused
from schemas.messages.notes import ControlApplied, ControlRefused, Handled
from schemas.messages.repertoire import RepertoireChange, Stand
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.messages.sleep import (
    Reflected,
    SleepBegun,
    SleepCause,
    SleepEnd,
    SleepEnded,
)
from schemas.ports.decision_context import DecisionContext
from schemas.state.agent import Timer
from schemas.state.lessons import PastDecision, Sleeping
from schemas.values import ids, vectors
from schemas.values.settings import ApplyPolicy
from schemas.values.subjects import SHARED_AGENT
from schemas.values.unicode_text import quoted

PATIENCE = timedelta(minutes=10)
"""How long an answer about a past event is waited for."""


_SAID_LIMIT = 1_000
"""How many characters of an answer are kept with a reflection."""


def requested(turn: TurnContext, control: SleepRequested) -> None:
    """Begin a sleep that was asked for, or refuse it with the reason."""
    token = control.token
    if turn.input.agent == SHARED_AGENT:
        detail = f"{quoted(token)} concerns one agent: name it"
        turn.emit(ControlRefused(control=token, reason="invalid", detail=detail))
        return
    # One sleep at a time: the state has one place for it.
    asleep = turn.state.sleeping
    if asleep is not None:
        detail = f"the agent sleeps since {asleep.begun_at:%H:%M:%S}: wait for its end"
        turn.emit(ControlRefused(control=token, reason="asleep", detail=detail))
        return
    settings = turn.settings.sleep
    limit = settings.limit if control.limit is None else control.limit
    decisions = _recent(turn, limit, control.since)
    turn.emit(ControlApplied(control=token, detail=f"{len(decisions)} decisions"))
    _begin(turn, decisions, control.apply or settings.apply, "asked")


def idle(turn: TurnContext, _: Timer) -> None:
    """Begin a sleep because nothing happened for long."""
    settings = turn.settings.sleep
    decisions = _recent(turn, settings.limit, None)
    _begin(turn, decisions, settings.apply, "idle")


def heard(turn: TurnContext, result: ModelAnswered | ModelFailed) -> None:
    """Handle the model's result about a past event, which the sleep waits for."""
    turn.emit(Handled(reason="recorded"))
    sleeping, about = _under_way(turn)
    if isinstance(result, ModelFailed):
        # One failure ends it: the next event would meet the same model.
        _end(turn, "model_failed", f"{result.reason}: {result.detail}"[:2_000])
    elif sleeping.for_rule:
        _take(turn, about, formation.read(result.text, about))
        _go_on(turn)
    else:
        said = reading.words(result, turn.input.agent)
        # One reply of another form says nothing of this event; the next may be readable.
        if isinstance(said, Unread):
            said = Said(words="", fields={})
        _reflect(turn, about, said)


def give_up(turn: TurnContext, _: Timer) -> None:
    """End the sleep, for the model does not answer."""
    _end(turn, "model_timeout", "no answer came")


def _recent(turn: TurnContext, limit: int, since: datetime | None) -> tuple[str, ...]:
    """Return the latest decisions that may be made again, oldest first."""
    found = [
        each.decision_id
        for each in turn.state.moments
        if since is None or each.at >= since
    ]
    # Not `found[-limit:]`, which with a limit of 0 would be all of them.
    return tuple(found[len(found) - min(limit, len(found)) :])


def _begin(
    turn: TurnContext,
    decisions: tuple[str, ...],
    policy: ApplyPolicy,
    cause: SleepCause,
) -> None:
    # Derived from its cause, so that a replay gives the same sleep the same id.
    sleep_id = ids.digest(b"sleep", turn.input.id.encode())[:12]
    turn.emit(
        SleepBegun(sleep_id=sleep_id, cause=cause, apply=policy, decisions=decisions)
    )
    _go_on(turn)


def _go_on(turn: TurnContext) -> None:
    """Ask about the next event; end if none is left or a decision needs the model."""
    sleeping = turn.state.sleeping
    assert sleeping is not None
    left = [each for each in turn.state.moments if each.decision_id in sleeping.left]
    if not left:
        _end(turn, "done")
        return
    # A model call of a sleep would compete with the answer that somebody waits for.
    if turn.state.pending:
        _end(turn, "woken", "an answer of the model is waited for")
        return
    consulted = _consulted(turn, left[0])
    if consulted is None:
        _end(turn, "no_model")
        return
    _ask_again(turn, left[0], consulted)


def _consulted(turn: TurnContext, moment: PastDecision) -> Consultation | None:
    turn.adopt(None)
    strategy = consult.strategy_in_force(turn)
    goals = turn.goals_of(moment.domain)
    return consultation(turn, strategy, goals, moment.domain)


def _ask_again(
    turn: TurnContext, moment: PastDecision, consulted: Consultation
) -> None:
    """Ask about the event as it was asked then, but without any candidates."""
    context = DecisionContext(
        event_id=moment.event_id, event_text=moment.text, event_source=moment.source
    )
    prompt = prompts.build(
        context, (), consulted.system, consulted.model, consulted.manner
    )
    turn.emit(
        consult.afterthought_asked(
            turn,
            consulted.model,
            "reflection",
            moment.decision_id,
            (prompt.system, prompt.user),
            PATIENCE,
        )
    )


def _reflect(turn: TurnContext, about: PastDecision, told: Said) -> None:
    """Compare the model's answer with the decision then, and with the heuristics now."""
    sleeping, _ = _under_way(turn)
    turn.adopt(None)
    manner = manner_of(turn.settings, consult.strategy_in_force(turn))
    said = prompts.read_answer(told, manner.ceiling, manner.prediction).text
    # `None` stays apart from "differs": without vectors nobody knows.
    likeness = _likeness(turn, about, said)
    limit = turn.settings.limits.endorse
    agrees = None if likeness is None else likeness >= limit
    known = endorsement.saying(turn, about.domain, said)
    turn.emit(
        Reflected(
            sleep_id=sleeping.id,
            decision_id=about.decision_id,
            text=said[:_SAID_LIMIT],
            done=about.said[:_SAID_LIMIT],
            similarity=likeness,
            agrees=agrees,
            alike=tuple(each.heuristic.heuristic_id for each in known),
        )
    )
    _endorse(turn, about, known)
    model = turn.settings.model
    # A rule is asked for only if the model said the same twice, and no heuristic says it.
    is_new = not (known or endorsement.is_proposed(turn, about.domain, said))
    if model is None or not is_new or not agrees or not _may_teach(turn, about):
        _go_on(turn)
        return
    question = formation.question(about)
    turn.emit(
        consult.afterthought_asked(
            turn, model, "reflection", about.decision_id, question, PATIENCE
        )
    )


def _endorse(
    turn: TurnContext, about: PastDecision, known: list[KnownHeuristic]
) -> None:
    """Endorse the heuristics that the model agreed with unseen, once for each decision."""
    if turn.settings.endorsement:
        id_ = about.decision_id
        fresh = [e for e in known if not endorsement.is_endorsed(turn, id_, e)]
        unseen = endorsement.holding(turn, fresh, about)
        endorsement.endorse(turn, id_, endorsement.Alike(unseen=unseen))


def _likeness(turn: TurnContext, about: PastDecision, said: str) -> float | None:
    """Return the cosine of two answers; None if their vectors cannot be compared."""
    # Two silences are alike, too, and have no vectors.
    if said == about.said:
        return 1.0
    if not (said and about.said):
        return 0.0
    vector = turn.aids.of(said)
    if vector is None or len(vector) != len(about.said_vector):
        return None
    return vectors.cosine(vector, about.said_vector)


def _may_teach(turn: TurnContext, about: PastDecision) -> bool:
    """Tell whether a heuristic may be made of it: a model's answer that nobody disliked."""
    state, id_ = turn.state, about.decision_id
    if not turn.settings.formation or about.path != "llm" or not about.said:
        return False
    if id_ in state.lessons and lessons.known(state, id_) is None:
        return False
    # In sorted order, as everything that iterates over a map of the state.
    people = (state.rapport[person] for person in state.rapport.sorted_keys())
    return all(each.deltas.get(id_, 0.0) >= 0.0 for each in people)


def _take(turn: TurnContext, about: PastDecision, rule: Rule | Fault) -> None:
    """Propose the heuristic of a rule, or emit why there is none."""
    sleeping, _ = _under_way(turn)
    made = rule if isinstance(rule, Fault) else _proposed(turn, about, rule)
    if isinstance(made, Fault):
        turn.emit(
            CandidateRefused(
                reason=made.reason,
                detail=made.detail,
                decision_id=about.decision_id,
                sleep_id=sleeping.id,
            )
        )
        return
    consolidation.propose_change(turn, made)


def _proposed(
    turn: TurnContext, about: PastDecision, rule: Rule
) -> RepertoireChange | Fault:
    condition, action = turn.aids.of(rule.condition), turn.aids.of(rule.text)
    if condition is None or action is None:
        return Fault("not_embedded", "the embedder brought no vectors of it")
    same = form.same_as(turn, about.domain, rule, condition, action)
    if same is not None:
        id_ = same.heuristic.heuristic_id
        return Fault("known", f"the heuristic {quoted(id_)} says the same")
    # Another id than a vote on the same decision would give: the two may both form one.
    id_ = about.decision_id
    formed = formation.formed(rule, f"sleep/{id_}", id_)
    stand = Stand(
        heuristic_id=formed.heuristic_id,
        content_hash=heuristics.content_hash(formed),
        name=formed.name,
        in_use=True,
        confidence=formed.confidence,
    )
    return RepertoireChange(
        kind="form",
        reason="said_again",
        domain=about.domain,
        after=(stand,),
        formed=formed,
    )


def _end(turn: TurnContext, reason: SleepEnd, detail: str = "") -> None:
    """Consolidate the heuristics, and emit the sleep's summary."""
    # However the sleep ends: consolidation needs no model.
    for change in consolidation.changes(_consolidation_input(turn)):
        consolidation.propose_change(turn, change)
    sleeping = turn.state.sleeping
    assert sleeping is not None
    agreed = [each.agrees for each in sleeping.reflections]
    turn.emit(
        SleepEnded(
            sleep_id=sleeping.id,
            reason=reason,
            detail=detail,
            reflected=len(agreed),
            agreed=agreed.count(True),
            differed=agreed.count(False),
            proposals=sleeping.proposals,
            applied=sleeping.applied,
            refused=sleeping.refused,
        )
    )


def _consolidation_input(turn: TurnContext) -> consolidation.ConsolidationInput:
    return consolidation.ConsolidationInput(
        state=turn.state,
        packs=turn.packs,
        belief_of=turn.belief,
        learning=turn.learning,
        limits=turn.settings.limits,
        now=turn.now,
    )


def _under_way(turn: TurnContext) -> tuple[Sleeping, PastDecision]:
    sleeping = turn.state.sleeping
    assert sleeping is not None
    assert sleeping.about is not None
    return sleeping, sleeping.about
