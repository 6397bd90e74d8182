"""The page of all messages, made from their own models.

The models are the only source; a field is explained where it is declared.
"""

import inspect
import typing
from collections.abc import Iterator
from types import UnionType

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from schemas.codec import catalogue
from schemas.values.base import MessageType, Part
from schemas.values.meanings import meanings_of
from schemas.values.struct_models import part_model

_INTRODUCTION = """\
# Messages

Everything the log holds, by kind. An input stands under
`ev.<p>.in.<agent>.<kind>.<token>` (a sensor's under `….sensor.<source>.<type>`), an
output under `ev.<p>.out.<agent>.<kind>.<token>`. Fields that are not set are left out.
This page is generated from the models in `schemas/`: `make docs` writes it,
`make check` compares it.
"""


def render() -> str:
    """Return the whole page."""
    sections = [_INTRODUCTION]
    for title, kinds in (("Inputs", catalogue.INPUTS), ("Outputs", catalogue.OUTPUTS)):
        sections.append(f"## {title}\n")
        sections.extend(map(_message, kinds))
    sections.append("## Parts of messages\n")
    sections.extend(_part(part) for part in _parts())
    return "\n".join(sections)


def _message(kind: MessageType) -> str:
    version = "" if kind.version == 1 else f", version {kind.version}"
    heading = f"### {kind.__name__}\n\n`{kind.kind}` · `{kind.token}`{version}\n"
    model = part_model(kind)
    return "\n".join([heading, f"{_docstring(model)}\n", *_fields(model)])


def _part(part: type[BaseModel]) -> str:
    return "\n".join(
        [f"### {part.__name__}\n", f"{_docstring(part)}\n", *_fields(part)]
    )


def _docstring(model: type[BaseModel]) -> str:
    return inspect.cleandoc(model.__doc__ or "")


def _fields(model: type[BaseModel]) -> Iterator[str]:
    if not model.model_fields:
        return
    yield "| field | type | default | meaning |"
    yield "|---|---|---|---|"
    meanings = meanings_of(model) if issubclass(model, Part) else {}
    for name, field in model.model_fields.items():
        # A pipe would end the cell of a Markdown table.
        said = field.description or meanings.get(name, "")
        meaning = " ".join(said.split()).replace("|", "\\|")
        kind = _type(field.annotation).replace("|", "\\|")
        yield f"| `{name}` | {kind} | {_default(field)} | {meaning} |"
    yield ""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None or value in ("", (), {}):
        return ""
    return f"`{value!r}`".replace("|", "\\|")


def _type(annotation: object) -> str:
    """Return a type in a few plain words: `list of Candidate`, `"live" or "replay"`."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    # Bounds are validation; the table shows the type alone.
    if origin is typing.Annotated:
        return _type(arguments[0])
    if origin is typing.Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if origin in (typing.Union, UnionType):
        kinds = [_type(each) for each in arguments if each is not type(None)]
        return " or ".join(kinds)
    if origin in (tuple, list, frozenset):
        items = [_type(each) for each in arguments if each is not Ellipsis]
        return f"list of {', '.join(items)}"
    if origin is not None:
        return f"{_name(origin)} of {' to '.join(_type(each) for each in arguments)}"
    return _name(annotation)


_WORDS = {
    "str": "text",
    "int": "whole number",
    "float": "number",
    "bool": "yes or no",
    "dict": "map",
    "datetime": "time",
    "JsonValue": "any JSON",
}


def _name(annotation: object) -> str:
    name = getattr(annotation, "__name__", str(annotation))
    return _WORDS.get(name, name)


def _parts() -> list[type[BaseModel]]:
    """Return every part that a message is made of, by name."""
    found: dict[str, type[BaseModel]] = {}
    kinds = (*catalogue.INPUTS, *catalogue.OUTPUTS)
    messages = [part_model(kind) for kind in kinds]
    waiting: list[object] = [*messages]
    while waiting:
        annotation = waiting.pop()
        waiting.extend(typing.get_args(annotation))
        if not (inspect.isclass(annotation) and issubclass(annotation, Part)):
            continue
        if annotation not in messages:
            # Parts refer to each other: one that was seen must not be walked again.
            if annotation.__name__ in found:
                continue
            found[annotation.__name__] = annotation
        waiting.extend(field.annotation for field in annotation.model_fields.values())
    return [found[name] for name in sorted(found)]
