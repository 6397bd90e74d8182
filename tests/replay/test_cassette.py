"""The cassette: a request finds its own answer, and nothing else's."""

import pytest

from replay.cassette import (
    ASSUMED_LATENCY_MS,
    UNKNOWN_TEXT,
    BudgetSpent,
    Cassette,
    ModelMiss,
    Player,
    Recorded,
    Spread,
    Take,
)
from schemas.messages.asks import ModelAsked
from tests.factories import NOON


def asked(prompt: str, model: str = "test/model") -> ModelAsked:
    return ModelAsked(
        decision_id="d",
        priority=0.5,
        expires_at=NOON,
        ttl_s=30.0,
        model=model,
        system="Be kind.",
        prompt=prompt,
        temperature=0.7,
        max_tokens=100,
        deadline_s=5.0,
        channel="say",
        response_type="suggestion",
        request_hash=f"hash of {model} {prompt}",
    )


def recorded(session: str, prompt: str, text: str, latency_ms: float) -> Recorded:
    take = Take(
        source="recorded",
        text=text,
        model="test/model",
        latency_ms=Spread.exactly(latency_ms),
        cost_usd=Spread.exactly(latency_ms / 1e6),
        tokens=round(latency_ms),
    )
    return Recorded(session, asked(prompt), take)


CASSETTE = Cassette(
    [
        recorded("one", "It rains.", "Take a coat.", 100.0),
        recorded("one", "It snows.", "Take a sledge.", 200.0),
        recorded("one", "It rains.", "Still raining?", 300.0),
        recorded("two", "It rains.", "Again!", 400.0),
    ]
)


class Talker:
    """A port that says what it was asked, twice."""

    def __init__(self) -> None:
        self.left = 2

    async def close(self) -> None:
        """It keeps nothing open."""

    async def ask(self, asked: ModelAsked, occurrence: int) -> Take:
        if not self.left:
            raise BudgetSpent("nothing is left")
        self.left -= 1
        return Take(
            source="asked",
            text=f"{asked.prompt} {occurrence}",
            model=asked.model,
            latency_ms=Spread.exactly(7.0),
        )


async def test_each_request_finds_its_own_answer():
    """The same words asked again find the next answer, and sessions are kept apart."""
    player = Player(CASSETTE)
    said = [
        (await player.take(session, asked("It rains."))).text
        for session in ("one", "two", "one", "one")
    ]

    assert said == ["Take a coat.", "Again!", "Still raining?", None]
    assert (player.hits, player.misses) == (3, 1)


async def test_a_miss_shows_both_requests():
    """Strictly, what is not recorded is an error that shows the nearest that is."""
    player = Player(CASSETTE, "strict")

    with pytest.raises(ModelMiss) as caught:
        await player.take("one", asked("It snowed."))

    assert "asked    hash of test/model It snowed." in str(caught.value)
    assert "nearest  hash of test/model It snows." in str(caught.value)


async def test_a_miss_without_any_record_says_so():
    """An empty cassette has nothing near."""
    with pytest.raises(ModelMiss, match="nor to any other"):
        await Player(Cassette(), "strict").take("one", asked("It snowed."))


async def test_what_is_usual_is_imputed():
    """Of an unknown answer latency, cost and tokens are those of the model's others."""
    take = await Player(CASSETTE).take("one", asked("It hails."))

    assert (take.source, take.text, take.is_known) == ("imputed", None, False)
    assert take.latency_ms == Spread(low=100.0, middle=300.0, high=400.0)
    assert take.cost_usd == Spread(low=0.0001, middle=0.0003, high=0.0004)
    assert take.tokens == 300


async def test_of_an_unknown_model_nothing_is_usual():
    """A model that was never asked is taken to think for a second, at most to its end."""
    take = await Player(CASSETTE).take("one", asked("It rains.", "another/model"))

    assert take.source == "assumed"
    assert take.latency_ms == Spread(low=0.0, middle=ASSUMED_LATENCY_MS, high=5_000.0)
    assert take.cost_usd is None


async def test_a_live_model_is_asked_for_what_is_missing():
    """Within its budget the port answers; beyond it words are unknown."""
    player = Player(CASSETTE, "requery", port=Talker())
    takes = [
        await player.take("one", asked(prompt))
        for prompt in ("It rains.", "It hails.", "It hails.", "It hails.")
    ]

    assert [take.text for take in takes] == [
        "Take a coat.",
        "It hails. 0",
        "It hails. 1",
        None,
    ]
    assert [take.source for take in takes] == ["recorded", "asked", "asked", "imputed"]


def test_asking_live_needs_a_port():
    """Without somebody to ask through, that mode is refused."""
    with pytest.raises(ValueError, match="needs a port"):
        Player(CASSETTE, "requery")


async def test_a_stub_says_the_same_to_all():
    """A stub's words are marked, whatever is recorded."""
    player = Player(CASSETTE, "stub", stub="Fine.")
    take = await player.take("one", asked("It rains."))

    assert (take.source, take.text) == ("stub", "Fine.")
    assert player.watermark == "stub: models say 'Fine.'"
    assert Player(CASSETTE).watermark is None


def test_unknown_words_are_no_words():
    """What stands for unknown words could not be taken for an answer to be read."""
    assert "{" not in UNKNOWN_TEXT
