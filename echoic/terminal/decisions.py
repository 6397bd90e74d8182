"""What decisions look like in a terminal: one line each, or one explained on a page.

Pure, text in and text out; colour is a choice of the caller, and the words are
the same without it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from echoic.client.names import Names, named
from echoic.explain.explain import Explanation, Weighed
from echoic.explain.what_if import opening
from echoic.terminal.text import (
    PLAIN,
    WIDE,
    Style,
    bar,
    counted,
    figure,
    fitted,
    padded,
    short,
    visible,
)
from replay.recording.decisions import DecisionRecord
from schemas.messages.decisions import Gate
from schemas.values.ids import trace_id

_BADGES = {"heuristic": "S1", "llm": "S2", "fallback": "S2"}


def line(record: DecisionRecord, names: Names, style: Style = PLAIN) -> str:
    """Return one decision on one line: when, who, what, how much it mattered, and the answer.

    A narrow terminal has no room for who noticed it, the bar and the latency.
    """
    decided = record.decided
    event_width, answer_width = _widths(style.width)
    salience = decided.salience.effective
    columns = (
        record.at.astimezone().strftime("%H:%M:%S"),
        None if style.is_narrow else fitted(decided.source, 9),
        fitted(record.text, event_width),
        None if style.is_narrow else bar(salience),
        f"{figure(salience):>3}",
        _answer(record, names, answer_width, style),
        None if style.is_narrow else f"{record.latency_ms:>5.0f} ms",
        style.paint(short(record.id), "dim"),
    )
    return " ".join(column for column in columns if column is not None)


def heading(style: Style = PLAIN) -> str:
    """Return what stands in the columns of the lines."""
    event_width, answer_width = _widths(style.width)
    columns = (
        f"{'time':<8}",
        None if style.is_narrow else f"{'source':<9}",
        fitted("event", event_width),
        "sal" if style.is_narrow else f"{'salience':<12}",
        fitted("S1 learnt, S2 a model's", answer_width),
        None if style.is_narrow else f"{'latency':>8}",
        "id",
    )
    return " ".join(column for column in columns if column is not None)


def explained(
    record: DecisionRecord, explanation: Explanation, style: Style = PLAIN
) -> str:
    """Return one decision on a page, with the command that asks further."""
    page = (*_page(record, explanation, style), *_further(record, explanation, style))
    return "\n".join(page)


def explained_alone(
    record: DecisionRecord, explanation: Explanation, style: Style
) -> str:
    """Return one decision on a page, for an instance that can be asked no more."""
    return "\n".join(_page(record, explanation, style))


def _widths(width: int) -> tuple[int, int]:
    """Return how the room beside the fixed columns is shared by event and answer."""
    # The widths of the columns in `line`, with the spaces between them.
    fixed = 8 + 10 + 13 + 9 + 9 + 2 if width >= WIDE else 8 + 4 + 9 + 2
    # Below 40 columns neither text could be read; the line then wraps.
    free = max(40, width - fixed)
    # Two fifths for the event: answers are longer.
    return free * 2 // 5, free - free * 2 // 5


def _answer(record: DecisionRecord, names: Names, width: int, style: Style) -> str:
    badge = _BADGES.get(record.path, "- ")
    said = record.said
    if said is not None:
        words = f"{_speaker(record, names)} “{said}”"
        return f"{style.paint(badge, 'green')} {fitted(words, width - 3)}"
    words = f"silent: {record.silence}" if record.is_final else "asks the model …"
    return f"{badge} {style.paint(fitted(words, width - 3), 'dim')}"


def _speaker(record: DecisionRecord, names: Names) -> str:
    if record.path == "heuristic":
        name = named(record.heuristic_id, names)
        return f"{name} {figure(record.answer.predicted_success)}"
    return str(getattr(record.ending, "model", "model"))


def _page(
    record: DecisionRecord, explanation: Explanation, style: Style
) -> Iterator[str]:
    decided = record.decided
    clock = record.at.astimezone().strftime("%H:%M:%S")
    spoke = record.said is not None
    state = "SPOKE" if spoke else "SILENT" if record.is_final else "WAITS"
    headline = style.paint(f"{state:<7}", "green" if spoke else "yellow")
    why = record.path if spoke else (record.silence or "model")
    yield (
        f"{short(record.id)}  {headline} {why:<16} {visible(record.text)}"
        f"  ({decided.source}.{decided.type}, {clock})"
    )
    yield visible(explanation.verdict)
    if record.said is not None:
        yield f"  “{visible(record.said)}”"
    yield ""
    yield from (_gate(gate, style) for gate in explanation.gates)
    yield from _goals(record)
    yield from _salience(record)
    yield from _candidates(explanation.candidates)
    yield ""
    if explanation.supposed is not None:
        supposed = ", ".join(f"{k}={v:g}" for k, v in explanation.suppositions.items())
        yield style.paint(f"What if {supposed}: {explanation.supposed}.", "bold")
    elif explanation.counterfactual:
        yield explanation.counterfactual


def _gate(gate: Gate, style: Style) -> str:
    mark = style.paint("✓", "green") if gate.passed else style.paint("✗", "red")
    figures = ""
    if gate.value is not None and gate.threshold is not None:
        # Both are recorded as they were compared, rounded to 6 decimals.
        sign = "≥" if gate.value >= gate.threshold else "<"
        figures = f"{gate.value:.2f} {sign} {gate.threshold:.2f}"
    margin = "" if gate.margin is None else f"{gate.margin:+.2f}"
    return (
        f"  {mark} {gate.name:<12} {figures:<12} {margin:<7} {gate.note or ''}".rstrip()
    )


def _goals(record: DecisionRecord) -> Iterator[str]:
    """Yield the goals that the event was held to be about, if only such counted."""
    for goal in record.decided.goals or ():
        yield f"  goal {goal.similarity:.2f}  {visible(goal.text)}"


def _salience(record: DecisionRecord) -> Iterator[str]:
    salience = record.decided.salience
    yield ""
    for name, value in sorted(salience.dimensions.items(), key=lambda item: -item[1]):
        yield f"  {name:<14} {bar(value)} {figure(value)}"
    yield (
        f"  salience {salience.score:.2f} x sensitivity {salience.sensitivity:.2f}"
        f" = {salience.effective:.2f}"
    )


def _candidates(candidates: tuple[Weighed, ...]) -> Iterator[str]:
    if not candidates:
        return
    yield ""
    for each in candidates:
        similarity = "" if each.similarity is None else f"like {each.similarity:.2f}"
        trusted = "" if each.confidence is None else f"trust {each.confidence:.2f}"
        mark = "→" if each.chosen else " "
        name = padded(visible(each.name), 24)
        yield f"  {mark} {name} {similarity:<10} {trusted:<10} {each.why}"


def _further(
    record: DecisionRecord, explanation: Explanation, style: Style
) -> Iterator[str]:
    if explanation.supposed is not None:
        return
    yield f"Try: {next_command(record)}"
    yield style.paint(f"trace {trace_id(record.decided.event_id)}", "dim")


def next_command(record: DecisionRecord) -> str:
    """Return the command that shows more of this decision."""
    id_ = short(record.id)
    if record.said is not None:
        return f"echoic feedback {id_} up"
    opened = opening(record.decided)
    # The nearest number that would have let it through, as a command to try.
    if opened is not None:
        return f"echoic explain {id_} --what-if {opened[0]}={opened[1]:.2f}"
    if record.silence == "llm_unavailable":
        domain = record.decided.domain
        return (
            f'echoic heuristic seed --domain {domain} --condition "…" --say "…"'
            " --confidence 0.8"
        )
    return f"echoic explain {id_} --json"


def known(fields: Mapping[str, Any], names: Names) -> str:
    """Return what the mind knows of an agent, on a page."""
    beliefs = sorted(fields["beliefs"], key=lambda each: -each["fires"])
    plain = (
        "position",
        "now",
        "session",
        "strategy",
        "open_fires",
        "waiting_for_model",
    )
    rows = [f"{name.replace('_', ' '):<18} {fields[name] or '-'}" for name in plain]
    rows += [f"{'packs':<18} {', '.join(fields['packs']) or '-'}"]
    rows += [f"{'goals':<18} {'; '.join(fields['goals']) or '-'}"]
    rows += [
        f"{'goals ' + domain:<18} {'; '.join(goals)}"
        for domain, goals in fields["domain_goals"].items()
    ]
    rows += [
        f"{'proposal ' + visible(each['id']):<18} {each['status']}: "
        + ", ".join(
            f"{change['name']} {change['before']} → {change['after']}"
            for change in each["changes"]
        )
        + (visible(each["evidence"]) if each["repertoire"] else "")
        for each in fields["proposals"]
    ]
    rows += [
        f"{'rapport ' + person:<18} {bar(value)} {value:.2f}"
        for person, value in fields["rapport"].items()
    ]
    rows += [
        f"{padded(named(each['heuristic_id'], names), 26)} {bar(each['confidence'])}"
        f" {each['confidence']:.2f}  declared {each['declared']:.2f},"
        f" {counted(each['fires'], 'fire')},"
        f" {counted(each['successes'], 'success', 'successes')}"
        for each in beliefs
    ]
    return "\n".join((fields["agent"], *(f"  {row}" for row in rows)))
