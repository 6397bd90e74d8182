"""Being told: a person says in words how the companion is to behave, and is told so.

What is said is recognised by phrases of the settings and of packs; no model is asked. The
change is an inferred control, with the same checks as one that was sent.
"""

from collections.abc import Sequence
from operator import itemgetter

from msgspec.structs import replace

from handlers.mind.context import TurnContext
from handlers.mind.flows import (
    audience,
    converse,
    decision_messages,
    output,
    recounting,
    reminding,
    waiting,
)
from handlers.mind.flows.consult import strategy_in_force
from handlers.mind.flows.decision_messages import Occasion
from handlers.mind.flows.infer import infer
from handlers.mind.flows.output import Addressee
from handlers.mind.stages.timing import Ready
from projections.folds.executive import modulations, people, restraints
from projections.folds.executive.personality import lasting
from schemas.codec.catalogue import ControlMessage, OutputMessage
from schemas.messages.arms import WATCH
from schemas.messages.controls import ProfileSet
from schemas.messages.decisions import Candidate, Gate
from schemas.messages.executive import (
    BreakSignalled,
    ContextSwitched,
    Muted,
    OutputInterrupted,
    SalienceModulated,
    TraitAdjusted,
)
from schemas.messages.notes import ControlInferred, ControlRefused
from schemas.messages.sensing import Sensed
from schemas.state.executive import EVERYBODY, Lent, Modulation, Reminder, Restraint
from schemas.values import phrase_matching, spoken_times
from schemas.values.phrases import Heard, filled

_GENERAL = "general"
"""The context where none is switched to."""
_DAY_S = 86_400.0
"""For how long a trait and a context hold."""
_BY = 0.2
"""By how much a trait is moved."""
_A_WHILE_S = 3_600.0
"""For how long "talk less", "talk more" and "focus on" hold."""
_LIGHTER_S = 600.0
_LIGHTER = 0.3
"""For how long, and by how much, there is more humor when somebody wants cheering up."""
_INFORMS = (Gate(name="intent", passed=False, note="informational"),)
"""Closed where what waits is the answer: the words only tell that it may be said."""
_SAYS_YES = (Gate(name="intent", passed=False, note="a yes to what was asked"),)
_NOTHING_OTHERWISE = frozenset(
    {
        "undo",
        "remind",
        "timer",
        "cancel",
        "cancel_all",
        "cancel_timer",
        "move",
        "snooze",
    }
)
"""What is refused in words where there is nothing that it could be done to."""
_TOLD_MOST = 500
"""How many characters of what came are told to who watches for it."""
_ANSWERS = frozenset({"yes", "no"})
"""What answers a question of the companion's, and means nothing without one."""
_USUALLY_S = {
    "quiet": restraints.QUIET_S,
    "focus": _A_WHILE_S,
    "more": _DAY_S,
    "less": _DAY_S,
    "context": _DAY_S,
}
"""What an answer says of how long, where nobody said it."""


def acknowledged(turn: TurnContext, here: Occasion) -> list[OutputMessage] | None:
    """Do what a person's words ask for; return the decision that tells so, and its ask.

    None if they ask for nothing of the kind.
    """
    heard = _heard(turn, here)
    if heard is None:
        return None
    recounted = recounting.told(turn, here.event, heard)
    is_asked = heard.means == "catch_up"
    if is_asked and recounted is None and not _is_break(turn, here.event):
        return None
    awaited = waiting.awaited(turn, here.event)
    if heard.means in _ANSWERS and awaited is None:
        return None
    if recounted is None and recounting.is_left_to_memory(turn, heard):
        return None
    heard = reminding.timed(turn, heard)
    held = reminding.meant(turn, heard, here.event)
    wanted = _controls(turn, heard, here.event, held)
    answers = [infer(turn, each, "pattern", after=None) for each in wanted]
    for each, answer in zip(wanted, answers, strict=True):
        if not isinstance(answer, ControlRefused):
            # Before the acknowledgement is asked for, which is to be heard.
            output.stop(turn, each)
    if heard.means in _ANSWERS and awaited is not None:
        waiting.confirmed(turn, awaited, is_yes=heard.means == "yes")
    gates, silence = here.assessment.gates, here.assessment.silence
    strategy = strategy_in_force(turn)
    # Whoever takes a mute back must hear that it worked.
    if silence is not None and heard.means != "unmute":
        return [decision_messages.gated(turn, here, strategy, gates, silence)]
    if heard.means == "yes" or (
        is_asked and recounted is None and _is_answered_by_what_waits(turn, here.event)
    ):
        why = _INFORMS if is_asked else _SAYS_YES
        return [decision_messages.gated(turn, here, strategy, why, "informational")]
    is_refused = any(isinstance(each, ControlRefused) for each in answers)
    is_nothing = heard.means in _NOTHING_OTHERWISE and not wanted
    is_nothing = is_nothing and not heard.is_unclear
    is_done = not is_nothing and not is_refused
    text = (
        recounted
        or reminding.reply(turn, heard, held, is_done=is_done)
        or _reply(turn, heard, here.event, is_done=is_done)
    )
    return acknowledge(turn, here, text)


