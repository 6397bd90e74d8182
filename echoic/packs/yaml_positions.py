"""A manifest's YAML as plain values, each with the place where it is written.

Only numbers, true, false and null are other than text, so a date stays as it was typed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import JsonValue
from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

Steps: TypeAlias = tuple[str | int, ...]
"""The keys and indices that lead from the manifest to a value."""

MOST_BYTES = 4_000_000
_DEEPEST = 50
_MOST_NODES = 100_000
"""Values at most: aliases multiply ("billion laughs"); this many take half a second."""
_MERGE = "<<"
"""The key whose mappings are merged into its own (YAML 1.1, and most files since)."""
_ASIDE = "x-"
"""The beginning of keys at the top that are read by no program, only by `*` and `<<`."""
_TOO_MUCH = (
    "nests too deep, or holds too much: "
    f"over {_DEEPEST} levels or {_MOST_NODES:,} values"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A line and a column in the file, both counted from 1."""

    line: int
    column: int


_START = Place(1, 1)


class SourceError(Exception):
    """A file is not YAML, or not what a manifest may be."""

    def __init__(self, message: str, place: Place = _START) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


@dataclass(slots=True)
class Source:
    """A manifest with the places of its parts."""

    file: Path
    lines: tuple[str, ...]
    value: JsonValue = None
    values: dict[Steps, Node] = field(default_factory=dict)
    """The node of each value."""
    keys: dict[Steps, Place] = field(default_factory=dict)
    """The place of each key, by the steps to its value."""
    repeated: list[tuple[Steps, Place]] = field(default_factory=list)
    """Keys that occur again in their mapping."""

    def place_of(self, steps: Steps) -> Place:
        """Return the place of a value, or of the nearest written value around it."""
        while steps not in self.values and steps:
            steps = steps[:-1]
        return _place(self.values[steps]) if steps in self.values else _START

    def place_of_key(self, steps: Steps) -> Place:
        """Return the place of a value's key, or of the value if it has none."""
        return self.keys.get(steps) or self.place_of(steps)

    def place_within(self, steps: Steps, offset: int) -> Place:
        """Return the place of the character at `offset` of a text, if it is on one line."""
        place = self.place_of(steps)
        node = self.values.get(steps)
        if not isinstance(node, ScalarNode):
            return place
        if node.start_mark.line != node.end_mark.line:
            return place
        # A quote costs one column, and so does each escape before the character.
        escaped = {"'": "'", '"': '"\\'}.get(node.style or "", "")
        before = str(node.value)[:offset]
        doubled = sum(before.count(character) for character in escaped)
        return Place(
            place.line, place.column + bool(node.style) + len(before) + doubled
        )


def read(file: Path) -> Source:
    """Read a manifest.

    Raises:
        SourceError: it is missing, not UTF-8, no YAML, empty, or far too large.
    """
    text = _text(file)
    source = Source(file, tuple(text.splitlines()))
    try:
        # In pure Python, as the C parser would not use a composer of ours.
        yaml = YAML(typ="safe", pure=True)
        yaml.Composer = _ShallowComposer
        node = yaml.compose(text)
    except MarkedYAMLError as error:
        raise _syntax_error(error) from error
    except YAMLError as error:
        raise SourceError(f"is no YAML: {error}") from error
    if node is None:
        raise SourceError("is empty: start with `schema: 1`")
    source.value = _Reader(source).read(node, ())
    return source


def _text(file: Path) -> str:
    try:
        # A pipe or a device has no end.
        if file.exists() and not file.is_file():
            raise SourceError("is no file")
        with file.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise SourceError(f"is larger than {MOST_BYTES:,} bytes")
        return content.decode().replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise SourceError(f"is not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}") from error


def _syntax_error(error: MarkedYAMLError) -> SourceError:
    mark = error.problem_mark or error.context_mark
    place = Place(mark.line + 1, mark.column + 1) if mark else _START
    return SourceError(f"is no YAML: {error.problem or error.context}", place)


