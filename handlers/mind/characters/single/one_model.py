"""One model that talks and plans: it is asked when either is due, and answers for both.

Its cadences are those of the layers whose place it takes, each question counting for both, so
that what differs from two models is the prompt and the number of calls alone.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from handlers.mind.characters import asking, cadence, prompts, reflexes, replies
from handlers.mind.characters.asking import LayerName, Question
from handlers.mind.characters.executor import executing, planning
from handlers.mind.characters.executor import prompt as executor_prompt
from handlers.mind.characters.executor.planning import Means
from handlers.mind.characters.replies import Unreadable
from handlers.mind.characters.talker import hearing, talking
from handlers.mind.characters.talker import prompt as talker_prompt
from handlers.mind.context import TurnContext
from projections.folds.characters import plans
from schemas.messages.decisions import LayerVerdict
from schemas.messages.results import ModelAnswered
from schemas.packs.characters import CharacterMind
from schemas.state.character import Character, LayerAsk

_Fields = Mapping[str, object]

_FORM = (
    'Answer with one JSON object: {"thinking": why, in a sentence, "speaking": what you say'
    ' aloud, or "", "action": one action or a list of them, or null, "goal": {"type":'
    ' "personal", "medium_term" or "group", "description": what} or null, "priorities":'
    " {kind of work: 0 to 1} or null}. "
) + executor_prompt.ACTIONS
_SINGLE: LayerName = "single"
"""The layer that it decides as."""


def verdict(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    fields: _Fields,
    at: datetime,
) -> LayerVerdict:
    """Return what the model comes to at a time: the talker's turn goes before the plan's."""
    held_back = asking.held_back(turn, mind, _SINGLE, character)
    if held_back is not None:
        return held_back
    talks = talking.verdict(turn, mind, character, fields, at)
    plans_ = executing.verdict(turn, mind, character, fields, at)
    found = [each for each in (talks, plans_) if each is not None]
    acts = next((each for each in found if each.verdict == "acts"), None)
    if acts is not None:
        return replace(acts, layer=_SINGLE)
    why = "; ".join(f"{each.layer}: {each.why}" for each in found)
    return LayerVerdict(layer=_SINGLE, verdict="nothing_due", why=why)


def question(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    fields: _Fields,
    granted: LayerAsk | None = None,
) -> Question:
    """Return what the model is asked: to talk, or for the reason for which it plans."""
    layer, executor = mind.talker, mind.executor
    assert layer is not None, "one model is both"
    assert executor is not None, "one model is both"
    if granted is None:
        reason = _reason(turn, mind, character, fields)
    else:
        reason = granted.reason or None
    character = plans.settled(character, turn.now)
    doing = reflexes.behaviour_at(character, turn.now)
    told = _moment(mind, character, fields, doing, reason)
    system = prompts.system(turn.input.agent, layer.who or executor.who, _FORM)
    if reason is not None:
        return Question(
            layer=_SINGLE,
            system=system,
            prompt=told,
            priority=cadence.executor_priority(executor, fields, reason),
            channel=layer.channel,
            model=layer.model,
            reason=reason,
        )
    heard = hearing.hears(character, layer, turn.now)
    if heard is not None:
        told = f"{told}\n\n{hearing.prompt(heard)}"
    # How likely it answers what it hears, and how urgent that is, are as for a talker alone.
    asked = talking.question(turn, mind, character, fields)
    return replace(asked, layer=_SINGLE, system=system, prompt=told)


def _reason(
    turn: TurnContext, mind: CharacterMind, character: Character, fields: _Fields
) -> str | None:
    """Return why it is to plan; None if it is the talker's turn, which goes before."""
    talks = talking.verdict(turn, mind, character, fields, turn.now)
    if talks is not None and talks.verdict == "acts":
        return None
    plans_ = executing.verdict(turn, mind, character, fields, turn.now)
    return plans_.rule if plans_ is not None else None


def answered(
    turn: TurnContext, mind: CharacterMind, asked: LayerAsk, result: ModelAnswered
) -> None:
    """Say, do and plan what the model wants, as far as that was offered and can be."""
    layer, executor, known = mind.talker, mind.executor, mind.tactics
    if layer is None or executor is None or known is None:
        asking.drop(turn, asked, "cancelled", "it does not talk and plan any more")
        return
    character = plans.settled(turn.state.character, turn.now)
    fields = reflexes.fields_at(character, mind, turn.now)
    social = prompts.offered(layer.tools, fields)
    means = Means(known, prompts.offered(executor.tools, fields), mind.synonyms, fields)
    try:
        told = replies.read_object(result.text)
    except Unreadable as error:
        asking.drop(turn, asked, error.drop, str(error))
        return
    does, works = _divided(told, social, mind.synonyms)
    reply = replies.understood(told | {"action": does}, social, mind.synonyms)
    # Priorities are the reply's own; a plan's are those of its actions.
    wanted = planning.understood({}, works, character.plan, means)
    left_out = (*reply.refused, *wanted.refused)
    if reply.is_empty and reply.priorities is None and wanted.is_empty:
        why = "; ".join(left_out) or "the reply says nothing"
        asking.drop(turn, asked, "llm_declined", why)
        return
    heard = hearing.hears(character, layer, turn.now)
    if reply.speaking and heard is not None and asked.answers is None:
        # In a conversation the place says whose turn it is.
        reply = replace(reply, speaking="")
        left_out = (*left_out, "it is not its turn to speak")
    talking.complete(turn, layer, asked, result, reply, left_out)
    talking.say(turn, mind, layer, asked, reply)
    talking.aim(turn, layer, reply, _SINGLE)
    executing.plan(turn, wanted, character.plan, _SINGLE)


def _divided(
    told: Mapping[str, Any], social: Collection[str], synonyms: Mapping[str, str]
) -> tuple[object, list[object]]:
    """Return what of the actions is the talker's, and those that are the executor's.

    The talker does one thing at a time, and sets whatever it wants.
    """
    does: object = None
    sets: list[object] = []
    works: list[object] = []
    for each in planning.as_list(told.get("action", told.get("actions"))):
        name = each.get("type") if isinstance(each, dict) else each
        tool = replies.tool(name, social, synonyms, [])
        if tool in replies.SETS:
            sets.append(each)
        elif does is None and tool is not None:
            does = each
        else:
            works.append(each)
    return ([does, *sets] if does is not None else sets) if sets else does, works


def _moment(
    mind: CharacterMind,
    character: Character,
    fields: _Fields,
    doing: str | None,
    reason: str | None,
) -> str:
    """Return what the model is told of the moment."""
    talker, executor, tactics = mind.talker, mind.executor, mind.tactics
    assert talker is not None, "one model is both"
    assert executor is not None, "one model is both"
    assert tactics is not None, "an executor has tactics"
    social = prompts.offered(talker.tools, fields)
    work = prompts.offered(executor.tools, fields)
    parts = [
        executor_prompt.why(reason) if reason is not None else "",
        *talker_prompt.known(mind, talker, character, fields),
        *executor_prompt.known(tactics, executor, character, fields, doing),
        f"Tools: {', '.join((*social, *work)) or 'none'}",
    ]
    return "\n\n".join(filter(None, parts))
