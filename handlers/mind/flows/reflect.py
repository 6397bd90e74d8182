"""Sleeping: an agent looks back, one event at a time, and proposes what to change.

A model that is shown no heuristic decides again on what happened. What it says by itself
speaks for the heuristics that say the same; what it says each time may become one. Nobody
waits for any of it, and whoever waits for the model ends it.
"""

from datetime import datetime, timedelta

from handlers.mind.context import Group
from handlers.mind.flows import consolidation, consult, endorsement, form
from handlers.mind.flows.consult import Consultation, consultation, manner_of
from handlers.mind.stages import formation, prompts
from handlers.mind.stages.formation import Fault, Rule
from handlers.mind.stages.similar_heuristics import Known
from projections.folds import formation as lessons
from projections.folds.learning import heuristics
from schemas.messages.controls import SleepRequested
from schemas.messages.learning import CandidateRefused
from schemas.messages.notes import ControlApplied, ControlRefused, Handled
from schemas.messages.repertoire import Formed, RepertoireChange, Stand
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.messages.sleep import (
    Moment,
    Reflected,
    SleepBegun,
    SleepCause,
    SleepEnd,
    SleepEnded,
    Sleeping,
)
from schemas.ports.decision_context import DecisionContext
from schemas.state.lessons import Lesson
from schemas.values import ids, vectors
from schemas.values.settings import ApplyPolicy
from schemas.values.subjects import SHARED_AGENT
from schemas.values.unicode_text import quoted

PATIENCE = timedelta(minutes=10)
"""So long an answer to an event of the past is worth having."""


SAID_LIMIT = 1_000
"""How many characters of an answer are kept with a reflection."""


def requested(group: Group, control: SleepRequested) -> None:
    """Sleep because somebody asked for it, or say why not."""
    token = control.token
    if group.taken.agent == SHARED_AGENT:
        detail = f"{quoted(token)} concerns one agent: name it"
        group.say(ControlRefused(control=token, reason="invalid", detail=detail))
        return
    asleep = group.state.sleeping
    if asleep is not None:
        detail = f"the agent sleeps since {asleep.begun_at:%H:%M:%S}: wait for its end"
        group.say(ControlRefused(control=token, reason="asleep", detail=detail))
        return
    settings = group.settings.sleep
    limit = settings.limit if control.limit is None else control.limit
    decisions = _recent(group, limit, control.since)
    group.say(ControlApplied(control=token, detail=f"{len(decisions)} decisions"))
    _begin(group, decisions, control.apply or settings.apply, "asked")


def idle(group: Group) -> None:
    """Sleep because nothing happened for long."""
    settings = group.settings.sleep
    decisions = _recent(group, settings.limit, None)
    _begin(group, decisions, settings.apply, "idle")


def heard(group: Group, result: ModelAnswered | ModelFailed) -> None:
    """Take in what a model says of an event of the past; it is still waited for."""
    group.say(Handled(reason="recorded"))
    sleeping, about = _under_way(group)
    if isinstance(result, ModelFailed):
        _end(group, "model_failed", f"{result.reason}: {result.detail}"[:2_000])
    elif sleeping.for_rule:
        _take(group, about, formation.read(result.text, _lesson(about)))
        _go_on(group)
    else:
        _reflect(group, about, result.text)


def give_up(group: Group) -> None:
    """Wait no longer for a model, nor ask it anything more."""
    _end(group, "model_timeout", "no answer came")


def _recent(group: Group, limit: int, since: datetime | None) -> tuple[str, ...]:
    """The latest decisions that may be made again, oldest first."""
    found = [
        each.decision_id
        for each in group.state.moments
        if since is None or each.at >= since
    ]
    return tuple(found[len(found) - min(limit, len(found)) :])


def _begin(
    group: Group, decisions: tuple[str, ...], policy: ApplyPolicy, cause: SleepCause
) -> None:
    sleep_id = ids.digest(b"sleep", group.taken.id.encode())[:12]
    group.say(
        SleepBegun(sleep_id=sleep_id, cause=cause, apply=policy, decisions=decisions)
    )
    _go_on(group)


def _go_on(group: Group) -> None:
    """Ask about the next event, or end if there is none, or somebody is in a hurry."""
    sleeping = group.state.sleeping
    assert sleeping is not None
    left = [each for each in group.state.moments if each.decision_id in sleeping.left]
    if not left:
        _end(group, "done")
        return
    if group.state.pending:
        _end(group, "woken", "an answer of the model is waited for")
        return
    consulted = _consulted(group, left[0])
    if consulted is None:
        _end(group, "no_model")
        return
    _ask_again(group, left[0], consulted)


def _consulted(group: Group, moment: Moment) -> Consultation | None:
    group.adopt(None)
    strategy = consult.strategy_in_force(group)
    goals = group.goals_of(moment.domain)
    return consultation(group, strategy, goals, moment.domain)


def _ask_again(group: Group, moment: Moment, consulted: Consultation) -> None:
    """Ask as on the day, but for what was known of such situations."""
    context = DecisionContext(
        event_id=moment.event_id, event_text=moment.text, event_source=moment.source
    )
    prompt = prompts.build(
        context, (), consulted.system, consulted.model, consulted.manner, group.draw
    )
    group.say(
        consult.afterthought_asked(
            group,
            consulted.model,
            "reflection",
            moment.decision_id,
            (prompt.system, prompt.user),
            PATIENCE,
        )
    )


