"""Words by skills in a replay: the same arms, the same bytes, evidence with the heuristic."""

from evaluation.evidence.gather import gather, joined
from handlers.aids import AidProvider, PackLibrary
from replay.verify import Span, verify
from schemas.values.settings import StrategySpec
from tests.evaluation.experiments.test_trials import log_of
from tests.handlers.mind.test_skills import LOW, PLAIN, playing
from tests.replay.open_loop.test_shadow import shadowed
from tests.replay.scenarios import WordsEmbedder, recording_of_scenario
from tests.scenario import Scenario


def played() -> Scenario:
    """Mocked, then plain under threat, and judged."""
    scenario = playing()
    for threat in (0.0, 0.9, 0.0):
        turn = scenario.wait(60).sense(
            "your health is low",
            type_="health",
            fields=LOW,
            salience={"threat": threat},
        )
        scenario.feedback(turn, "positive")
    return scenario


async def test_another_strategy_weighs_the_same_arms() -> None:
    """Rebuilt from the record: voiced where they were, plain where they were."""
    found = await shadowed(
        log_of(played()),
        StrategySpec(name="heuristic_first", parameters={"threshold": 0.5}),
    )
    assert len(found) == 3
    arms = []
    for each in found:
        assert each is not None
        assert not each.is_flip
        assert each.would == each.record.decided.arm
        arms.append(each.would)
    assert arms[0] == arms[2] != arms[1]
    assert found[1] is not None
    assert found[1].record.said == PLAIN


async def test_evidence_stays_with_the_heuristic() -> None:
    """In whatever words it was said; the recorded confidences prove the fold."""
    evidence = joined(await gather(recording_of_scenario(played())))
    assert evidence is not None


async def test_a_replay_says_the_same_words() -> None:
    """Draws, skills and bands are of the log alone."""
    recording, made_by = recording_of_scenario(played()), WordsEmbedder()
    span = Span(recording.partition, recording.first - 1, recording.last)
    bringer = AidProvider(made_by, PackLibrary(recording.log, made_by))

    found = await verify(recording.log, span, bringer, start=recording.start)

    assert found.is_identical, found.divergence
