"""Checks that pydantic's models cannot make: names that must differ, or ought to agree.

They read the plain values, so they also report when the manifest is otherwise invalid.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from pydantic import JsonValue

from echoic.packs.faults import make
from echoic.packs.problems import Problem, did_you_mean
from echoic.packs.yaml_positions import Source, Steps
from schemas.packs import conditions, word_patterns
from schemas.packs.autonomous import WEIGHTS_OFF
from schemas.packs.condition_parser import Comparison, Every, Not, Part, Some
from schemas.packs.manifest import CONFIDENCE_MAX, CONFIDENCE_MIN
from schemas.values.exact_math import total


def all_problems(source: Source) -> Iterator[Problem]:
    """Run every check."""
    for check in _CHECKS:
        yield from check(source)


def _repeated_keys(source: Source) -> Iterator[Problem]:
    # Parsers differ in which of two equal keys wins; ours keeps the first.
    for steps, place in source.repeated:
        first = source.place_of_key(steps).line
        message = f'key "{steps[-1]}" again: it stands on line {first} already'
        yield make(source, place, "E-PACK-008", message)


def _repeated_heuristics(source: Source) -> Iterator[Problem]:
    first: dict[JsonValue, int] = {}
    for steps, heuristic in _mappings(source, "heuristics"):
        name = heuristic.get("name")
        if not isinstance(name, str):
            continue
        place = source.place_of((*steps, "name"))
        if name in first:
            message = f'a second heuristic "{name}": the first is on line {first[name]}'
            yield make(source, place, "E-PACK-008", message)
        first.setdefault(name, place.line)


def _repeated_events(source: Source) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for steps, event in _mappings(source, "events"):
        place = source.place_of((*steps, "type"))
        declared = f"{event.get('type')} of {event.get('source') or 'any source'}"
        if declared in first:
            message = f"{declared} again: it is declared on line {first[declared]}"
            yield make(source, place, "E-PACK-008", message)
        first.setdefault(declared, place.line)


def _undeclared_events(source: Source) -> Iterator[Problem]:
    """Warn of a `when` on a type that the pack does not declare: it can never hold."""
    declared = [str(event.get("type")) for _, event in _mappings(source, "events")]
    heuristics = list(_mappings(source, "heuristics"))
    if heuristics and not declared:
        place = source.place_of_key(("heuristics",))
        message = "no event types are declared, so no heuristic can ever match"
        advice = "declare them under events:"
        yield _warning(make(source, place, "E-PACK-012", message, advice))
        return
    for steps, heuristic in heuristics:
        for comparison in _types_named(heuristic.get("when")):
            for named in comparison.values:
                if named not in declared:
                    when = str(heuristic["when"])
                    # A name written with escapes is not found; then the place
                    # is where the condition begins.
                    offset = max(when.find(f'"{named}"'), 0)
                    place = source.place_within((*steps, "when"), offset)
                    message = f'event type "{named}" is not declared'
                    advice = did_you_mean(named, declared)
                    yield _warning(make(source, place, "E-PACK-011", message, advice))


def _never_asked(source: Source) -> Iterator[Problem]:
    """Warn of heuristics beside a mind: a character decides by its layers alone."""
    root = source.value if isinstance(source.value, dict) else {}
    if root.get("mind") and root.get("heuristics"):
        place = source.place_of_key(("heuristics",))
        message = "heuristics beside a mind are never asked: its layers decide"
        advice = "write reflexes under mind:, or put them into a pack of their own"
        yield _warning(make(source, place, "E-PACK-017", message, advice))


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _denied_readings(source: Source) -> Iterator[Problem]:
    """Warn of `not` before a comparison of size: it reads as if it held without a reading.

    It does not: of what is missing, or no number, neither it nor its opposite is true.
    """
    for steps, when in _texts(source.value, ()):
        for denied in _denied(when):
            offset = max(when.find(denied.text), 0)
            place = source.place_within(steps, offset)
            name, (value,) = denied.field, denied.values
            plain = f"{name} {_OPPOSITE[denied.operator]} {value:g}"
            message = (
                f"not {denied.text} does not hold where {name} is missing or no number"
            )
            advice = f"write {plain}; for one that is missing also: or {name} = null"
            yield _warning(make(source, place, "E-PACK-016", message, advice))


def _texts(value: JsonValue, steps: Steps) -> Iterator[tuple[Steps, str]]:
    """Yield every `when` of a manifest."""
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _texts(each, (*steps, index))
    if isinstance(value, dict):
        for key, each in value.items():
            if key == "when" and isinstance(each, str):
                yield (*steps, key), each
            else:
                yield from _texts(each, (*steps, key))


def _denied(when: str) -> Iterator[Comparison]:
    """Yield the comparisons of size that stand right behind a `not`."""
    try:
        waiting = [conditions.parse(when).part]
    # Reported by the models' validation, with its place.
    except conditions.ConditionError:
        return
    while waiting:
        match waiting.pop(0):
            case Not(Comparison() as inner):
                value = inner.values[0]
                is_size = inner.operator in _OPPOSITE and not isinstance(value, str)
                if is_size and value is not None:
                    yield inner
            case Not(inner):
                waiting.append(inner)
            case Every(parts) | Some(parts):
                waiting += parts
            case Comparison():
                pass


def _undeclared_outcomes(source: Source) -> Iterator[Problem]:
    """Warn of a session outcome that is counted from an undeclared event type."""
    declared = [str(event.get("type")) for _, event in _mappings(source, "events")]
    for steps, outcome in _mappings(source, "session_outcomes"):
        named = outcome.get("type")
        if isinstance(named, str) and named not in declared:
            place = source.place_of((*steps, "type"))
            message = f'event type "{named}" is not declared'
            advice = did_you_mean(named, declared)
            yield _warning(make(source, place, "E-PACK-011", message, advice))


def _types_named(when: JsonValue) -> list[Comparison]:
    """Return a condition's comparisons with the event's type; [] if it is invalid."""
    if not isinstance(when, str):
        return []
    try:
        part = conditions.parse(when).part
    # Reported by the models' validation, with its place.
    except conditions.ConditionError:
        return []
    return [
        each
        for each in _comparisons(part)
        if each.field == "type" and each.operator in ("=", "in")
    ]


def _comparisons(part: Part) -> Iterator[Comparison]:
    match part:
        case Comparison():
            yield part
        case Not():
            yield from _comparisons(part.part)
        case Every() | Some():
            for each in part.parts:
                yield from _comparisons(each)


def _untriggered_patterns(source: Source) -> Iterator[Problem]:
    """Warn of an outcome pattern that no event seems to trigger, so it is never armed."""
    spoken = "\n".join(_spoken(source))
    words = word_patterns.event_words(spoken, "", "", {})
    for steps, pattern in _mappings(source, "executive", "outcome_patterns"):
        trigger = pattern.get("trigger_pattern")
        if not isinstance(trigger, str) or not word_patterns.has_words(trigger):
            continue
        if not word_patterns.occurs(trigger, words):
            message = f'no event type or condition here speaks of "{trigger}"'
            known = sorted(set(words.words.split()))
            place = source.place_of((*steps, "trigger_pattern"))
            advice = did_you_mean(trigger.casefold(), known)
            yield _warning(make(source, place, "E-PACK-009", message, advice))


def _spoken(source: Source) -> Iterator[str]:
    """Yield the texts that hint at the words of the pack's events."""
    for _, event in _mappings(source, "events"):
        yield from (
            str(event.get(key, "")) for key in ("type", "source", "description")
        )
    for _, heuristic in _mappings(source, "heuristics"):
        yield from (str(heuristic.get(key, "")) for key in ("condition", "when"))


