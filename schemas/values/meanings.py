"""What the fields of messages and parts mean: the strings below them in the source.

Python keeps none of them at run time, so they are read from the source when a page, a
schema or a command shows them. No command that only works with messages pays for that.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from schemas.values.base import MessagePart, Part


@cache
def meanings_of(kind: type[Part] | type[MessagePart]) -> dict[str, str]:
    """Return what the fields of a class mean by their names, inherited ones included."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        # Bases without fields of their own, such as `object`, have nothing to read.
        if issubclass(each, Part | MessagePart) and each.__annotations__:
            found.update(_declared(each))
    return found


def describe() -> None:
    """Have the JSON Schemas of all parts that are loaded tell what their fields mean.

    Call it before a schema is made for people to read. A part that was described before
    is left as it is, so that a second call costs little.
    """
    for each in _parts(Part):
        given = vars(each).get("__pydantic_fields__", {})
        meanings = meanings_of(each)
        silent = [name for name in given if given[name].description is None]
        for name in silent:
            given[name].description = meanings.get(name)
        if any(name in meanings for name in silent):
            each.__pydantic_complete__ = False
    for each in _parts(Part):
        if not each.__pydantic_complete__:
            each.model_rebuild(force=True)


def _parts(kind: type[Part]) -> Iterator[type[Part]]:
    for each in kind.__subclasses__():
        yield each
        yield from _parts(each)


def _declared(kind: type) -> Iterator[tuple[str, str]]:
    """Yield the fields that a class itself declares with what they mean."""
    try:
        source = inspect.getsource(kind)
    # One that was made at run time, of another, has said what its fields mean.
    except (OSError, TypeError):
        return
    (declared,) = ast.parse(textwrap.dedent(source)).body
    assert isinstance(declared, ast.ClassDef)
    for field, below in pairwise(declared.body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str() as text)),
            ):
                yield name, inspect.cleandoc(text)
            case _:
                pass
