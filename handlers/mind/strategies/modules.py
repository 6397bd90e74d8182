"""Modules of strategies of one's own: only those that the operator lists are imported.

Whatever names a module may come from a control, a pack or a foreign file, so a name alone
never imports anything. The list is the program's own, set once, when it reads its settings.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from schemas.ports.aids import MissingStrategyError
from schemas.values.unicode_text import quoted

SETTING = "strategies.modules"

_CHANCE = (
    "random",
    "secrets",
    "numpy.random",
    "os.urandom",
    "uuid.uuid1",
    "uuid.uuid4",
)
"""What draws without a key, by which a replay would decide otherwise."""

_OURS = (
    "schemas",
    "streams",
    "projections",
    "handlers",
    "replay",
    "evaluation",
    "echoic",
)

_LISTED: ContextVar[tuple[str, ...]] = ContextVar("listed", default=())


class StrategyModuleError(ValueError):
    """A module that the operator lists cannot be used."""


def allow(names: Iterable[str]) -> None:
    """Let these modules, and no others, be imported from now on."""
    _LISTED.set(tuple(names))


def allowed() -> tuple[str, ...]:
    """The modules that may be imported."""
    return _LISTED.get()


def digests() -> dict[str, str]:
    """Import every listed module; return what its source is, by its name.

    Raises:
        StrategyModuleError: one of them cannot be imported, or draws by chance.
    """
    return {name: _digest(load(name)) for name in allowed()}


def load(name: str) -> ModuleType:
    """Import a listed module; the second time it is only looked up.

    Raises:
        MissingStrategyError: it is not listed.
        StrategyModuleError: it cannot be imported, or draws by chance.
    """
    if name not in allowed():
        raise MissingStrategyError(
            f"the module {quoted(name)} is not listed here: set {SETTING}"
            " (ECHOIC_STRATEGIES_MODULES) to run strategies of it"
        )
    if name.partition(".")[0] in _OURS:
        raise StrategyModuleError(
            f"{quoted(name)} is Echoic's own code: list a module of yours"
        )
    try:
        _check(name)
        return import_module(name)
    except StrategyModuleError:
        raise
    except (Exception, SystemExit) as error:
        raise StrategyModuleError(
            f"the module {quoted(name)} cannot be imported: {type(error).__name__}: {error}"
        ) from error


def _check(name: str) -> None:
    """Refuse a module that imports a source of chance, before its code runs."""
    source = _source(name)
    if source is None:
        return
    for used in _used(ast.parse(source)):
        if used in _CHANCE or used.startswith("numpy.random."):
            raise StrategyModuleError(
                f"the module {quoted(name)} uses {used}, so a replay would decide otherwise:"
                " return odds over arms, and Echoic draws by a recorded key"
            )


def _used(tree: ast.AST) -> Iterator[str]:
    """The dotted names that a module imports, and what it takes of those."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield each.name
                names[each.asname or each.name.partition(".")[0]] = (
                    each.name if each.asname else each.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            for each in node.names:
                names[each.asname or each.name] = f"{node.module}.{each.name}"
                yield f"{node.module}.{each.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            home = names.get(node.value.id)
            if home is not None:
                yield f"{home}.{node.attr}"


def _source(name: str) -> bytes | None:
    """The text of a module's file; None if it has none that can be read."""
    try:
        found = find_spec(name)
    except (ImportError, ValueError):
        return None
    if found is None or found.origin is None or not found.origin.endswith(".py"):
        return None
    return Path(found.origin).read_bytes()


def _digest(module: ModuleType) -> str:
    source = _source(module.__name__) or b""
    return hashlib.blake2b(source, digest_size=16).hexdigest()
