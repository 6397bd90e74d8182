"""The grammar of subjects: where in the log a message stands.

Sensors publish to `in.<agent>.<source>.<type>`. In the log the same event stands under
`ev.<partition>.in.<agent>.sensor.<source>.<type>`; every other input and every output
under `ev.<partition>.<in|out>.<agent>.<kind>.<detail>`. The direction token lets one
filter fence the outputs of a partition and another read its inputs.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, get_args

from msgspec import Struct

from schemas.values.base import InputKind, OutputKind
from schemas.values.unicode_text import quoted

_Direction = Literal["in", "out"]

INPUT_KINDS: tuple[str, ...] = get_args(InputKind)
OUTPUT_KINDS: tuple[str, ...] = get_args(OutputKind)

PARTITIONS = 16
"""How many partitions a log has; frozen for its life, since it is part of every subject."""

ALL_PARTITIONS = tuple(range(PARTITIONS))

SHARED_AGENT = "_"
"""The agent token of what concerns a whole partition; no sensor may send as it."""

PUBLISHED_FEEDBACK = "feedback"
PUBLISHED_CONTROL = "control"
"""Reserved sensor types: how a client that can only publish gives feedback or control."""

AGENT_SOURCE = "agent"
"""The source of what one agent tells another, and the channel it is told on; no sensor may
be called so."""

PART = "part"
"""The last token of the subject of parts, so that who knows of none hears none."""

# A look-up and no `int()`, which would also accept "+1", " 1" and digits of other scripts.
_PARTITIONS = {str(number): number for number in range(PARTITIONS)}
STRAY = "stray"
"""The kind of an input whose sensor published to a subject with wildcard tokens, which
looks like a filter; its detail is the sequence at which the log holds it unchanged."""

STRAYED_TO = "ce-strayedto"
"""The header of a stray that holds the subject it was published to."""

# Without dot, `*`, `>` and space, which NATS reads as structure.
_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,64}")
# The 32-bit parameters of FNV-1a as its authors publish them.
_FNV_OFFSET = 0x811C9DC5
_FNV_PRIME = 0x01000193


class SubjectError(ValueError):
    """A subject or one of its tokens is outside the grammar."""


class LogSubject(Struct, frozen=True):
    """A subject of the log, taken apart."""

    partition: int
    direction: _Direction
    agent: str
    kind: str
    detail: str
    """One token; for a sensor `<source>.<type>`."""


# Cached, as is `parse`: a log has a few thousand subjects and tokens in millions of messages.
@lru_cache(maxsize=2048)
def is_token(text: str) -> bool:
    """Tell whether `text` may stand between two dots of a subject."""
    return _TOKEN.fullmatch(text) is not None


def is_agent(text: str) -> bool:
    """Tell whether `text` may name an agent that is not a whole partition."""
    return text != SHARED_AGENT and is_token(text)


def check_token(text: str, what: str) -> str:
    """Return `text`, or raise `SubjectError` naming `what` it should have been."""
    if not is_token(text):
        raise SubjectError(
            f"{what} {quoted(text)} is not a subject token: use 1 to 64 of A-Z a-z 0-9 _ -"
        )
    return text


@lru_cache(maxsize=4096)
def partition_of(agent: str) -> int:
    """Return the partition of an agent: 32-bit FNV-1a modulo 16.

    The same as nats-server's `partition()` in subject mappings, which routes what sensors
    publish: the two must agree.
    """
    digest = _FNV_OFFSET
    for byte in agent.encode():
        digest = ((digest ^ byte) * _FNV_PRIME) & 0xFFFFFFFF
    return digest % PARTITIONS


def read_range(text: str) -> tuple[int, ...]:
    """Return the partitions of a range, as in `0-7`, `0-3,8` or `all`; sorted.

    Raises:
        ValueError: it is no range, or holds a partition twice.
    """
    if text == "all":
        return ALL_PARTITIONS
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        low, high = _PARTITIONS.get(first), _PARTITIONS.get(last if dash else first)
        if low is None or high is None or high < low:
            raise ValueError("partitions from 0 to 15, as in 0-7 or 0-3,8, or all")
        found += range(low, high + 1)
    if len(set(found)) < len(found):
        raise ValueError("a range that names each partition once")
    return tuple(sorted(found))


def range_text(partitions: Iterable[int]) -> str:
    """Return partitions as `read_range` reads them, the shortest way; "" for none."""
    runs: list[list[int]] = []
    for each in sorted(partitions):
        if runs and runs[-1][1] == each - 1:
            runs[-1][1] = each
        else:
            runs.append([each, each])
    return ",".join(f"{low}-{high}" if high > low else f"{low}" for low, high in runs)


def sensor_subject(agent: str, source: str, type_: str) -> str:
    """Return the subject that a sensor publishes an event to.

    Raises:
        SubjectError: one of the parts is no subject token.
    """
    check_token(agent, "agent")
    check_token(source, "source")
    check_token(type_, "type")
    return f"in.{agent}.{source}.{type_}"


def input_subject(partition: int, agent: str, kind: str, detail: str) -> str:
    """Return the subject under which the log holds an input that is not a sensor's."""
    return f"ev.{partition}.in.{agent}.{kind}.{detail}"