def acknowledge(turn: TurnContext, here: Occasion, text: str) -> list[OutputMessage]:
    """Return the decision to answer a person's words in our own, and its delivery."""
    strategy, decision_id = strategy_in_force(turn), turn.next_id
    asked = decision_messages.acknowledgement_delivery(here, text, decision_id)
    return [
        decision_messages.acknowledgement(turn, here, strategy, text),
        output.routed(turn, asked, Addressee(here.event.person, is_addressed=True)),
    ]


def came(turn: TurnContext, here: Occasion, watch: Modulation) -> list[OutputMessage]:
    """Return the decision to tell somebody what came, as its sensor says it, at its time."""
    met(turn, watch)
    strategy, decision_id = strategy_in_force(turn), turn.next_id
    text, person = here.event.text[:_TOLD_MOST], watch.person or None
    answer = Ready(
        "observation",
        here.urgency(),
        here.assessment.salience.effective,
        person,
        is_addressed=False,
        hidden_from=here.hidden_from,
        is_aloud=here.channel == turn.settings.channel,
    )
    timing = waiting.timing_of(turn, answer)
    decided = replace(
        decision_messages.acknowledgement(turn, here, strategy, text),
        path="proactive",
        arm=WATCH,
        greedy_arm=WATCH,
        candidates=(Candidate(arm=WATCH, probability=1.0),),
        final=timing == "immediate",
        timing=timing,
        hearing=audience.hearing(turn, answer, timing),
    )
    if timing != "immediate":
        return [
            decided,
            waiting.hold(turn, here, decision_id, timing, None, text, person),
        ]
    asked = decision_messages.acknowledgement_delivery(here, text, decision_id)
    asked = replace(asked, path="proactive")
    to = Addressee(person, here.hidden_from)
    return [decided, output.routed(turn, asked, to)]


def met(turn: TurnContext, watch: Modulation | None, *, is_told: bool = True) -> None:
    """End a watch for one time, now that what was watched for came."""
    if is_told and watch is not None and watch.once:
        infer(turn, _cleared(watch.id, watch.by), "rule", after="it came")


def _heard(turn: TurnContext, here: Occasion) -> Heard | None:
    """Return the phrase that a person's words are; None if they are none."""
    if not here.event.is_persons:
        return None
    of_packs = (each for pack in turn.packs for each in pack.pack.phrases)
    known = (*turn.settings.executive.phrases, *of_packs)
    names = (turn.input.agent, *turn.settings.executive.wake_words)
    # A model understands more than the words of a phrase speak for.
    is_alone = turn.settings.model is None
    heard = phrase_matching.heard(here.event.text, known, names, supposes=is_alone)
    if heard is None or here.assessment.silence == "informational":
        return None
    return heard


def _is_break(turn: TurnContext, event: Sensed) -> bool:
    """Tell whether a person who asks what is new ends a wait by that."""
    is_busy = people.is_busy(turn.state.executive, event.person, turn.now)
    return is_busy or _is_answered_by_what_waits(turn, event)


def _is_answered_by_what_waits(turn: TurnContext, event: Sensed) -> bool:
    return waiting.would_say(turn, at_break_of=event.person or EVERYBODY)


def break_of(turn: TurnContext) -> str | None:
    """Return whose break it is by what was inferred at this input; None if nobody's."""
    for each in turn.outputs:
        if isinstance(each, ControlInferred) and each.control == BreakSignalled.token:
            return str(each.fields.get("person") or EVERYBODY)
    return None


def _reply(turn: TurnContext, heard: Heard, event: Sensed, *, is_done: bool) -> str:
    """Return what is answered: what was done, why it was not, or why something was said."""
    if heard.means == "why":
        return converse.why(turn, event, heard.phrases)
    if heard.means == "why_silent":
        return converse.why_silent(turn, event, heard.phrases)
    if not is_done:
        return heard.phrases.refused.get(heard.means, heard.phrases.refusal)
    seconds = heard.span_s or _USUALLY_S.get(heard.means, 0.0)
    if heard.named:
        names = (*heard.phrases.traits.get(heard.trait, ()), heard.trait)
        known = heard.phrases.contexts.get(heard.named, names)
        return filled(
            heard.phrases.replies["more" if heard.is_more else heard.means],
            topic=known[0],
            span=spoken_times.in_figures(seconds),
        )
    # With its capitals: "I know nothing about Ada."
    topic = phrase_matching.as_written(heard.topic, event.text)
    heard = heard.model_copy(update={"topic": topic})
    text = heard.reply(seconds, reminding.until(turn, heard))
    return f"{text} {recounting.added(turn, event, heard)}".rstrip()


