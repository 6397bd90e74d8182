"""Layers: what each layer of a character comes to, in the order in which they are asked."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from handlers.mind.characters import reflexes
from handlers.mind.characters.executor import executing
from handlers.mind.characters.queue import work
from handlers.mind.characters.queue.work import Work
from handlers.mind.characters.reflexes import Finding
from handlers.mind.characters.single import one_model
from handlers.mind.characters.talker import talking
from handlers.mind.context import TurnContext
from schemas.messages.decisions import LayerVerdict
from schemas.packs.characters import CharacterMind
from schemas.state.character import Character, Failing

_NONE: Mapping[str, Failing] = {}


class _Looked(Struct, frozen=True):
    """What each layer came to; None: the character has no such layer."""

    found: Finding
    works: Work | None
    talks: LayerVerdict | None
    plans: LayerVerdict | None
    both: LayerVerdict | None
    """Of one model that talks and plans."""

    @property
    def verdicts(self) -> list[LayerVerdict]:
        """What the layers came to, in order."""
        works = self.works.record() if self.works is not None else None
        all_ = (self.found.record(), works, self.talks, self.plans, self.both)
        return [each for each in all_ if each is not None]

    @property
    def actor(self) -> str | None:
        """The first layer that acts; None if none does."""
        return next(
            (each.layer for each in self.verdicts if each.verdict == "acts"), None
        )

    @property
    def records(self) -> tuple[LayerVerdict, ...]:
        """The verdicts as recorded: one thing at a time, whoever is behind is not asked."""
        told: list[LayerVerdict] = []
        actor = None
        for each in self.verdicts:
            if actor is None:
                told.append(each)
                actor = each.layer if each.verdict == "acts" else None
            else:
                why = f"the {actor} acts"
                told.append(
                    LayerVerdict(layer=each.layer, verdict="not_asked", why=why)
                )
        return tuple(told)


def look(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    fields: Mapping[str, object],
    at: datetime,
) -> _Looked:
    """Return what each layer comes to at a time, with the body as it is then."""
    doing, waits = reflexes.doing_at(character, at), _waits(turn, character, at)
    found = reflexes.find(mind, fields, doing, waits=waits)
    works = work.find(mind, character, fields, at)
    if mind.mode == "single":
        both = one_model.verdict(turn, mind, character, fields, at)
        return _Looked(found, works, None, None, _told(both, character))
    talks = talking.verdict(turn, mind, character, fields, at)
    plans = executing.verdict(turn, mind, character, fields, at)
    return _Looked(found, works, _told(talks, character), _told(plans, character), None)


def _told(verdict: LayerVerdict | None, character: Character) -> LayerVerdict | None:
    """Return a layer's verdict, which says so if its model failed when it was last asked."""
    reason = character.failed.get(verdict.layer) if verdict is not None else None
    if verdict is None or reason is None:
        return verdict
    why = f"{verdict.why}; scripted since its model failed: {reason}"
    return replace(verdict, why=why)


def _waits(
    turn: TurnContext, character: Character, at: datetime
) -> Mapping[str, Failing]:
    """Return what is held back at a time, by behaviour, as it failed."""
    failing = character.failing
    if not failing or not turn.settings.characters.backs_off:
        return _NONE
    return {each: failing[each] for each in failing if at < failing[each].until}


def next_time(
    turn: TurnContext, mind: CharacterMind, character: Character
) -> datetime | None:
    """Return when a layer is due next, if no event comes before."""
    fields = reflexes.fields_at(character, mind, turn.now)
    among = reflexes.possible(mind, fields)

    def is_due(tick: datetime, then: Mapping[str, object]) -> bool:
        # As `look` finds it, but only as far as the first layer that acts.
        doing = reflexes.doing_at(character, tick)
        waits = _waits(turn, character, tick)
        if reflexes.find(mind, then, doing, among, waits).acts:
            return True
        works = work.find(mind, character, then, tick)
        if works is not None and works.acts:
            return True
        if mind.mode == "single":
            both = one_model.verdict(turn, mind, character, then, tick)
            return both.verdict == "acts"
        asked = (
            layer.verdict(turn, mind, character, then, tick)
            for layer in (talking, executing)
        )
        return any(each is not None and each.verdict == "acts" for each in asked)

    further = talking.times(turn, mind, character, fields)
    further += executing.times(turn, mind, character, fields)
    if character.plan.tasks or character.plan.builds or character.failed:
        further = [turn.now, *further]
    held = _waits(turn, character, turn.now)
    further += [held[each].until for each in sorted(held)]
    return reflexes.due(character, mind, turn.now, is_due, further)
