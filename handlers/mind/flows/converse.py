"""Conversing: what was said before counts, and the companion can say why it said it."""

from handlers.mind.context import TurnContext
from handlers.mind.stages import recall
from handlers.mind.stages.prompts import EVENT_CAP
from handlers.mind.stages.recall import Remembering
from projections.folds.executive import conversation, silences
from projections.folds.learning import heuristics
from schemas.messages.asks import ChatTurn
from schemas.messages.sensing import Sensed
from schemas.state.executive import EVERYBODY
from schemas.state.memory import Grounds
from schemas.values import phrase_matching
from schemas.values.phrases import Phrases, filled
from schemas.values.prompt_fencing import shown

_FACTS = 2
"""How many facts are told where no model answers."""
_CAP = 100
"""How many characters of an event or a model's name are said in a reason."""


def background(turn: TurnContext, event: Sensed) -> str:
    """Return what a model is told of what is remembered; empty if that is nothing."""
    tokens = turn.settings.executive.prompt_tokens
    return recall.told(_remembering(turn, event), tokens) if tokens else ""


def chat(turn: TurnContext, event: Sensed) -> tuple[tuple[ChatTurn, ...], str]:
    """Return what was said before as turns, and a person's words after them, in one line.

    What that person said before and nobody answered goes with the words.
    """
    tokens, words = turn.settings.executive.prompt_tokens, shown(event.text, EVENT_CAP)
    if event.speaker is None or not tokens:
        return (), words
    turns = recall.chat(_remembering(turn, event), tokens)
    if not turns or turns[-1].role == "assistant":
        return turns, words
    return turns[:-1], f"{turns[-1].text}\n{words}"


def follows(turn: TurnContext, event: Sensed) -> str | None:
    """Return the decision that a person's words follow upon, if they do upon one."""
    if not event.is_persons:
        return None
    return recall.follows(_remembering(turn, event))


def why(turn: TurnContext, event: Sensed, words: Phrases) -> str:
    """Return why the last thing was said to that person, from its decision's own record."""
    talk = conversation.with_person(turn.state.executive.memory, event.speaker)
    said = (each.grounds for each in reversed(talk) if each.grounds is not None)
    # Who asks twice asks twice about the same.
    meant = (each for each in said if not _is_why(each, words))
    grounds = next(meant, None)
    if grounds is None:
        return words.reason(())
    named = _named(turn, grounds)
    kinds = [f"{grounds.path}_{grounds.sort}", f"{grounds.path}_alone"]
    reason = words.reason(
        [grounds.path, *kinds] if grounds.about else kinds,
        event=shown(grounds.about, _CAP),
        name=shown(named or grounds.model, _CAP),
        similarity=_percent(grounds.similarity),
        confidence=_percent(grounds.confidence),
    )
    if not grounds.others or "others" not in words.reasons:
        return reason
    return f"{reason} {words.reason(('others',), count=str(grounds.others))}"


def why_silent(turn: TurnContext, event: Sensed, words: Phrases) -> str:
    """Return why nothing was said to that person: what is in force, or the last silence."""
    executive, person = turn.state.executive, event.speaker
    last = silences.last(executive.memory, person)
    asked = [
        each
        for each in executive.peace.restraints
        if each.person in (EVERYBODY, person)
        and (each.until is None or turn.now < each.until)
    ]
    if asked and (last is None or last.at <= asked[-1].since):
        return words.silence("quiet" if asked[-1].mode == "quiet" else "muted")
    if last is None:
        return words.silence("nothing")
    reason = words.silence(
        last.reason, value=_number(last.value), threshold=_number(last.threshold)
    )
    if not last.about:
        return reason
    return filled(words.silent_about, reason=reason, event=shown(last.about, _CAP))


_APOLOGIES: dict[str, str] = {
    "llm_unavailable": "absent",
    "budget_exhausted": "spent",
    "llm_timeout": "failed",
    "llm_no_response": "failed",
    "llm_malformed": "failed",
    "llm_declined": "declined",
    "stale": "failed",
    "superseded": "failed",
    "error": "failed",
}
"""What a person is told whose words no model answers, by the reason."""


def unanswered(
    turn: TurnContext, text: str, person: str | None, reason: str | None
) -> str:
    """Return what is said to a person's words that no model answers; may be empty.

    What is known without a model goes with it.
    """
    known = in_language_of(turn, text, person)
    why = _APOLOGIES.get(reason or "", "")
    said = known.sorry(why) if known is not None else ""
    if known is None or not said or "known" not in known.unanswered:
        return said
    facts = recall.known_of(turn.state.executive.memory, text, person, _FACTS)
    if not facts:
        return said
    return f"{said} {filled(known.unanswered['known'], facts='; '.join(facts))}"


def is_question(turn: TurnContext, event: Sensed) -> bool:
    """Tell whether a person asks something, in a language that is spoken here."""
    known = turn.settings.executive.phrases
    return event.is_persons and any(each.is_question(event.text) for each in known)


def in_language_of(turn: TurnContext, text: str, person: str | None) -> Phrases | None:
    """Return the phrases of the language of a question; else the person's, else the first."""
    known = turn.settings.executive.phrases
    bare = text.rstrip(" ?\uff1f")
    profile = turn.state.executive.memory.profiles.get(person) if person else None
    own = (profile.language or "").lower() if profile is not None else ""
    ranked = (
        *(each for each in known if each.is_question(bare)),
        *(each for each in known if each.language == own),
        *known,
    )
    return next(iter(ranked), None)


def _is_why(grounds: Grounds, words: Phrases) -> bool:
    """Tell whether something was said only to tell why something else was."""
    if grounds.path != "acknowledged":
        return False
    heard = phrase_matching.heard(grounds.about, (words,))
    return heard is not None and heard.means in ("why", "why_silent")


def _named(turn: TurnContext, grounds: Grounds) -> str:
    """Return when the heuristic that answered does so; its id if it is there no more."""
    id_ = grounds.heuristic_id
    if id_ is None:
        return ""
    known = heuristics.all_heuristics(turn.state, turn.packs)
    return next((each.condition for each in known if each.heuristic_id == id_), id_)


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"


def _percent(share: float | None) -> str:
    return "?" if share is None else f"{share:.0%}"


def _remembering(turn: TurnContext, event: Sensed) -> Remembering:
    memory, habit = turn.state.executive.memory, turn.appearance.habit
    settings = turn.settings.executive
    aliases, is_chat = settings.aliases, settings.situated
    return Remembering(memory, event, turn.now, habit, aliases, is_chat)
