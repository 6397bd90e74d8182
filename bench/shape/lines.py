"""What the lines of files hold: code, comments, names."""

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    sources = [path.read_text(encoding="utf-8") for path in paths]
    counts = [_lines_and_comments(source) for source in sources]
    return Text(
        files=len(paths),
        lines=sum(len(source.splitlines()) for source in sources),
        code_lines=sum(lines for lines, _ in counts),
        comments=sum(comments for _, comments in counts),
        public_names=sum(len(_public_names(source)) for source in sources),
        import_lines=sum(map(_import_lines, sources)),
    )


def _lines_and_comments(source: str) -> tuple[int, int]:
    prose = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    code: set[int] = set()
    comments = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            # Directives to tools explain nothing to a reader.
            comments += not token.string.lstrip("# ").startswith(_DIRECTIVES)
        elif token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    # Docstrings are tokens like any string; they are prose here.
    return len(code - prose), comments


def _import_lines(source: str) -> int:
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def _public_names(source: str) -> set[str]:
    bound = {name for node in ast.parse(source).body for name in _bound(node)}
    return {name for name in bound if not name.startswith("_")}


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