class _ShallowComposer(Composer):
    """Refuses deep nesting while composing, which recurses once for each level."""

    _depth = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        self._depth += 1
        if self._depth > _DEEPEST + 1:
            mark = self.parser.peek_event().start_mark
            raise SourceError(_TOO_MUCH, Place(mark.line + 1, mark.column + 1))
        node: Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node


class _Reader:
    """Turns nodes into values and records their places."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._count = 0

    def read(self, node: Node, steps: Steps) -> JsonValue:
        self._count += 1
        if len(steps) > _DEEPEST or self._count > _MOST_NODES:
            raise SourceError(_TOO_MUCH, _place(node))
        tag = str(node.tag)
        if tag.startswith("!") and tag != "!":
            # What it stands for is elsewhere, so its words would be taken for the value.
            message = f"{tag} is a tag of another program: write the value itself"
            raise SourceError(message, _place(node))
        self._source.values[steps] = node
        if isinstance(node, MappingNode):
            return self._mapping(node, steps)
        if isinstance(node, SequenceNode):
            return [self.read(each, (*steps, i)) for i, each in enumerate(node.value)]
        assert isinstance(node, ScalarNode), node
        return _scalar(node)

    def _mapping(self, node: MappingNode, steps: Steps) -> JsonValue:
        mapping: dict[str, JsonValue] = {}
        for key, key_node, value_node in self._entries(node, (), steps):
            # At the top a place for anchors alone, as in other files of YAML.
            if steps or not key.startswith(_ASIDE):
                self._source.keys[*steps, key] = _place(key_node)
                mapping[key] = self.read(value_node, (*steps, key))
        return mapping

    def _entries(
        self, node: MappingNode, within: tuple[Node, ...], steps: Steps
    ) -> Iterator[tuple[str, Node, Node]]:
        """Yield a mapping's keys and values, those that it merges (`<<: *base`) last.

        What is written in it wins, and of several merged mappings the first.
        """
        seen: set[str] = set()
        merged: list[MappingNode] = []
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                raise SourceError("a key must be a single word", _place(key_node))
            key = str(key_node.value)
            if key == _MERGE and not key_node.style:
                merged += _mappings(value_node)
            elif key in seen:
                self._source.repeated.append(((*steps, key), _place(key_node)))
            else:
                seen.add(key)
                yield key, key_node, value_node
        for each in merged:
            self._count += 1
            # One may merge itself, or multiply as aliases do.
            is_round = any(each is outer for outer in (*within, node))
            if is_round or self._count > _MOST_NODES or len(within) > _DEEPEST:
                raise SourceError(_TOO_MUCH, _place(each))
            for key, key_node, value_node in self._entries(
                each, (*within, node), steps
            ):
                if key not in seen:
                    seen.add(key)
                    yield key, key_node, value_node


def _mappings(node: Node) -> list[MappingNode]:
    """Return the mappings that a merge key names: one, or a list of them."""
    nodes = node.value if isinstance(node, SequenceNode) else [node]
    found = [each for each in nodes if isinstance(each, MappingNode)]
    if len(found) < len(nodes):
        message = f"{_MERGE} merges a mapping, or a list of mappings, such as *base"
        raise SourceError(message, _place(node))
    return found


def _scalar(node: ScalarNode) -> JsonValue:
    text = str(node.value)
    read = _SCALARS.get(str(node.tag).rpartition(":")[2])
    try:
        return read(text) if read else text
    except ValueError:
        return text  # 007, .inf: no number here


_SCALARS: Mapping[str, Callable[[str], JsonValue]] = {
    "null": lambda _: None,
    "bool": lambda text: text.lower() == "true",
    # Base 0 reads 0x and 0o as YAML 1.2 does, and refuses 007, which then stays text.
    "int": lambda text: int(text, 0),
    "float": float,
}


def _place(node: Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)