def _contrary_bounds(source: Source) -> Iterator[Problem]:
    """Report a floor over a ceiling; warn of a confidence or bound that cannot hold."""
    root = source.value if isinstance(source.value, dict) else {}
    # A heuristic's own bounds override the pack's, key by key.
    of_pack = _constraints(root)
    if _is_upside_down(of_pack):
        yield _upside_down(source, ("constraints",), of_pack)
        return
    for steps, heuristic in _mappings(source, "heuristics"):
        own = _constraints(heuristic)
        both = {**of_pack, **own}
        if _is_upside_down(own):
            yield _upside_down(source, (*steps, "constraints"), own)
        elif _is_upside_down(both):
            key, other = (
                ("floor", "ceiling") if "floor" in own else ("ceiling", "floor")
            )
            place = source.place_of((*steps, "constraints", key))
            message = f"{key} {both[key]}: the pack's {other} {both[other]} cannot hold"
            yield _warning(make(source, place, "E-PACK-014", message))
        else:
            yield from _declared_outside(source, steps, heuristic, both)


def _weights_off(source: Source) -> Iterator[Problem]:
    """Warn of a random policy's weights that do not add up to 1."""
    found: JsonValue = source.value
    steps = ("mind", "autonomous", "weights")
    for step in steps:
        found = found.get(step) if isinstance(found, dict) else None
    weights = (
        [_number(each) for each in found.values()] if isinstance(found, dict) else []
    )
    known = [each for each in weights if each is not None]
    whole = total(known)
    if not weights or len(known) < len(weights) or abs(whole - 1.0) <= WEIGHTS_OFF:
        return
    message = f"the weights add up to {whole:g}: they count in proportion"
    if whole <= 0.0:
        message = "the weights add up to nothing: it only wanders"
    yield _warning(make(source, source.place_of(steps), "E-PACK-014", message))


