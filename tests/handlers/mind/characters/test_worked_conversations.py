"""The source design's four examples of conversations, each line with its second.

"How `talk` Integrates with Conversation Scheduler". Everybody stands as far from whoever
speaks as it says there; who decides to respond does so by what its model says.
"""

from typing import Any

from handlers.mind.characters.place.scheduler import likelihood
from tests.handlers.mind.characters.clearing import Clearing


def stands(clearing: Clearing, agent: str, x: float, y: float, **fields: Any) -> None:
    """Put somebody somewhere."""
    clearing.move(agent, x, y=y, **fields)


def test_example_1_no_listeners() -> None:
    """15 tokens = 7.5 seconds; no conversation created, and nothing more comes of it."""
    clearing = Clearing({"aria": (0, 0.8)})
    clearing.say("aria", "These berries are amazing!", tokens=15)
    assert clearing.spoke == [(0.0, "aria", 7.5)]
    assert clearing.talks() == ()
    assert clearing.heard == []
    clearing.until(60)
    assert clearing.spoke == [(0.0, "aria", 7.5)]
    assert clearing.over == []


def test_example_2_listeners_exist() -> None:
    """20 tokens = 10 s, asked at 9; 24 = 12, asked at 11; 28 = 14, asked at 13."""
    clearing = Clearing({"aria": 0})
    stands(clearing, "luna", 8, 0)
    stands(clearing, "kai", 0, 12)
    clearing.say("aria", "Luna! The berries here are amazing!", tokens=20)
    assert clearing.spoke == [(0.0, "aria", 10.0)]
    # Create conversation: Luna (8 tiles away), Kai (12 tiles away).
    (talk,) = clearing.talks()
    assert talk.members[0] == "aria"
    clearing.until(8.999)
    assert clearing.asked() == []
    clearing.until(9)
    assert clearing.asked() == [(9.0, "luna"), (9.0, "kai")]
    # Both decide to respond; Luna is the likelier, and so the next.
    clearing.say("kai", "Berries?", tokens=4)
    clearing.say(
        "luna", "Really? I've been looking for good berries all day!", tokens=24
    )
    clearing.until(10)
    assert clearing.spoke[1:] == [(10.0, "luna", 12.0)]
    clearing.heard.clear()

    # All nearby Talkers called at 11 seconds; Kai, 14.4 tiles from her, too.
    clearing.until(10 + 11)
    assert clearing.asked() == [(21.0, "aria"), (21.0, "kai")]
    clearing.say(
        "kai", "Mind if I join you? I could use some berry-picking tips!", tokens=28
    )
    clearing.until(10 + 12)
    assert clearing.spoke[2:] == [(22.0, "kai", 14.0)]
    clearing.heard.clear()

    # All nearby Talkers called at 13 seconds; Luna decides to respond, and Aria.
    clearing.until(22 + 13)
    assert clearing.asked() == [(35.0, "aria"), (35.0, "luna")]
    clearing.say("luna", "Gladly.", tokens=4)
    clearing.say("aria", "Of course!", tokens=4)
    clearing.until(22 + 14)
    assert len(clearing.spoke) == 4
    assert clearing.spoke[3][0] == 36.0
    assert set(clearing.members()) == {"aria", "luna", "kai"}


def test_example_3_no_one_responds() -> None:
    """12 tokens = 6 seconds, Luna called at 5; no response after 10 seconds ends it."""
    clearing = Clearing({"aria": 0, "luna": 10})
    clearing.say("aria", "I love these berries!", tokens=12)
    assert clearing.spoke == [(0.0, "aria", 6.0)]
    assert len(clearing.talks()) == 1
    clearing.until(4.999)
    assert clearing.asked() == []
    clearing.until(5)
    assert clearing.asked() == [(5.0, "luna")]
    clearing.until(6 + 9.999)
    assert len(clearing.talks()) == 1
    clearing.until(6 + 10)
    assert clearing.over == [16.0]
    assert clearing.talks() == ()
    clearing.until(120)
    assert clearing.spoke == [(0.0, "aria", 6.0)]


def test_example_4_overlapping_bubbles() -> None:
    """18 tokens = 9 seconds, all called at 8; 16 = 8; who is far and introverted is silent."""
    clearing = Clearing({"aria": (0, 0.8), "luna": (3, 0.7), "zara": (8, 0.5)})
    # 14 tiles from Aria, and from Luna.
    stands(clearing, "kai", 1.5, -13.9194, extraversion=0.3)
    chances = [likelihood(0.7, 3), likelihood(0.5, 8), likelihood(0.3, 14)]
    assert [round(each, 2) for each in chances] == [0.79, 0.48, 0.14]
    clearing.say("aria", "Anyone know where the best berries are?", tokens=18)
    assert clearing.spoke == [(0.0, "aria", 9.0)]
    clearing.until(7.999)
    assert clearing.asked() == []
    clearing.until(8)
    assert clearing.asked() == [(8.0, "luna"), (8.0, "zara"), (8.0, "kai")]
    # Kai thinks: too far away, I'll keep working.
    clearing.say("zara", "The forest has good patches too.", tokens=14)
    clearing.say("luna", "I found some great ones by the river!", tokens=16)
    clearing.until(9)
    assert clearing.spoke[1:] == [(9.0, "luna", 8.0)]
    clearing.heard.clear()

    # Kai now hears from 14 tiles but still does not respond; Zara and Aria are asked, too.
    clearing.until(9 + 7)
    assert set(clearing.asked()) == {(16.0, "aria"), (16.0, "zara"), (16.0, "kai")}
    clearing.say("zara", "The forest has good patches too.", tokens=14)
    clearing.until(9 + 8)
    assert clearing.spoke[2:] == [(17.0, "zara", 7.0)]
    # The conversation continues between Aria, Luna, and Zara.
    assert set(clearing.members()) == {"aria", "luna", "zara"}
