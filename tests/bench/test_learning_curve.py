"""The closed loop of the learning bench: the same to the byte, and nobody is favoured."""

import pytest

from bench.learning.__main__ import measured
from bench.learning.measuring import Hour
from bench.learning.model import ScriptedModel
from bench.learning.playing import Course
from bench.learning.truth import CASES, WORDINGS, deed_of
from echoic.embedders import embedder
from evaluation.learning.credit_audit import audit
from handlers.aids import AidProvider, PackLibrary
from handlers.mind.stages.formation import WORDS
from replay.recording.source import of_file
from replay.verify import Span, verify
from schemas.packs import conditions
from streams.session_files.file import SessionFile

STEPS = 250


def course(*, learns: bool = True) -> Course:
    """Two short hours."""
    return Course(hours=2, hour_s=STEPS, learns=learns, model=ScriptedModel())


@pytest.fixture(scope="module")
def run() -> tuple[list[Hour], SessionFile]:
    """What came of them."""
    return measured(course())


def test_every_case_can_be_told_and_acted_on() -> None:
    """Its rule passes the gate of formation, and its advice is understood."""
    for case in CASES:
        assert conditions.fields_named(conditions.parse(case.when))
        assert WORDS[0] <= len(case.condition.split()) <= WORDS[1]
        for text in WORDINGS[case.deed]:
            assert WORDS[0] <= len(text.split()) <= WORDS[1]
            assert deed_of(text) == case.deed


def test_the_same_course_is_run_again(run: tuple[list[Hour], SessionFile]) -> None:
    """Two runs have the same figures and the same log."""
    hours, file = measured(course())

    assert hours == run[0]
    assert file.records == run[1].records


async def test_it_replays_and_breaks_no_rule_of_credit(
    run: tuple[list[Hour], SessionFile],
) -> None:
    """The log gives the same answers again, and an audit finds no fault in it."""
    recording = of_file(run[1], "learning")
    span = Span(recording.partition, recording.first - 1, recording.last)

    made_by = embedder("wordllama")
    bringer = AidProvider(made_by, PackLibrary(recording.log, made_by))

    replayed = await verify(recording.log, span, bringer, start=recording.start)
    found = await audit(recording)

    assert replayed.is_identical, replayed.divergence
    assert found.credits > 0
    assert found.faults == ()


def test_who_does_not_learn_asks_the_model_each_time() -> None:
    """Without formation no heuristic comes to be, and none answers."""
    hours, _ = measured(course(learns=False))

    assert [hour.share for hour in hours] == [0.0, 0.0]
    assert [hour.heuristics for hour in hours] == [0, 0]
    assert all(hour.calls == hour.occasions for hour in hours)
