"""Thinking: a character's layers are asked in order, and the first that acts decides.

An occasion is an event, or a time at which its table of reflexes would act by itself. A time
at which nothing is due is none: the mind tells by `WakeupSet` when it thinks next.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from handlers.mind.characters import acting, asking, place, queue, reflexes
from handlers.mind.characters.acting import Deed
from handlers.mind.characters.queue import Work
from handlers.mind.characters.reflexes import Finding
from handlers.mind.context import TurnContext
from projections.folds.characters import body
from schemas.messages.arms import REFLEX, SILENT, Action
from schemas.messages.asks import WakeupSet
from schemas.messages.decisions import Candidate, Decided, LayerVerdict, Salience
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.messages.sensing import Sensed
from schemas.packs.characters import NO_TABLE, CharacterMind
from schemas.state.agent import Timer
from schemas.state.character import Character
from schemas.values.by_identity import by_identity
from schemas.values.ids import digest
from schemas.values.reasons import Silence

STRATEGY = "layers"
"""What chooses among a character's arms, in the place of a strategy's name."""
VERSION = 1

SOURCE = "echoic"
"""Who occasions what no sensor does, and its domain."""

_NOTHING_WEIGHED = Salience(dimensions={}, score=0.0, sensitivity=1.0, effective=0.0)


def on_event(turn: TurnContext, event: Sensed, mind: CharacterMind) -> None:
    """Decide on an event: what the character does after it, if it does anything new."""
    domain = turn.appearance.domain
    occasion = {
        "event_id": turn.input.id,
        "source": event.source,
        "type": event.type,
        "domain": domain.name,
        "person": event.person,
    }
    if mind.place is not None:
        place.on_event(turn, event, mind.place, occasion | _common(turn, mind))
        return
    means = domain.event_type.means if domain.event_type is not None else None
    after = body.sensed(turn.state, mind, event, turn.now, means)
    _decide(turn, mind, after, occasion, is_event=True)


def run(turn: TurnContext, timer: Timer) -> None:
    """Run a due timer of a character: it thinks, or waits for a model no longer."""
    if timer.purpose == "layer":
        _give_up(turn, timer.id)
    else:
        _at_timer(turn, timer)


def _at_timer(turn: TurnContext, timer: Timer) -> None:
    """Decide at a time that was told by `WakeupSet`."""
    mind = body.mind_of(turn.packs)
    if mind is None:
        # The pack that made it a character is gone.
        turn.emit(WakeupSet())
        return
    occasion = {
        "event_id": turn.next_id,
        "timer": timer.id,
        "source": SOURCE,
        "type": "think",
        "domain": SOURCE,
    }
    if mind.place is not None:
        place.at_timer(turn, mind.place, occasion | _common(turn, mind))
        return
    _decide(turn, mind, turn.state.character, occasion, is_event=False)


def heard(turn: TurnContext, result: ModelAnswered | ModelFailed) -> bool:
    """Hear a layer's model, and say whether the result was for one."""
    asked = asking.waiting(turn, result.ask_id)
    if asked is None:
        return False
    asking.heard(turn, asked, result)
    _wake_up(turn)
    return True


def _give_up(turn: TurnContext, ask_id: str) -> None:
    """End a layer's wait for its model."""
    asked = asking.waiting(turn, ask_id)
    assert asked is not None, "an ask and its timer come and go together"
    asking.give_up(turn, asked)
    _wake_up(turn)


def changed(turn: TurnContext) -> None:
    """Tell when the character thinks next, as somebody changed what it is after."""
    _wake_up(turn)


def _wake_up(turn: TurnContext) -> None:
    mind = body.mind_of(turn.packs)
    if mind is not None:
        _wake(turn, mind)


def _decide(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    occasion: dict[str, Any],
    *,
    is_event: bool,
) -> None:
    fields = reflexes.fields_at(character, mind, turn.now)
    absent = reflexes.absence(mind, fields)
    common = occasion | _common(turn, mind)
    if absent is not None:
        _unless_idle(turn, common, absent, is_event=is_event)
        _wake(turn, mind)
        return
    looked = _looked(turn, mind, character, fields, turn.now)
    common["layers"] = _records(looked)
    if looked.found.acts:
        acting.act(turn, mind, _reflex(mind, looked.found), common)
    elif looked.works is not None and looked.works.acts:
        acting.act(turn, mind, _step(mind, looked.works), common)
    elif looked.talks is not None and looked.talks.verdict == "acts":
        _talk(turn, mind, character, fields, common)
    else:
        _unless_idle(turn, common, "nothing_due", is_event=is_event)
    queue.tidy(turn, mind, fields)
    _wake(turn, mind)


