"""What the lines of files hold: code, comments, names."""

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

_DIRECTIVES = ("noqa", "type:", "fmt:", "pragma:", "mypy:")
_NO_CODE = frozenset(
    (
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT,
        tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING,
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Text:
    """What the lines of some files hold."""

    files: int
    lines: int
    code_lines: int
    comments: int
    public_names: int
    import_lines: int

    @property
    def comments_per_100(self) -> float:
        """Comments for 100 code lines."""
        return round(100 * self.comments / max(1, self.code_lines), 2)


def text_of(paths: Sequence[Path]) -> Text:
    """Count what the lines of these files hold."""
    return together([_text(path.read_text(encoding="utf-8")) for path in paths])


def together(texts: Sequence[Text]) -> Text:
    """Add up what was counted apart."""
    names = (each.name for each in fields(Text))
    return Text(**{name: sum(getattr(text, name) for text in texts) for name in names})


def _text(source: str) -> Text:
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    prose = {
        line
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in _lines(node)
    }
    code, comments = _code_and_comments(source)
    bound = {name for node in tree.body for name in _bound(node)}
    imports = (node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
    return Text(
        files=1,
        lines=len(source.splitlines()),
        # Docstrings are tokens like any string; they are prose here.
        code_lines=len(code - prose),
        comments=comments,
        public_names=sum(not name.startswith("_") for name in bound),
        import_lines=sum(len(_lines(node)) for node in imports),
    )


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _code_and_comments(source: str) -> tuple[set[int], int]:
    code: set[int] = set()
    comments = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            # Directives to tools explain nothing to a reader.
            comments += not token.string.lstrip("# ").startswith(_DIRECTIVES)
        elif token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return code, comments


def _bound(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Assign(targets=targets):
            found = [each for target in targets for each in ast.walk(target)]
            yield from (each.id for each in found if isinstance(each, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case _:
            pass
