"""What a model would change of an autonomous character, read from its review.

What names no kind of action, no situation it was ever in, or nothing it could do is left out,
with the reason; the rest counts.
"""

from collections.abc import Iterator, Sequence
from typing import get_args

from msgspec import Struct

from handlers.mind.characters import replies
from handlers.mind.characters.autonomous import actions
from projections.folds.characters import persona
from schemas.messages.learning import CharacterChange, StoredRoutine
from schemas.packs.autonomous import ActionKind, Autonomous
from schemas.state import limits
from schemas.state.autonomy import Autonomy
from schemas.values.exact_math import round6
from schemas.values.prompt_fencing import shown
from schemas.values.unicode_text import quoted

FORM = (
    'Answer with one JSON object: {"review": "<which decisions were good, which bad, and'
    ' why>", "weights": {"<kind>": <0.0-1.0>} or null, "routines": [{"situation": "<as'
    ' told>", "action": "<what to do there, or null to decide anew>", "target": "<object'
    ' or null>"}], "world_knowledge": {"add": ["<sentence>"], "remove": ["<sentence>"]}}.'
)

_MOST = 6
"""How many changes one review may propose."""
_SENTENCE = 200


class _Review(Struct, frozen=True):
    """A review, and what it would change."""

    text: str
    changes: tuple[CharacterChange, ...]
    left_out: tuple[str, ...]


def read(text: str, how: Autonomous, known: Autonomy) -> _Review:
    """Read a review.

    Raises:
        Unreadable: there is no JSON object with a review in it.
    """
    told = replies.read_object(text)
    review = told.get("review")
    if not isinstance(review, str) or not review.strip():
        raise replies.Unreadable('the reply has no "review"')
    left_out: list[str] = []
    changes = [
        *_weights(told.get("weights"), how, known, left_out),
        *_routines(told.get("routines"), how, known, left_out),
        *_knowledge(told.get("world_knowledge"), how, known, left_out),
    ]
    left_out += [f"{each.kind} {each.name}: one too many" for each in changes[_MOST:]]
    words = shown(review, limits.INSIGHT)
    return _Review(words, tuple(changes[:_MOST]), tuple(left_out))


def _weights(
    told: object, how: Autonomous, known: Autonomy, left_out: list[str]
) -> Iterator[CharacterChange]:
    if not isinstance(told, dict):
        return
    for kind in told:
        value = told[kind]
        if kind not in get_args(ActionKind):
            left_out.append(f"no kind of action is called {quoted(str(kind)[:80])}")
        elif isinstance(value, bool) or not isinstance(value, int | float):
            left_out.append(f"the weight of {kind} is no number")
        elif not 0.0 <= value <= 1.0:
            left_out.append(f"the weight of {kind} is not within 0 and 1")
        else:
            before, after = persona.weight(how, known, kind), round6(float(value))
            if before != after:
                yield CharacterChange(
                    kind="weight", name=kind, before=before, after=after
                )


def _routines(
    told: object, how: Autonomous, known: Autonomy, left_out: list[str]
) -> Iterator[CharacterChange]:
    seen = {*known.routines, *(each.situation for each in known.acts)}
    for each in told if isinstance(told, list) else ():
        situation = each.get("situation") if isinstance(each, dict) else None
        if not isinstance(situation, str) or situation not in seen:
            left_out.append(f"it was in no situation {quoted(str(situation)[:80])}")
            continue
        routine = known.routines.get(situation)
        before = persona.stored(routine) if routine is not None else None
        name = each.get("action")
        after = (
            _wanted(name, each.get("target"), how) if isinstance(name, str) else None
        )
        if isinstance(name, str) and after is None:
            left_out.append(f"no action is called {quoted(name[:80])} or nearly so")
        elif (before and before.action) != (after and after.action):
            yield CharacterChange(
                kind="routine", name=situation, before=before, after=after
            )


def _wanted(name: str, target: object, how: Autonomous) -> StoredRoutine | None:
    meant = actions.closest(name, actions.choices(how))
    if meant is None:
        return None
    on = target[:200] if isinstance(target, str) and target else None
    # As trusted as what was done as often as trust takes, and no more.
    uses = how.routines.least_uses
    return StoredRoutine(action=meant.id, target=on, uses=uses, successes=uses)


def _knowledge(
    told: object, how: Autonomous, known: Autonomy, left_out: list[str]
) -> Iterator[CharacterChange]:
    if not isinstance(told, dict):
        return
    knows = persona.knowledge(how, known)
    for gone in _sentences(told.get("remove")):
        if gone in knows:
            yield CharacterChange(kind="knowledge", name=persona.KNOWLEDGE, before=gone)
        else:
            left_out.append(f"it does not know {quoted(gone)}")
    for come in _sentences(told.get("add")):
        if come not in knows:
            yield CharacterChange(kind="knowledge", name=persona.KNOWLEDGE, after=come)


def _sentences(told: object) -> Sequence[str]:
    lines = told if isinstance(told, list) else ()
    found = [shown(each, _SENTENCE) for each in lines if isinstance(each, str)]
    return [each for each in found if each]