class _Looked(Struct, frozen=True):
    """What each layer came to, in the order in which they are asked; None: it has none."""

    found: Finding
    works: Work | None
    talks: LayerVerdict | None

    @property
    def acts(self) -> bool:
        return any(each.verdict == "acts" for each in self.verdicts)

    @property
    def verdicts(self) -> list[LayerVerdict]:
        works = self.works.record() if self.works is not None else None
        all_ = (self.found.record(), works, self.talks)
        return [each for each in all_ if each is not None]


def _looked(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    fields: Mapping[str, object],
    at: datetime,
) -> _Looked:
    doing = reflexes.doing_at(character, at)
    return _Looked(
        reflexes.find(mind, fields, doing),
        queue.find(mind, character, fields, at),
        asking.verdict(turn, mind, character, fields, at),
    )


def _records(looked: _Looked) -> tuple[LayerVerdict, ...]:
    """Return the verdicts as recorded: one thing at a time, whoever is behind is not asked."""
    told, actor = [], None
    for each in looked.verdicts:
        if actor is None:
            told.append(each)
            actor = each.layer if each.verdict == "acts" else None
        else:
            why = f"the {actor} acts"
            told.append(LayerVerdict(layer=each.layer, verdict="not_asked", why=why))
    return tuple(told)


def _talk(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    fields: Mapping[str, object],
    common: dict[str, Any],
) -> None:
    """Ask the talker's model what to say."""
    layer = mind.talker
    assert layer is not None, "it came to a verdict"
    arm = asking.arm(turn, layer)
    asked = asking.ask(turn, mind, character, fields, turn.next_id)
    likely, draw = asking.odds(turn, layer, character, fields)
    silent = (Candidate(arm=SILENT, probability=1 - likely),) if likely < 1 else ()
    turn.emit(
        Decided(
            **common | {"probability": likely},
            draw=draw,
            path="llm",
            arm=arm,
            greedy_arm=arm,
            final=False,
            timing="queued",
            expires_at=asked.expires_at,
            candidates=(Candidate(arm=arm, probability=likely), *silent),
            layer=asking.TALKER,
            prompt_digest=asked.request_hash,
        )
    )
    turn.emit(asked)


def _unless_idle(
    turn: TurnContext, common: dict[str, Any], why: Silence, *, is_event: bool
) -> None:
    """Record that nothing is done about an event; a time with nothing to do is no occasion."""
    if not is_event:
        return
    turn.emit(
        Decided(
            **{"layers": (), **common},
            path="none",
            arm=SILENT,
            greedy_arm=SILENT,
            silence=why,
            final=True,
        )
    )


def _reflex(mind: CharacterMind, found: Finding) -> Deed:
    best = found.best
    assert best is not None, "what acts is a reflex"
    return Deed(
        layer="reflex",
        arm=f"{REFLEX}{best.name}",
        action=Action(type=best.behaviour, target=best.target),
        priority=mind.priority(best),
        candidates=_candidates(found),
    )


def _step(mind: CharacterMind, works: Work) -> Deed:
    behaviour = mind.behaviours.get(works.action.type, NO_TABLE)
    return Deed(
        layer="queue",
        arm=works.arm,
        action=works.action,
        priority=behaviour.priority,
        candidates=(Candidate(arm=works.arm, probability=1.0),),
    )


def _candidates(found: Finding) -> tuple[Candidate, ...]:
    """Return the reflexes that hold: the best is taken for certain, no draw is needed."""
    return tuple(
        Candidate(
            arm=f"{REFLEX}{each.name}", probability=1.0 if each is found.best else 0.0
        )
        for each in found.holding
    )


def _common(turn: TurnContext, mind: CharacterMind) -> dict[str, Any]:
    session = turn.state.session
    return {
        "strategy": STRATEGY,
        "strategy_version": VERSION,
        "config_hash": _digest(mind),
        "salience": _NOTHING_WEIGHED,
        "probability": 1.0,
        "session_id": session.id if session else None,
        "chain": turn.state.chain,
    }


def _wake(turn: TurnContext, mind: CharacterMind) -> None:
    """Tell when the character thinks next of its own accord, if that has changed."""
    character = turn.state.character
    due = _next(turn, mind, character)
    if due != character.due:
        turn.emit(WakeupSet(due_at=due))


def _next(
    turn: TurnContext, mind: CharacterMind, character: Character
) -> datetime | None:
    """Return when a layer is due next, if no event comes before."""

    def is_due(tick: datetime, fields: Mapping[str, object]) -> bool:
        return _looked(turn, mind, character, fields, tick).acts

    further = asking.times(turn, mind, character)
    if character.plan.tasks or character.plan.builds:
        further = [turn.now, *further]
    return reflexes.due(character, mind, turn.now, is_due, further)


@by_identity(256)
def _digest(mind: CharacterMind) -> str:
    return digest(mind.model_dump_json(exclude_defaults=True).encode())
