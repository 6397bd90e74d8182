"""A name is one thing: no module, and no class, binds a name of its own twice.

Linters see functions that are defined again, and no assignments: `limits.SPEECH` was a number
of responses and, further down, a number of characters.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.test_architecture import PACKAGES, ROOT, python_files

FOLDERS = (*PACKAGES, "packs", "bench", "docs")


def test_no_name_is_bound_twice() -> None:
    """In no module of ours."""
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in python_files(FOLDERS)
        for name in bound_twice(path)
    ]

    assert wrong == []


ONCE = (
    "X: int\nX = 1",
    "try:\n    import a\nexcept ImportError:\n    a = None",
    "if TYPE_CHECKING:\n    from a import B\nelse:\n    B = object",
    "if x:\n    A = 1\nelif y:\n    A = 2\nelse:\n    A = 3",
    "@overload\ndef f(x: int): ...\n@overload\ndef f(x: str): ...\ndef f(x): ...",
    "class A:\n    @property\n    def x(self): ...\n    @x.setter\n    def x(self, to): ...",
    "A = 1\ndef f():\n    A = 2\n    A = 3",
    "for _ in a: ...\nfor _ in b: ...",
    "A = 1\nA += 1",
    "match x:\n    case 1:\n        A = 1\n    case _:\n        A = 2",
)
TWICE = (
    "A = 1\nA = 2",
    "A: int = 1\nA: int = 2",
    "A, B = 1, 2\n(B, *C) = 3, 4",
    "def f(): ...\nf = 1",
    "class A: ...\nA = 1",
    "import a\na = 1",
    "from a import b as c\nc = 1",
    "from a import b\nfrom c import b",
    "A = 1\nif x:\n    A = 2",
    "if x:\n    A = 1\n    A = 2\nelse:\n    A = 3",
    "try:\n    A = 1\nexcept E:\n    pass\nelse:\n    A = 2",
    "class A:\n    b: int = 1\n    b: int = 2",
    "with x as a: ...\na = 1",
)


@pytest.mark.parametrize("source", ONCE)
def test_what_is_bound_once_in_each_case(source: str) -> None:
    """Alternatives are one binding, and so are overloads and what only adds."""
    assert list(_twice(ast.parse(source).body)) == []


@pytest.mark.parametrize("source", TWICE)
def test_what_is_bound_twice(source: str) -> None:
    """By whatever binds, and in whatever branch it is bound again."""
    assert list(_twice(ast.parse(source).body)) != []


def bound_twice(path: Path) -> Iterator[str]:
    """Yield each name that a module, or a class in it, binds twice."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from _twice(tree.body)


def _twice(body: Sequence[ast.stmt]) -> Iterator[str]:
    counts = _counts(body)
    yield from (name for name in counts if counts[name] > 1)
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{name}" for name in _twice(node.body))


def _counts(body: Sequence[ast.stmt]) -> Counter[str]:
    """Return how often each name is bound by some statements that run one after another."""
    found: Counter[str] = Counter()
    for node in body:
        found += _counts_of(node)
    return found


def _counts_of(node: ast.stmt) -> Counter[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return Counter() if _is_variant(node) else Counter([node.name])
        case ast.ClassDef(name=name):
            return Counter([name])
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return Counter(_imported(each) for each in names)
        case ast.Assign(targets=targets):
            return Counter(name for each in targets for name in _names(each))
        case ast.AnnAssign(target=target, value=value) if value is not None:
            return Counter(_names(target))
        case ast.If(body=then, orelse=otherwise):
            return _counts(then) | _counts(otherwise)
        case ast.Try(body=tried, handlers=handlers, orelse=went_well, finalbody=last):
            # What went well stands after what was tried; each handler in the place of both.
            ways = [_counts(tried) + _counts(went_well)]
            ways += [_counts(each.body) for each in handlers]
            return _most(ways) + _counts(last)
        case ast.Match(cases=cases):
            return _most([_counts(each.body) for each in cases])
        case ast.With(items=items, body=within):
            held = [each.optional_vars for each in items if each.optional_vars]
            return Counter(n for each in held for n in _names(each)) + _counts(within)
        case _:
            return Counter()


def _most(ways: Sequence[Counter[str]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in ways:
        found |= each
    return found


def _is_variant(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it is an overload, or another accessor of a property of its own name."""
    for each in node.decorator_list:
        match each:
            case ast.Name(id="overload") | ast.Attribute(attr="overload"):
                return True
            case ast.Attribute(value=ast.Name(id=name)) if name == node.name:
                return True
            case _:
                continue
    return False


def _imported(alias: ast.alias) -> str:
    # `import a.b` and `import a.c` bind `a` both, to one thing.
    return alias.asname or alias.name


def _names(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name):
            # What nobody reads may be bound as often as one likes.
            yield from () if name == "_" else (name,)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for each in elements:
                yield from _names(each)
        case ast.Starred(value=value):
            yield from _names(value)
        case _:
            return


def test_a_class_of_the_schemas_has_a_name_of_its_own() -> None:
    """So that a page of messages, and whoever searches, finds one of each."""
    names = [
        part.name
        for path in (ROOT / "schemas").rglob("*.py")
        for part in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(part, ast.ClassDef) and not part.name.startswith("_")
    ]

    assert [name for name, count in Counter(names).items() if count > 1] == []
