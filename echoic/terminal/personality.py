"""Personalities on a page of a terminal: one in force, several side by side, a check."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from echoic.client.personality import Cause, Character
from echoic.client.trials import Attempt, Trial
from echoic.explain.amounts import span
from echoic.terminal.screen import bar, counted, indented, number, short, table, words
from schemas.messages.decisions import Decided
from schemas.messages.voices import ContextInForce, Voice
from schemas.values.personality import (
    NO_TEMPLATE,
    TRAITS,
    USUAL_TRAITS,
    PersonalityTemplate,
    Trait,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from evaluation.learning.one_voice import VoiceCheck

_CAUSES: Mapping[str, str] = {
    "threat": "threat {value:.2f}, by {cause}",
    "opportunity": "opportunity {value:.2f}, by {cause}",
    "failures": "{value:.0f} failed outcomes, the last {cause}",
    "sentiment": "sentiment {value:+.2f}, by {cause}",
    "switched": "switched by {cause}",
}


def shown(found: Character) -> "Iterator[RenderableType]":
    """Yield the personality in force, trait by trait, and what moves it."""
    own = found.traits.template
    yield found.selected or "no personality: the usual traits"
    yield table(("trait", "", "template", "now"), _rows(found.traits.values, own), 2)
    if not found.causes:
        yield indented(2, "nothing moves them now")
    rows = ((_why(each, found), _moves(each.moves)) for each in found.causes)
    yield table((words(), words()), rows, 2)


def _why(cause: Cause, found: Character) -> str:
    """Return what moves the traits, in words."""
    mood = found.traits.mood
    match cause.by:
        case "context":
            assert cause.context is not None
            return _because(cause.context)
        case "override":
            lasts = (
                "until cleared"
                if cause.left_s is None
                else f"{span(cause.left_s)} left"
            )
            return f"set for {cause.person or 'everybody'}, {lasts}"
        case "mood":
            assert mood is not None
            return f"mood {mood.valence:+.2f}, arousal {mood.arousal:.2f}"
        case "session":
            return f"the session has lasted {span(found.session_s or 0.0)}"
        case "rapport":
            return f"rapport {found.traits.rapport:.2f}"


def _moves(moves: Mapping[Trait, float]) -> str:
    moved = (f"{each} {moves[each]:+.2f}" for each in TRAITS if moves.get(each))
    return ", ".join(moved) or "moves nothing"


def _because(context: ContextInForce) -> str:
    """Return a context with its cause, in words."""
    cause = context.cause or "nobody named"
    why = _CAUSES[context.by].format(value=context.value or 0.0, cause=short(cause))
    return f"in context {context.name}: {why}"


def of_decision(voice: Voice) -> Iterator[str]:
    """Yield the personality that a decision was made under, and why it was so."""
    moved = ", ".join(
        f"{trait} {voice.traits[trait]:.2f}"
        for trait in TRAITS
        if voice.traits[trait] != USUAL_TRAITS[trait]
    )
    if voice.template is not None:
        yield f"as {voice.template}: {moved or 'the usual traits'}"
    elif moved:
        # Nobody chose whom; contexts, mood and people move the traits all the same.
        yield f"traits: {moved}"
    yield from map(_because, voice.contexts or ())
    feels = [] if voice.valence is None else [f"mood {voice.valence:+.2f}"]
    if voice.rapport is not None:
        feels.append(f"rapport {voice.rapport:.2f}")
    if feels:
        yield ", ".join(feels)


def tried(attempt: Attempt, found: Sequence[Trial]) -> "Iterator[RenderableType]":
    """Yield what each personality would say of an event, in each context."""
    yield f"“{attempt.text}”" + (f" → “{attempt.says}”" if attempt.says else "")
    header = ("personality", "context", number("from"), "type", words("says"))
    yield table(header, map(_trial, found))
    yield ""
    yield "from: how much an event must matter that it speaks; by templates, without a model"


def _trial(each: Trial) -> tuple[str, ...]:
    threshold = f"{each.threshold:.2f}"
    return each.personality, each.context, threshold, each.response_type, each.said


def checked(found: "Sequence[VoiceCheck]") -> "Iterator[RenderableType]":
    """Yield how many responses are in character, and those that are not."""
    if not found:
        yield "nothing was said"
    for each in found:
        kept = each.responses - len({broken.decision_id for broken in each.breaks})
        said = counted(each.responses, "response")
        whose = "no personality" if each.template == NO_TEMPLATE else each.template
        yield f"{whose}: {kept} of {said} in character"
        rows = (
            (short(broken.decision_id), broken.rule, broken.detail, broken.text)
            for broken in each.breaks
        )
        if each.breaks:
            yield table(("", "", "", words()), rows, 2)


def _rows(
    traits: Mapping[Trait, float], template: PersonalityTemplate | None
) -> Iterator[tuple[str, str, str, str]]:
    base = template.traits if template is not None else {}
    for trait in TRAITS:
        usual = base.get(trait, USUAL_TRAITS[trait])
        now = traits[trait]
        yield trait, bar(now), f"{usual:.2f}", f"{now:.2f}"


def by_skills(decided: Decided) -> Iterator[str]:
    """Yield the skills that a decision's words are by, and what these were without them."""
    wording = decided.wording
    if decided.skills:
        yield f"by the skills {', '.join(decided.skills)}"
    if wording is not None and wording.digest is not None:
        yield f"instead of “{wording.intent}”"
    if wording is not None and wording.filtered:
        yield f"left out, as it does not suit: {', '.join(wording.filtered)}"
