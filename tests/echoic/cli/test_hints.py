"""What a lesson and a vote say to whoever gave them: pure words, without an instance."""

from echoic.cli.feedback import _formed
from echoic.cli.heuristic import _surprises
from echoic.terminal.called import program
from schemas.messages.controls import HeuristicSeeded
from schemas.messages.learning import HeuristicFormed


def lesson(name: str, confidence: float = 0.5) -> HeuristicSeeded:
    return HeuristicSeeded(
        heuristic_id="11111111-aaaa",
        name=name,
        domain="garden",
        condition="dry",
        response_type="suggestion",
        text="Water.",
        confidence=confidence,
    )


def test_the_command_of_a_hint_can_be_typed_as_it_stands() -> None:
    """A name of several words is quoted; one that is not unique is told by its id."""
    (spaced,) = _surprises(lesson("Zoë's plants"), 0.7, ())
    twice, named = _surprises(lesson("water"), 0.7, ["22222222-bbbb"])

    assert """feedback 'Zoë'"'"'s plants' up""" in spaced
    assert "another is called water" in twice
    assert f"{program()} heuristic freeze 22222222," in twice
    assert "feedback 11111111 up" in named
    assert not list(_surprises(lesson("water", 0.8), 0.7, ()))


def test_a_vote_on_a_silence_says_what_it_made() -> None:
    """A liked silence becomes a heuristic, which is not the same as nothing."""
    formed = HeuristicFormed(
        heuristic_id="33333333-cccc",
        name="quiet: The bell rings",
        domain="door",
        condition="The bell rings",
        response_type="observation",
        text="(says nothing)",
        confidence=0.3,
        decision_id="d",
        is_silence=True,
    )

    assert "became a heuristic" in _formed([formed])
    assert "heuristic show 33333333" in _formed([formed])
    assert _formed([]) == ""
