"""Villagers with minds: what they do by themselves, and what becomes of a broken world."""

from dataclasses import replace
from datetime import timedelta
from functools import cache

from bench import facts
from bench.players import MIDNIGHT
from bench.village.playing import Village
from packs.village.sensor import wolf
from packs.village.sensor.playing import Played
from schemas.codec.decode import read_output
from schemas.codec.envelope import Output
from schemas.messages.characters import PlannedBuild, PlanSet
from schemas.messages.decisions import Decided
from streams.session_files.file import SessionFile


@cache
def evening() -> tuple[Played, SessionFile]:
    """Aria's evening and night, from six to six, without a model."""
    village = Village(7, characters=1, hours=12, begins_h=18, has_model=False)
    return village.played(), village.recorded()["aria"]


def decided(session: SessionFile) -> list[Output]:
    """All decisions of a session."""
    outputs = [
        read_output(each)
        for each in session.records
        if each.subject.endswith(f".{Decided.token}")
    ]
    return [each for each in outputs if isinstance(each.message, Decided)]


def acts(session: SessionFile) -> list[tuple[float, str]]:
    """The hour since midnight and the arm of all decisions to act."""
    return [
        ((each.at - MIDNIGHT) / timedelta(hours=1), each.message.arm)
        for each in decided(session)
        if isinstance(each.message, Decided) and each.message.layer is not None
    ]


def test_a_villager_eats_when_it_is_hungry() -> None:
    """Its world says so, and it goes and eats; it does not die."""
    played, session = evening()

    assert "reflex:hungry" in [arm for _, arm in acts(session)]
    assert not played.dead
    assert played.acted["seek_food"] >= 1
    assert "failed" not in played.outcomes


def test_a_villager_sleeps_at_night() -> None:
    """By itself, for hours, within which it decides nothing and wakes in the morning."""
    _, session = evening()
    done = acts(session)
    asleep = [hour for hour, arm in done if arm in ("reflex:bedtime", "reflex:tired")]

    assert asleep
    assert 20 < asleep[0] < 24
    between = [arm for hour, arm in done if asleep[-1] < hour < 28]
    assert between == []
    silences = {
        each.message.silence
        for each in decided(session)
        if isinstance(each.message, Decided)
    }
    assert "asleep" in silences
    assert any(hour > 29 for hour, _ in done)


def test_villagers_flee() -> None:
    """From the wolf, before all else: home, or away if there is none."""
    comes_h = wolf.comes_at("1", 0) / 3_600
    village = Village(
        1, characters=5, hours=0.2, begins_h=comes_h - 0.05, has_model=False
    )
    played = village.played()

    assert played.acted["flee_to_home"] >= 1
    assert played.acted["flee"] >= 1
    arms = [arm for _, arm in acts(village.recorded()["emil"])]
    assert "reflex:frightened" in arms


def test_the_same_seed_is_the_same_log() -> None:
    """To the byte, in another village of another process's memory."""
    first, again = (_short(7), _short(7))
    assert [each.body for each in first.records] == [
        each.body for each in again.records
    ]
    assert [each.body for each in _short(8).records] != [
        each.body for each in first.records
    ]


def test_what_is_planned_is_built() -> None:
    """A villager gathers, crafts and builds what its plan says, and lives meanwhile."""
    village = Village(7, characters=1, hours=1.5, begins_h=8, has_model=False)
    village.minds["aria"].tell(PlanSet(builds=(PlannedBuild(building="tent"),)))
    played = village.played()

    assert played.acted["build"] == 1
    assert played.acted["craft"] == 1
    assert village.minds["aria"].state.agents["aria"].character.plan.builds == ()


def test_a_world_that_ends_leaves_nobody_stuck() -> None:
    """What it never reports on is over after its time, and the next world is obeyed."""
    village = Village(7, characters=1, hours=0.03, begins_h=8, has_model=False)
    village.played()
    mind = village.minds["aria"]
    state = mind.state.agents["aria"]
    doing = state.character.doing
    assert doing is not None
    assert state.now is not None
    assert doing.until <= state.now + timedelta(hours=10)

    # A new world, later, which knows nothing of what was begun.
    later = replace(village.plan, begins_s=10 * 3_600, lasts_s=1_800, run="later")
    played = village.played(later)

    assert played.outcomes.count("succeeded") >= 3


def test_layers_are_counted() -> None:
    """Each decision is one layer's or nobody's; without a model no layer asks one."""
    _, session = evening()
    found = facts.of_session(session)

    assert found.decided.total() == len(decided(session))
    assert (found.asked.total(), found.without_model) == (0, 1.0)
    assert (found.dollars, round(found.hours)) == (0.0, 12)
    with_model = Village(7, characters=2, hours=0.2, begins_h=8)
    with_model.played()
    sessions = with_model.recorded()
    both = [facts.of_session(sessions[each]) for each in ("aria", "bram")]
    for each in both:
        by_model = each.decided["talker"] + each.decided["executor"]
        assert 0 < by_model == each.asked.total()
        # A call costs more than a millionth of a dollar, and less than a thousandth.
        assert 1e-6 < each.dollars / by_model < 1e-3


def _short(seed: int) -> SessionFile:
    village = Village(seed, characters=1, hours=0.3, begins_h=8)
    village.played()
    return village.recorded()["aria"]