def _reflect(group: Group, about: Moment, text: str) -> None:
    """Compare what a model says with what was done, and with all that is known."""
    sleeping, _ = _under_way(group)
    group.adopt(None)
    manner = manner_of(group.settings, consult.strategy_in_force(group))
    said = prompts.read_answer(text, manner.ceiling, manner.prediction).text
    likeness = _likeness(group, about, said)
    limit = group.settings.limits.endorse
    agrees = None if likeness is None else likeness >= limit
    known = endorsement.saying(group, about.domain, said)
    group.say(
        Reflected(
            sleep_id=sleeping.id,
            decision_id=about.decision_id,
            text=said[:SAID_LIMIT],
            done=about.said[:SAID_LIMIT],
            similarity=likeness,
            agrees=agrees,
            alike=tuple(each.heuristic_id for each in known),
        )
    )
    _endorse(group, about, known)
    model = group.settings.model
    is_new = not (known or endorsement.is_proposed(group, about.domain, said))
    if model is None or not is_new or not agrees or not _may_teach(group, about):
        _go_on(group)
        return
    question = formation.question(_lesson(about), group.settings.edition)
    group.say(
        consult.afterthought_asked(
            group, model, "reflection", about.decision_id, question, PATIENCE
        )
    )


def _endorse(group: Group, about: Moment, known: list[Known]) -> None:
    """Credit what a model said that was shown none of it, once for each decision."""
    if group.settings.endorsement:
        id_ = about.decision_id
        fresh = [e for e in known if not endorsement.is_endorsed(group, id_, e)]
        unseen = endorsement.holding(group, fresh, about, about.event_vector)
        endorsement.endorse(group, id_, endorsement.Alike(unseen=unseen))


def _likeness(group: Group, about: Moment, said: str) -> float | None:
    """How like two answers are; None if their vectors do not tell."""
    if said == about.said:
        return 1.0
    if not (said and about.said):
        return 0.0
    vector = group.aids.of(said)
    if vector is None or len(vector) != len(about.vector):
        return None
    return vectors.cosine(vector, about.vector)


def _may_teach(group: Group, about: Moment) -> bool:
    """Whether a heuristic may be made of what was said: a model's words nobody disliked."""
    state, id_ = group.state, about.decision_id
    if not group.settings.formation or about.path != "llm" or not about.said:
        return False
    if id_ in state.lessons and lessons.known(state, id_, group.settings) is None:
        return False
    people = (state.rapport[person] for person in state.rapport.sorted_keys())
    return all(each.deltas.get(id_, 0.0) >= 0.0 for each in people)


def _take(group: Group, about: Moment, rule: Rule | Fault) -> None:
    """Propose the heuristic that a model made of what it said each time."""
    sleeping, _ = _under_way(group)
    made = rule if isinstance(rule, Fault) else _proposed(group, about, rule)
    if isinstance(made, Fault):
        group.say(
            CandidateRefused(
                reason=made.reason,
                detail=made.detail,
                decision_id=about.decision_id,
                sleep_id=sleeping.id,
            )
        )
        return
    consolidation.propose_change(group, made)


def _proposed(group: Group, about: Moment, rule: Rule) -> RepertoireChange | Fault:
    condition, action = group.aids.of(rule.condition), group.aids.of(rule.text)
    if condition is None or action is None:
        return Fault("not_embedded", "the embedder brought no vectors of it")
    same = form.same_as(group, about.domain, rule, condition, action)
    if same is not None:
        return Fault(
            "known", f"the heuristic {quoted(same.heuristic_id)} says the same"
        )
    id_ = ids.learnt_heuristic_id(f"sleep/{about.decision_id}")
    formed = Formed(
        heuristic_id=id_,
        name=formation.name(rule.condition, id_, group.settings.edition),
        condition=rule.condition,
        when=rule.when,
        response_type=rule.response_type,
        text=rule.text,
        confidence=formation.CONFIDENCE,
        decision_id=about.decision_id,
        when_left_out=rule.when_left_out,
        due=rule.due,
    )
    stand = Stand(
        heuristic_id=id_,
        content_hash=heuristics.content_hash(
            rule.condition, rule.when, rule.text, None
        ),
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


def _end(group: Group, reason: SleepEnd, detail: str = "") -> None:
    """Tidy up, and say what the sleep came to."""
    for change in consolidation.changes(_house(group)):
        consolidation.propose_change(group, change)
    sleeping = group.state.sleeping
    assert sleeping is not None
    agreed = [each.agrees for each in sleeping.reflections]
    group.say(
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


def _house(group: Group) -> consolidation.House:
    return consolidation.House(
        state=group.state,
        packs=group.packs,
        belief_of=group.belief,
        learning=group.learning,
        limits=group.settings.limits,
        now=group.now,
    )


def _under_way(group: Group) -> tuple[Sleeping, Moment]:
    sleeping = group.state.sleeping
    assert sleeping is not None
    assert sleeping.about is not None
    return sleeping, sleeping.about


def _lesson(about: Moment) -> Lesson:
    return Lesson(
        domain=about.domain,
        source=about.source,
        type=about.type,
        text=about.text,
        fields=about.fields,
        said=about.said,
    )
