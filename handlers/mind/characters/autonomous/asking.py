"""Asking the model of an autonomous character what to do next, and once more if need be."""

from collections.abc import Sequence
from datetime import datetime

from handlers.mind.characters import asking
from handlers.mind.characters.asking import Question
from handlers.mind.characters.autonomous import prompt
from handlers.mind.context import TurnContext
from projections.folds.characters import persona, situations
from projections.folds.characters.autonomy import LAYER
from schemas.messages.asks import ModelAsked
from schemas.packs.characters import CharacterMind
from schemas.state.autonomy import Act, Autonomy
from schemas.values.exact_math import power, round6

_PRIORITY = 1.0
"""What is done next waits for whoever is spoken to."""


def arm(turn: TurnContext, mind: CharacterMind) -> str:
    """Return the arm of asking the model as it is asked."""
    return asking.arm(turn, _question(turn, mind, ""))


def ask(
    turn: TurnContext, mind: CharacterMind, decision_id: str, fault: str = ""
) -> ModelAsked:
    """Return the question; `fault` is what is wrong with the model's last answer."""
    how, character = mind.autonomous, turn.state.character
    assert how is not None, "its mind is autonomous"
    here = situations.surroundings(how, character.body.fields)
    acts = character.autonomy.acts
    remembered: tuple[Act, ...] = ()
    if how.remembers:
        now_here = situations.fingerprint(how, here, acts)
        insights = character.autonomy.insights
        remembered = recalled((*insights, *acts), now_here, turn.now)
    asked = prompt.prompt(
        persona.in_force(how, character.autonomy),
        here,
        acts,
        learned=character.autonomy.learned,
        remembered=remembered,
        failed=failed(character.autonomy),
        fault=fault,
    )
    return asking.ask(turn, _question(turn, mind, asked), decision_id)


def failed(autonomy: Autonomy) -> Act | None:
    """Return the action whose failure is to be made good; None if none is."""
    if not autonomy.retries or not autonomy.acts:
        return None
    last = autonomy.acts[-1]
    return last if last.outcome == "failed" else None


def _question(turn: TurnContext, mind: CharacterMind, asked: str) -> Question:
    how, known = mind.autonomous, turn.state.character.autonomy
    assert how is not None, "its mind is autonomous"
    how = persona.in_force(how, known)
    return Question(
        layer=LAYER,
        system=prompt.system(turn.input.agent, how),
        prompt=asked,
        priority=_PRIORITY,
        channel=mind.channel,
        lasting=prompt.lasting(how, known.learned),
    )


TOP = 5
_RECENCY, _IMPORTANCE, _RELEVANCE = 0.4, 0.3, 0.3
"""Upstream's weights."""
_HALF_LIFE_S = 600.0
"""Ten minutes of the world's time."""


def recalled(
    acts: Sequence[Act], situation: str, now: datetime, top: int = TOP
) -> tuple[Act, ...]:
    """Return the episodes worth most here and now, best first; of equal ones the newest.

    Of what happened at one time the later of `acts` is the newer one.
    """
    # `sorted` keeps the order of equal ones, so the newest come first to begin with.
    ended = [each for each in acts[::-1] if each.outcome is not None]
    newest = sorted(ended, key=lambda act: act.at, reverse=True)
    best = sorted(newest, key=lambda act: -worth(act, situation, now))
    return tuple(best[:top])


def worth(act: Act, situation: str, now: datetime) -> float:
    """Return how much an episode is worth: by its age, its importance, and how alike it is."""
    age_s = max((now - act.at).total_seconds(), 0.0)
    return round6(
        _RECENCY * power(2.0, -age_s / _HALF_LIFE_S)
        + _IMPORTANCE * act.importance
        + _RELEVANCE * situations.relevance(act.situation, situation)
    )
