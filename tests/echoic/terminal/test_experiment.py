"""A live experiment and a shadow as a person reads them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from echoic.terminal import experiment, shadow
from echoic.terminal.called import program
from echoic.terminal.screen import rendered
from evaluation.experiments.switchback import Trial, analyse
from evaluation.experiments.trials import Begun, Course
from replay.open_loop.shadow import Shadowed, Totals
from replay.recording.decisions import DecisionRecords
from schemas.messages.controls import ExperimentStarted
from schemas.messages.experiments import Variant
from schemas.ports.decision_context import Odds
from schemas.values.settings import StrategySpec
from tests.echoic.samples import decided, group, sensed

AT = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)


def course(count: int, **changes: object) -> Course:
    """So many sessions in turn, those of b the better ones."""
    message = ExperimentStarted.from_fields(
        {
            "experiment_id": "e1",
            "title": "Dry or kind",
            "a": Variant(strategy=StrategySpec(name="silent")),
            "b": Variant(personality="You are\n" + "dry " * 30),
            **changes,
        }
    )
    trials = [
        Trial(
            unit=f"s{place}",
            variant="a" if place % 2 else "b",
            probability=0.5,
            value=(0.2 if place % 2 else 0.8) + 0.01 * (place % 5),
        )
        for place in range(count)
    ]
    return Course(Begun(1, AT, message), None, tuple(trials), None)


def screen(went: Course, **after: float) -> str:
    """The screen, so long after the start."""
    found = analyse(went.trials, went.open_unit)
    now = AT + timedelta(**after or {"hours": 5})
    return rendered(experiment.screen(went, found, now))


def test_a_decided_experiment_says_what_to_do() -> None:
    """Both variants with their means, the interval, the verdict, and the next command."""
    shown = screen(course(80))

    assert "Dry or kind   runs since 2026-05-04 09:00, 5 hours" in shown
    assert "a  silent" in shown
    assert "b  “You are dry dry dry" in shown
    assert "40 sessions" in shown
    assert "95% at all looks together" in shown
    assert "BETTER   b is better than a" in shown
    assert f"→ {program()} ab stop" in shown
    assert "split     40 to 40" in shown


def test_after_a_stop_none_is_proposed() -> None:
    """A verdict stays; what is over cannot be stopped again."""
    went = course(80)
    over = Course(went.begun, AT + timedelta(hours=4), went.trials, None)

    assert "BETTER" in screen(over)
    assert "ab stop" not in screen(over)


def quiet(counts: float) -> Course:
    """Sessions of b in which silence is nearly all that there is; those of a go fairly."""
    went = course(80, silence=counts)
    trials = [
        replace(each, value=counts, is_silence=True)
        if each.variant == "b" and place % 8
        else replace(
            each, value=0.6 if each.variant == "b" else 0.4 + 0.01 * (place % 3)
        )
        for place, each in enumerate(went.trials)
    ]
    return replace(went, trials=tuple(trials))


def test_what_silence_counts_is_named_with_what_hangs_on_it() -> None:
    """Its value, how much of each side that is, and which verdict others would give."""
    shown = " ".join(screen(quiet(0.5)).split())
    fields = experiment.as_fields(quiet(0.5), analyse(quiet(0.5).trials))

    assert "silence counts 0.5: 75% of b's outcomes; at 0.3 it would be" in shown
    assert (fields["silence"], fields["b"]["silent"], fields["a"]["silent"]) == (
        0.5, 30, 0,
    )  # fmt: skip
    assert set(fields["with_silence"]) == {"0.3", "0.7"}
    assert fields["verdict"] != fields["with_silence"]["0.3"]
    assert "silence counts 0.5; no outcome is that" in " ".join(
        screen(course(80)).split()
    )


def test_an_experiment_that_has_begun_shows_no_interval() -> None:
    """With a few values an estimate, without any not even that."""
    assert "no interval yet" in screen(course(4))
    assert "no session has a value yet" in screen(course(0))
    assert "no person has a value yet" in screen(course(0, by="person"))
    assert f"→ {program()} ab stop" not in screen(course(4))


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ({"minutes": 1}, "1 minute"),
        ({"minutes": 119}, "119 minutes"),
        ({"hours": 30}, "30 hours"),
        ({"days": 3}, "3 days"),
    ],
)
def test_how_long_it_runs_is_said_in_one_unit(
    after: dict[str, float], words: str
) -> None:
    """The largest that there are two of."""
    assert f"runs since 2026-05-04 09:00, {words}" in screen(course(0), **after)


def test_for_programs_it_is_all_there() -> None:
    """The same, unrounded."""
    went = course(80)
    fields = experiment.as_fields(went, analyse(went.trials))

    assert (fields["verdict"], fields["may_stop"]) == ("BETTER", True)
    assert fields["a"]["strategy"]["name"] == "silent"
    assert fields["a"]["label"] == "silent"
    assert fields["difference"]["low"] > 0.0
    assert experiment.label(Variant()) == "as set"
    none = experiment.as_fields(course(0), analyse([]))
    assert none["difference"] is None


@pytest.mark.parametrize(
    ("done", "would", "words"),
    [
        ("llm:m@t@s", "heuristic:h1@c", ("asks the model", "→ drink-soon: Drink.")),
        ("heuristic:h2@c", "silent", ("h2: Eat.", "→ silent (low_confidence)")),
        ("silent", "race:llm:m@t@s+heuristic:h1@c@400", ("→ races the model",)),
    ],
)
def test_a_flip_is_one_line(done: str, would: str, words: tuple[str, ...]) -> None:
    """The event, what was done, and what would have been."""
    event = sensed(text="Your drink\nis low.")
    choice = decided(arm=done, text="Eat." if done.startswith("heuristic") else None)
    (record,) = DecisionRecords().take(event, group(event, [choice]))
    shadowed = Shadowed(
        record=record,
        odds=Odds(arms=((would, 1.0),), greedy=would, silence="low_confidence"),
        would_say="Drink." if would.startswith("heuristic") else None,
    )
    totals = Totals().after(shadowed)
    line = rendered([shadow.line(shadowed, totals, {"h1": "drink-soon"})])

    assert "Your drink is low." in line
    assert "\n" not in line
    for each in words:
        assert each in line


def test_the_totals_are_one_line() -> None:
    """Also when there was nothing to compare."""
    assert rendered([shadow.totals_line(Totals(3, 2, 1, 2.0))]) == (
        "agrees .67 over 3 decisions, 1 flip; 2 ended at a gate before"
    )
    assert "no decision to compare" in rendered([shadow.totals_line(Totals(gated=1))])
