"""A strategy as text: `heuristic_first:threshold=0.6,max_candidates=2`.

A name, then what differs from its defaults. A name with a colon in it is one of your
own: `module:function`, then perhaps `:key=value,…`.
"""

from pydantic import JsonValue, ValidationError

from schemas.values.settings import StrategySpec
from schemas.values.unicode_text import quoted


class StrategyTextError(ValueError):
    """The text is no strategy; the message says where, and what to write."""


def parse(text: str) -> StrategySpec:
    """Parse a strategy's text; whether such a strategy exists, the registry decides.

    Raises:
        StrategyTextError: the text has another form, or names a parameter twice.
    """
    name, parameters = _divided(text.strip())
    try:
        return StrategySpec(name=name, parameters=_parameters(text, parameters))
    except ValidationError as error:
        raise StrategyTextError(
            f"{quoted(text)} names no strategy: write name:key=value,key=value"
        ) from error


def text_of(spec: StrategySpec) -> str:
    """Return the text that `parse` reads as this specification, if one can be written."""
    parts = [f"{key}={_written(spec.parameters[key])}" for key in spec.parameters]
    return ":".join([spec.name, *([",".join(parts)] if parts else [])])


def _divided(text: str) -> tuple[str, str]:
    """Split into the name and the text of the parameters, which may be empty."""
    head, _, rest = text.partition(":")
    # `name:key=value` against `module:function:key=value`: only parameters hold an `=`.
    if not rest or "=" in rest.partition(":")[0]:
        return head, rest
    function, _, parameters = rest.partition(":")
    return f"{head}:{function}", parameters


def _parameters(text: str, given: str) -> dict[str, JsonValue]:
    parameters: dict[str, JsonValue] = {}
    for part in filter(None, (each.strip() for each in given.split(","))):
        key, equals, value = (each.strip() for each in part.partition("="))
        if not (key and equals and value):
            raise StrategyTextError(
                f"{quoted(part)} in {quoted(text)} is no parameter: write key=value"
            )
        if key in parameters:
            raise StrategyTextError(
                f"{quoted(key)} stands twice in {quoted(text)}: give it once"
            )
        parameters[key] = _value(value)
    return parameters


def _value(text: str) -> JsonValue:
    """Parse a number, true, false or null; else return the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    for read in (int, float):
        try:
            number = read(text)
        except ValueError:
            continue
        # nan and inf are numbers to Python, and no JSON.
        return number if abs(number) < float("inf") else text
    return text


def _written(value: JsonValue) -> str:
    for word in _WORDS:
        # By identity, since 1 == True.
        if value is _WORDS[word]:
            return word
    return str(value)


_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
