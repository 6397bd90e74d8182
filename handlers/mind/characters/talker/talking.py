"""Talking: when the talker's model is asked, and what becomes of what it says."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from handlers.mind.characters import aims, asking, cadence, prompts, reflexes, replies
from handlers.mind.characters.asking import LayerName, Question
from handlers.mind.characters.replies import Reply, Unreadable
from handlers.mind.characters.talker import hearing, prompt
from handlers.mind.context import TurnContext
from schemas.messages.characters import AIMS, AimsSet
from schemas.messages.decisions import LayerVerdict
from schemas.messages.notes import ControlRefused
from schemas.messages.results import ModelAnswered
from schemas.packs.characters import CharacterMind
from schemas.packs.layers import Talker
from schemas.state.character import Character, LayerAsk
from schemas.values.subjects import AGENT_SOURCE

_Fields = Mapping[str, object]


def verdict(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    fields: _Fields,
    at: datetime,
) -> LayerVerdict | None:
    """Return what the talker comes to at a time; None if the character has none."""
    layer = mind.talker
    if layer is None:
        return None
    if not layer.enabled:
        return LayerVerdict(layer="talker", verdict="not_asked", why="it is disabled")
    held_back = asking.held_back(turn, mind, "talker", character)
    if held_back is not None:
        return held_back
    heard = hearing.hears(character, layer, at)
    if heard is not None:
        rule = hearing.RULE
        acts, why = hearing.verdict(turn, layer, heard, fields)
    else:
        interval_s, rule = cadence.talker_interval(layer, fields)
        acts = cadence.is_due(character.called.get("talker"), interval_s, at)
        why = f"{rule}: every {interval_s:g} s"
    return LayerVerdict(
        layer="talker", verdict="acts" if acts else "nothing_due", rule=rule, why=why
    )


def times(
    turn: TurnContext, mind: CharacterMind, character: Character, fields: _Fields
) -> list[datetime]:
    """Return the times at which the talker may become due."""
    layer = mind.talker
    if layer is None:
        return []
    if asking.held_back(turn, mind, "talker", character) is not None:
        return []
    called = character.called.get("talker")
    heard = hearing.hears(character, layer, turn.now)
    # What was heard may be to be answered still; when that is over its own cadence counts.
    further = [] if heard is None else [turn.now, heard.until]
    if called is None:
        return [turn.now, *further]
    # Of what the cadence goes by, only company changes without an event.
    own_s, _ = cadence.talker_interval(layer, fields)
    sociable_s, _ = cadence.by_extraversion(layer, fields)
    each = {own_s, layer.lonely_s, sociable_s}
    # One that has passed already is due at the next tick.
    due = [max(called + timedelta(seconds=wait_s), turn.now) for wait_s in sorted(each)]
    return [*due, *further]


def question(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    fields: _Fields,
    granted: LayerAsk | None = None,
) -> Question:
    """Return what the talker's model is asked, `granted` or not: all that is new counts."""
    del granted
    layer = mind.talker
    assert layer is not None, "the verdict was to act"
    doing = reflexes.behaviour_at(character, turn.now)
    asked = prompt.moment(mind, layer, character, fields, doing)
    _, rule = cadence.talker_interval(layer, fields)
    heard = hearing.hears(character, layer, turn.now)
    likely, draw = 1.0, None
    if heard is not None:
        asked, rule = f"{asked}\n\n{hearing.prompt(heard)}", hearing.RULE
        likely, draw = hearing.odds(turn, layer, heard, fields)
    return Question(
        layer="talker",
        system=prompts.system(turn.input.agent, layer.who, prompt.FORM),
        prompt=asked,
        likely=likely,
        draw=draw,
        priority=cadence.talker_priority(layer, rule),
        channel=layer.channel,
        model=layer.model,
    )


def answered(
    turn: TurnContext, mind: CharacterMind, asked: LayerAsk, result: ModelAnswered
) -> None:
    """Say and do what the talker's model wants, as far as that was offered."""
    layer = mind.talker
    if layer is None:
        asking.drop(turn, asked, "cancelled", "it has no talker any more")
        return
    fields = reflexes.fields_at(turn.state.character, mind, turn.now)
    try:
        reply = replies.read(
            result.text, prompts.offered(layer.tools, fields), mind.synonyms
        )
    except Unreadable as error:
        asking.drop(turn, asked, error.drop, str(error))
        return
    complete(turn, layer, asked, result, reply, reply.refused)
    say(turn, mind, layer, asked, reply)
    aim(turn, layer, reply, "talker")


def complete(
    turn: TurnContext,
    layer: Talker,
    asked: LayerAsk,
    result: ModelAnswered,
    reply: Reply,
    left_out: tuple[str, ...],
) -> None:
    """End a decision with what a model says, and its thought if it is told of that later."""
    thought = reply.thinking if layer.words else None
    said, action = reply.speaking, reply.action
    asking.complete(turn, asked, result.model, said, action, left_out, thought)


def say(
    turn: TurnContext, mind: CharacterMind, layer: Talker, asked: LayerAsk, reply: Reply
) -> None:
    """Send out what a layer's model says, and does at once."""
    speaking, action = reply.speaking, reply.action
    if speaking:
        said = hearing.spoken(layer, asked, action)
        channel = layer.channel if said is None else AGENT_SOURCE
        asking.deliver(turn, asked, channel, speaking, said)
    if action is not None:
        asking.deliver(turn, asked, mind.channel, action.type, action)


def aim(turn: TurnContext, layer: Talker, reply: Reply, by: LayerName) -> None:
    """Infer what the character is after from here, if its model said so."""
    before = turn.state.character
    if not reply.aims and reply.priorities is None:
        return
    wanted = aims.further(before.aims, reply.aims, layer.horizons, turn.now)
    if len(wanted) > AIMS:
        detail = f"{AIMS} aims are held at once; {len(wanted)} would be"
        turn.emit(
            ControlRefused(control=AimsSet.token, reason="invalid", detail=detail)
        )
        wanted = before.aims
    control = AimsSet(
        aims=wanted if wanted != before.aims else None,
        priorities=dict(reply.priorities) if reply.priorities is not None else None,
    )
    if control.aims is not None or control.priorities is not None:
        asking.infer_or_refuse(turn, control, by)