def _controls(
    turn: TurnContext, heard: Heard, event: Sensed, held: Sequence[Reminder]
) -> tuple[ControlMessage, ...]:
    """Return what the words ask for; nothing for help, or if nothing can be undone."""
    span_s, speaker = heard.span_s, event.speaker or ""
    # Phrases recorded without fractions have a time for quiet, mute and reminders alone.
    timed_s = span_s if heard.phrases.fractions else None
    match heard.means:
        case "quiet" | "mute" | "stop":
            return (_peace(heard, speaker),)
        case "unmute":
            return _unmuted(turn, speaker)
        case "suppress" | "heighten" | "focus" if heard.is_unclear:
            return ()
        case "suppress" | "heighten" | "focus":
            for_s = timed_s or _A_WHILE_S if heard.means == "focus" else timed_s
            once = heard.means == "heighten" and heard.is_once(event.text)
            asked = SalienceModulated(
                change=heard.means, about=heard.topic, for_s=for_s, by=speaker
            )
            return (replace(asked, once=once),)
        case "talk_more" | "talk_less" | "more" | "less" | "context" | "cheer_up":
            return (_moved(heard, event, timed_s),)
        case "undo":
            return _undone(turn, speaker)
        case "catch_up":
            return (BreakSignalled(person=event.person, by=speaker),)
        case (
            "yes" | "no" | "help" | "why" | "why_silent" | "known" | "said" | "happened"
        ):
            return ()
        case _:
            return reminding.controls(turn, heard, event, held)


def _moved(
    heard: Heard, event: Sensed, for_s: float | None
) -> SalienceModulated | TraitAdjusted | ContextSwitched:
    """Return what moves how much is said, and how, or begins the context that was named."""
    speaker = event.speaker or ""
    if heard.means == "context":
        context, for_s = heard.named, for_s or _DAY_S
        return ContextSwitched(context=context, for_s=for_s, by=speaker)
    if heard.means in ("talk_more", "talk_less"):
        sign = 1.0 if heard.means == "talk_less" else -1.0
        amount = sign * modulations.AMOUNTS["threshold"]
        for_s = for_s or _A_WHILE_S
        return SalienceModulated(
            change="threshold", amount=amount, for_s=for_s, by=speaker
        )
    if heard.means == "cheer_up":
        for_s = for_s or _LIGHTER_S
        return TraitAdjusted(trait="humor", by_amount=_LIGHTER, for_s=for_s, by=speaker)
    by_amount = _BY if heard.is_more else -_BY
    # How one is spoken to is one's own.
    fields = {"trait": heard.trait, "by_amount": by_amount, "person": event.speaker}
    return TraitAdjusted.from_fields(
        {**fields, "for_s": for_s or _DAY_S, "by": speaker}
    )


def _peace(heard: Heard, speaker: str) -> Muted | OutputInterrupted:
    if heard.means == "stop":
        return OutputInterrupted()
    is_mute = heard.means == "mute"
    return Muted(mode="mute" if is_mute else "quiet", for_s=heard.span_s, by=speaker)


def _unmuted(turn: TurnContext, speaker: str) -> tuple[ControlMessage, ...]:
    """Return what ends every restraint that is in force."""
    held = {each.mode for each in turn.state.executive.peace.restraints}
    return tuple(Muted(mode=mode, off=True, by=speaker) for mode in sorted(held))


def _undone(turn: TurnContext, speaker: str) -> tuple[ControlMessage, ...]:
    """Return what takes back the latest change of this person's that is in force."""
    executive, now = turn.state.executive, turn.now
    held: tuple[Modulation | Restraint, ...] = (
        *executive.peace.modulations,
        *executive.peace.restraints,
    )
    # What a rule made of somebody's feelings nobody asked for, and what others asked for
    # is theirs.
    changes = [
        (each.since, each.id, _cleared(each.id, speaker))
        for each in held
        if each.by == speaker and (each.until is None or now < each.until)
    ]
    overrides = executive.personality.overrides
    changes += [
        (each.since, trait, _unmoved(trait, person, speaker))
        for person in overrides.sorted_keys()
        for trait, each in lasting(overrides[person], now).items()
        if each.by == speaker and each.since is not None
    ]
    changes += [
        (each.since, each.person, _given_back(each, speaker))
        for each in executive.lent
        if each.by == speaker and now < each.until
    ]
    return (max(changes, key=itemgetter(0, 1))[2],) if changes else ()


def _given_back(lent: Lent, speaker: str) -> ControlMessage:
    if lent.person == EVERYBODY:
        was = lent.was[0] if lent.was else _GENERAL
        return ContextSwitched(context=was, by=speaker)
    return ProfileSet(person=lent.person, off=True)


def _cleared(id_: str, speaker: str) -> ControlMessage:
    return SalienceModulated(change="clear", modulation_id=id_, by=speaker)


def _unmoved(trait: str, person: str, speaker: str) -> ControlMessage:
    whose = None if person == EVERYBODY else person
    return TraitAdjusted.from_fields({"trait": trait, "person": whose, "by": speaker})