def output_subject(partition: int, agent: str, kind: str, detail: str) -> str:
    """Return the subject under which the log holds an output."""
    return f"ev.{partition}.out.{agent}.{kind}.{detail}"


@lru_cache(maxsize=2048)
def sensor_of(subject: str) -> str | None:
    """Return the source of an input that a sensor published; None of any other subject."""
    parts = subject.split(".")
    is_sensors = len(parts) == 7 and parts[2] == "in" and parts[4] == "sensor"
    return parts[5] if is_sensors else None


def delivery_subject(agent: str, channel: str) -> str:
    """Return the subject on which what the companion says is delivered.

    Raises:
        SubjectError: one of the parts is no subject token.
    """
    check_token(agent, "agent")
    check_token(channel, "channel")
    return f"out.{agent}.{channel}"


def part_subject(agent: str, channel: str) -> str:
    """Return the subject of what is said on a channel before it is whole.

    Raises:
        SubjectError: one of the parts is no subject token.
    """
    return f"{delivery_subject(agent, channel)}.{PART}"


def parts_of(agent: str) -> str:
    """Return the filter over the parts of an agent's responses, on all channels."""
    return f"out.{check_token(agent, 'agent')}.*.{PART}"


def inputs_of(partition: int | Literal["*"]) -> str:
    """Return the filter over all inputs of one partition, or of all of them."""
    return f"ev.{partition}.in.>"


def outputs_of(partition: int | Literal["*"]) -> str:
    """Return the filter over all outputs of one partition, or of all of them.

    A write is fenced by the last sequence under the same filter.
    """
    return f"ev.{partition}.out.>"


def forgettings_of(partition: int | Literal["*"]) -> str:
    """Return the filter over the inputs by which people are forgotten."""
    return f"ev.{partition}.in.*.control.person_forgotten"


@lru_cache(maxsize=2048)
def parse(subject: str) -> LogSubject:
    """Take a subject of the log apart; agent, kind and detail are not checked.

    Raises:
        SubjectError: it is no subject of the log.
    """
    # At most five cuts: a sensor's detail, or a malformed one, keeps its own dots.
    parts = subject.split(".", 5)
    if len(parts) != 6 or parts[0] != "ev" or parts[2] not in ("in", "out"):
        raise SubjectError(f"{quoted(subject)} is no subject of the log")
    partition = _PARTITIONS.get(parts[1])
    if partition is None:
        raise SubjectError(
            f"{quoted(subject)} names no partition of 0 to {PARTITIONS - 1}"
        )
    direction: _Direction = "in" if parts[2] == "in" else "out"
    return LogSubject(partition, direction, parts[3], parts[4], parts[5])