def _declared_outside(
    source: Source,
    steps: Steps,
    heuristic: dict[str, JsonValue],
    bounds: dict[str, JsonValue],
) -> Iterator[Problem]:
    declared = _number(heuristic.get("confidence", 0.5))
    floor, ceiling = _number(bounds.get("floor", 0)), _number(bounds.get("ceiling", 1))
    if declared is None or floor is None or ceiling is None:
        return
    if not CONFIDENCE_MIN <= declared <= CONFIDENCE_MAX:
        return  # whatever the bounds, no heuristic may declare that
    if not floor <= declared <= ceiling:
        kept = floor if declared < floor else ceiling
        place = source.place_of(
            (*steps, "confidence") if "confidence" in heuristic else steps
        )
        message = f"confidence {declared:g} is out of bounds: it is kept at {kept:g}"
        yield _warning(make(source, place, "E-PACK-014", message))


def _constraints(of: dict[str, JsonValue]) -> dict[str, JsonValue]:
    found = of.get("constraints")
    return found if isinstance(found, dict) else {}


def _is_upside_down(bounds: dict[str, JsonValue]) -> bool:
    floor, ceiling = _number(bounds.get("floor")), _number(bounds.get("ceiling"))
    return floor is not None and ceiling is not None and floor > ceiling


def _upside_down(source: Source, steps: Steps, bounds: dict[str, JsonValue]) -> Problem:
    message = f"the floor {bounds['floor']} is over the ceiling {bounds['ceiling']}"
    place = source.place_of((*steps, "floor"))
    return make(source, place, "E-PACK-013", message)


def _number(value: JsonValue) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and isinstance(value, int | float) else None


def _mappings(
    source: Source, *steps: str
) -> Iterator[tuple[Steps, dict[str, JsonValue]]]:
    """Yield the mappings in the list at these steps, each with its own steps."""
    value = source.value
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    for index, each in enumerate(value if isinstance(value, list) else ()):
        if isinstance(each, dict):
            yield (*steps, index), each


def _warning(problem: Problem) -> Problem:
    return replace(problem, severity="warning")


_CHECKS: tuple[Callable[[Source], Iterator[Problem]], ...] = (
    _repeated_keys,
    _repeated_heuristics,
    _repeated_events,
    _undeclared_events,
    _never_asked,
    _denied_readings,
    _undeclared_outcomes,
    _untriggered_patterns,
    _contrary_bounds,
    _weights_off,
)
