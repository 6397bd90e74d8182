"""The mutants of a module: one small change each, within one function.

Changed are comparisons, arithmetic, numbers, `and` and `or`, `not`, True and False, the
conditions of `if`, and what is returned. What runs at import is not: defaults, decorators,
tables at module level.
"""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

CALLED = "__called__"
"""The name under which an instrumented function finds where to note that it ran."""

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
}  # fmt: skip
_JOINED: dict[type[ast.boolop], type[ast.boolop]] = {ast.And: ast.Or, ast.Or: ast.And}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Change = Callable[[ast.AST], ast.AST]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one function."""

    path: Path
    function: str
    """The qualified name of the outermost function that it is in."""
    line: int
    before: str
    after: str
    code: CodeType
    """Of the whole outermost function."""

    def __str__(self) -> str:
        """Return it as one line."""
        return (
            f"{self.path}:{self.line} {self.function}: `{self.before}` → `{self.after}`"
        )


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a module's file, in the order of its lines."""
    tree = ast.parse(path.read_text())
    for name, function in functions(tree):
        for place, (node, change) in enumerate(_changes(function)):
            changed = _changed(tree, function, place)
            after = change(copy.deepcopy(node))
            yield Mutant(
                path,
                name,
                getattr(node, "lineno", function.lineno),
                _first_line(node),
                _first_line(after),
                code_of(changed, path, name),
            )


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).partition("\n")[0]


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield each outermost function and method, with its qualified name."""

    def within(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Function]]:
        for each in body:
            if isinstance(each, Function):
                yield prefix + each.name, each
            elif isinstance(each, ast.ClassDef):
                yield from within(each.body, f"{prefix}{each.name}.")

    yield from within(tree.body, "")


def instrumented(path: Path) -> dict[str, CodeType]:
    """Return each function's code with a note of its name at its begin."""
    tree = ast.parse(path.read_text())
    names = []
    for name, function in functions(tree):
        note = ast.parse(f"{CALLED}.add({name!r})").body[0]
        # Behind the docstring, which is the function's own.
        function.body.insert(int(ast.get_docstring(function) is not None), note)
        names.append(name)
    ast.fix_missing_locations(tree)
    return {name: code_of(tree, path, name) for name in names}


def code_of(tree: ast.Module, path: Path, name: str) -> CodeType:
    """Compile a module, and return the code of one of its functions.

    Raises:
        LookupError: it has none of that name.
    """

    def within(code: CodeType) -> Iterator[CodeType]:
        for each in code.co_consts:
            if isinstance(each, CodeType):
                yield each
                yield from within(each)

    whole = compile(tree, str(path), "exec", dont_inherit=True)
    for code in within(whole):
        if code.co_qualname == name:
            return code
    raise LookupError(f"{path} has no function {name!r}")


def _changed(tree: ast.Module, function: Function, place: int) -> ast.Module:
    """Return a copy of a module with the change at a place of a function."""
    copied = copy.deepcopy(tree)
    twin = next(
        each
        for _, each in functions(copied)
        if (each.name, each.lineno) == (function.name, function.lineno)
    )
    node, change = list(_changes(twin))[place]

    class Put(ast.NodeTransformer):
        def visit(self, visited: ast.AST) -> ast.AST:
            if visited is node:
                return ast.copy_location(change(visited), visited)
            return self.generic_visit(visited)

    Put().visit(twin)
    return ast.fix_missing_locations(copied)


def _changes(function: Function) -> Iterator[tuple[ast.AST, Change]]:
    """Yield each node of a function's body that can be changed, and how."""
    for statement in function.body:
        for node in _evaluated(statement):
            change = _change_of(node)
            if change is not None:
                yield node, change


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what is in it, without annotations."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment"):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield from _evaluated(each)


def _change_of(node: ast.AST) -> Change | None:
    match node:
        case ast.Compare(ops=[op, *_]) if type(op) in _COMPARED:
            return _compare_otherwise
        case ast.BinOp(op=op) if type(op) in _COMPUTED:
            return _compute_otherwise
        case ast.BoolOp():
            return _join_otherwise
        case ast.UnaryOp(op=ast.Not()):
            return lambda made: made.operand  # type: ignore[attr-defined]
        case ast.Constant(value=bool() | int() | float()):
            return _another_constant
        case ast.If():
            return _if_not
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            return lambda made: ast.Return(ast.Constant(None))
        case _:
            return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _compare_otherwise(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Compare)
    node.ops[0] = _COMPARED[type(node.ops[0])]()
    return node


def _compute_otherwise(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BinOp)
    node.op = _COMPUTED[type(node.op)]()
    return node


def _join_otherwise(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BoolOp)
    node.op = _JOINED[type(node.op)]()
    return node


def _another_constant(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, (bool, int, float))
    is_flag = isinstance(node.value, bool)
    return ast.Constant(not node.value if is_flag else node.value + 1)


def _if_not(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.If)
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return node
