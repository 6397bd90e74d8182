"""A place decides: it owns the conversations there, and tells each hearer what it hears.

Agents meet through the log alone (ADR 0056): who speaks tells the place, and the place tells
who hears it, each by a delivery on channel `agent`. The world is told when a speech begins.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from handlers.mind.characters.place.scheduler import Begun, Heard, Scheduler, seconds_of
from handlers.mind.context import TurnContext
from projections.folds.characters import places
from schemas.messages.arms import SILENT, Action
from schemas.messages.asks import DeliveryAsked, WakeupSet
from schemas.messages.conversations import ConversationMoved, ReadyWords
from schemas.messages.decisions import Candidate, Decided, LayerVerdict
from schemas.messages.sensing import Fields, Sensed
from schemas.packs.characters import Place
from schemas.state import limits
from schemas.values.exact_math import clamp
from schemas.values.subjects import AGENT_SOURCE

_LAYER = "place"
_ARM = "place"

_WHAT = 64
"""How many things that happened to a conversation at once are told."""


def on_event(
    turn: TurnContext, event: Sensed, rules: Place, common: dict[str, Any]
) -> None:
    """Decide on an event: let it move the conversations."""
    before = turn.state.character.place
    present = places.sensed(before.present, rules, event, turn.now)
    at = Scheduler(rules, present, before.conversations, turn.now)
    _tell(at, turn, event, rules)
    at.run()
    _decided(turn, at, rules, common)


def at_timer(turn: TurnContext, rules: Place, common: dict[str, Any]) -> None:
    """Do what is due."""
    before = turn.state.character.place
    at = Scheduler(rules, before.present, before.conversations, turn.now)
    at.run()
    _decided(turn, at, rules, common)


def _tell(at: Scheduler, turn: TurnContext, event: Sensed, rules: Place) -> None:
    agent = event.fields.get(places.AGENT)
    if not isinstance(agent, str) or not agent:
        return
    if event.type == rules.said:
        words = _words(agent, event, rules)
        at.said(words, turn.input.id, _answers(event.fields))
    elif event.type == rules.position:
        at.moved(agent)
    elif event.type == rules.left:
        at.left(agent)
    elif event.type == rules.gone:
        at.left(agent, "is gone")


def _words(agent: str, event: Sensed, rules: Place) -> ReadyWords:
    text = event.text[: limits.SPEECH]
    told = places.number(event.fields, "tokens")
    tokens = None if told is None else clamp(told, 1.0, limits.SPEECH)
    return ReadyWords(
        speaker=agent,
        text=text,
        seconds=seconds_of(text, tokens, rules.tokens_per_s),
        goodbye=True if event.fields.get("goodbye") is True else None,
    )


def _answers(fields: Fields) -> tuple[str, int] | None:
    conversation, turn = fields.get("conversation"), fields.get("turn")
    if isinstance(conversation, str) and isinstance(turn, int):
        return conversation, turn
    return None


def _decided(
    turn: TurnContext, at: Scheduler, rules: Place, common: dict[str, Any]
) -> None:
    """Record what came of it, tell everybody whom it concerns, and when it is due next."""
    acts = bool(at.what or at.begun)
    arm = _ARM if acts else SILENT
    why = "; ".join(each for id_ in at.what for each in at.what[id_])
    if at.late:
        why = "it answers what is over"
    elif not why and at.begun:
        why = f"nobody hears it; it lasts {at.begun[0].words.seconds:g} s"
    verdict = LayerVerdict(
        layer=_LAYER, verdict="acts" if acts else "nothing_due", why=why[:2_000]
    )
    decision_id = turn.emit(
        Decided(
            **common,
            path="reflex" if acts else "none",
            arm=arm,
            greedy_arm=arm,
            silence=None if acts else "nothing_due",
            final=True,
            candidates=(Candidate(arm=_ARM, probability=1.0),) if acts else (),
            layer=_LAYER if acts else None,
            layers=(verdict,),
        )
    )
    _send(turn, at, rules, (decision_id, common["event_id"]))
    due = at.due()
    if due != turn.state.character.due:
        turn.emit(WakeupSet(due_at=due))


def _send(
    turn: TurnContext, at: Scheduler, rules: Place, about: tuple[str, str]
) -> None:
    """Record how conversations moved, and tell each member what it is to know of that."""
    left = {each.id: each for each in at.conversations}
    for id_, what in at.what.items():
        turn.emit(
            ConversationMoved(
                conversation_id=id_, what=tuple(what[:_WHAT]), after=left.get(id_)
            )
        )
    for begun in at.begun:
        turn.emit(_spoken(turn, rules, begun, about))
    for heard in at.heard:
        turn.emit(_heard(turn, rules, heard, about))
    for talk in at.over:
        for member in talk.members:
            told = Action(type="over", target=member, params={"conversation": talk.id})
            turn.emit(_delivery(turn, AGENT_SOURCE, "It is over.", told, about))


def _spoken(
    turn: TurnContext, rules: Place, begun: Begun, about: Sequence[str]
) -> DeliveryAsked:
    params: Fields = {"seconds": begun.words.seconds}
    if begun.conversation is not None:
        params["conversation"] = begun.conversation
    if begun.pulls:
        params["pulls"] = dict(begun.pulls)
    said = Action(type="speak", target=begun.words.speaker, params=params)
    return _delivery(turn, rules.channel, begun.words.text, said, about)


def _heard(
    turn: TurnContext, rules: Place, heard: Heard, about: Sequence[str]
) -> DeliveryAsked:
    words = heard.speech.words
    params: Fields = {
        "speaker": words.speaker,
        "distance": heard.distance,
        "conversation": heard.conversation.id,
        "turn": heard.conversation.speeches,
        "ask": heard.is_asked,
    }
    if heard.lines:
        lines: list[Any] = [[each.speaker, each.text] for each in heard.lines]
        params["lines"] = lines
    if heard.is_last:
        params["goodbye"] = True
    told = Action(type="heard", target=heard.hearer, params=params)
    until = heard.speech.until + timedelta(seconds=rules.silence_s)
    return _delivery(turn, AGENT_SOURCE, words.text, told, about, until)


def _delivery(
    turn: TurnContext,
    channel: str,
    text: str,
    action: Action,
    about: Sequence[str],
    until: datetime | None = None,
) -> DeliveryAsked:
    decision_id, event_id = about
    ttl_s = turn.settings.ttl_s
    if until is not None:
        ttl_s = max((until - turn.now).total_seconds(), 0.001)
    return DeliveryAsked(
        decision_id=decision_id,
        event_id=event_id,
        channel=channel,
        text=text,
        response_type="observation",
        urgency=0.0,
        path="reflex",
        action=action,
        output="action",
        priority=1.0,
        expires_at=turn.now + timedelta(seconds=ttl_s),
        ttl_s=ttl_s,
    )
