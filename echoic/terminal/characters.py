"""What characters' decisions, plans and states look like in a terminal. Pure."""

from datetime import datetime

from echoic.client.plan_words import changed
from echoic.explain.characters import has_words
from echoic.terminal.screen import Part, bar
from projections.folds.characters.plans import described
from replay.recording.decisions import DecisionRecord
from schemas.codec.catalogue import OutputMessage
from schemas.messages.conversations import ConversationMoved
from schemas.messages.decisions import Completed
from schemas.messages.notes import ControlInferred
from schemas.state.character import Character

_SHOWN = 5
"""How many of several are shown."""


def answer(record: DecisionRecord) -> list[Part]:
    """Return which layer decided what: its words, its action, or nothing."""
    decided, ending = record.decided, record.ending
    done = ending if isinstance(ending, Completed) else decided
    action = done.action
    what = "nothing to say or do"
    if action is not None:
        what = " ".join(filter(None, (action.type, action.target)))
    elif decided.layer == "executor":
        what = "planned"
    elif decided.layer == "place":
        what = "saw to its conversations"
    parts: list[Part] = [(f"{decided.layer} ", "green")]
    if has_words(record):
        parts.append(f"“{record.said}”{' ' if action is not None else ''}")
    if not has_words(record) or action is not None:
        parts.append(what)
    return parts


def news(message: OutputMessage) -> str | None:
    """Return what a message tells of plans, aims and conversations; None if nothing."""
    match message:
        case ConversationMoved(what=what) if what:
            return f"conversation: {'; '.join(what)}"
        case ControlInferred():
            told = changed(message)
            return f"by its {message.by}: {told}" if told is not None else None
        case _:
            return None


def known(found: Character, now: datetime | None) -> dict[str, str]:
    """Return a character's body, deed, plan, aims and conversation, where there are any."""
    needs, doing, plan = found.body.needs, found.doing, found.plan
    at = now or found.body.at
    rows: dict[str, str] = {}
    for name in sorted(needs):
        level = min(max(needs[name].now(at) if at else needs[name].value, 0.0), 1.0)
        rows[f"need {name}"] = f"{bar(level)} {level:.2f}"
    if doing is not None and (at is None or at < doing.until):
        rows["doing"] = (
            f"{doing.behaviour}, by its {doing.layer}, since {doing.since:%H:%M:%S}"
        )
    elif found.idle_since is not None:
        rows["doing"] = f"nothing since {found.idle_since:%H:%M:%S}"
    rows |= {
        "plan": _several([described(each) for each in plan.left]),
        "to build": _several([each.building for each in plan.builds]),
        "aims": "; ".join(each.text for each in found.aims),
        "priorities": ", ".join(
            f"{name} {found.priorities[name]:g}" for name in sorted(found.priorities)
        ),
        "conversation": _conversation(found, at),
        "conversations": "; ".join(
            ", ".join(each.members) for each in found.place.conversations
        ),
        "asks": ", ".join(sorted(found.asked)),
    }
    acts = found.autonomy.acts[-_SHOWN:]
    if acts:
        rows["did"] = ", ".join(
            f"{each.action} ({each.outcome or 'goes on'})" for each in acts
        )
    return {name: value for name, value in rows.items() if value}


def _several(told: list[str]) -> str:
    more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return ", ".join(told[:_SHOWN]) + more


def _conversation(found: Character, at: datetime | None) -> str:
    heard = found.heard
    if heard is None or (at is not None and at >= heard.until):
        return ""
    return f"heard {heard.speaker}: “{heard.text}”"
