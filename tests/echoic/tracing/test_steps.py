"""Of many candidates and arms a trace shows the best, and counts the rest."""

from echoic.tracing import steps
from echoic.tracing.spans import Step
from schemas.messages.decisions import Candidate, Decided
from tests.echoic.tracing import samples


def stage(name: str, decided: Decided) -> Step:
    """One stage of a decision."""
    found = steps.stages(decided, samples.times())
    return next(each for each in found if each.name == name)


def weighed(number: int, reason: str | None = None, odds: float = 0.0) -> Candidate:
    """A heuristic that is like the event, the less the higher its number."""
    return Candidate(
        arm=f"heuristic:h{number}@c0",
        probability=odds,
        eligible=reason is None,
        reason=reason,
        similarity=0.9 - number / 100,
        confidence=0.8,
    )


def test_what_could_answer_is_shown_before_near_misses() -> None:
    """Both nearest first; of the rest each kind of reason has its count."""
    wet = "when: water < 3 (is 5)"
    candidates = [
        *(weighed(number, wet) for number in range(4)),
        *(weighed(number) for number in range(4, 8)),
        *(weighed(number, "frozen") for number in range(8, 10)),
    ]
    match = stage("match", samples.decided(candidates=tuple(candidates)))

    assert [each.attributes["echoic.arm"] for each in match.events] == [
        f"heuristic:h{number}@c0" for number in (4, 5, 6, 7, 0)
    ]
    assert match.events[-1].attributes["echoic.reason"] == wet
    assert match.attributes["echoic.left_out"] == "3 when, 2 frozen"


def test_the_arm_chosen_is_shown_however_unlikely() -> None:
    """Then the likeliest; of the rest the odds are summed."""
    candidates = tuple(weighed(number, odds=0.1) for number in range(9))
    chosen = candidates[8].arm
    choose = stage("choose", samples.decided(candidates=candidates, arm=chosen))
    arms = [each for each in choose.events if each.name == "arm"]

    assert [each.attributes["echoic.arm"] for each in arms] == [
        f"h{number}" for number in (8, 0, 1, 2, 3)
    ]
    assert choose.attributes["echoic.left_out"] == "4 arms, 0.4 together"


def test_a_few_are_all_shown() -> None:
    """Nothing is said of a rest that there is not."""
    decided = samples.decided(candidates=tuple(weighed(n, odds=0.2) for n in range(5)))

    for name in ("match", "choose"):
        assert "echoic.left_out" not in stage(name, decided).attributes
