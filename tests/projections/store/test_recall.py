"""What happened is recalled by likeness, as of a place in the log."""

import pytest

from echoic.client import recall as client
from projections.projector.projector import Projector
from projections.store import recall
from projections.store.recall import Wanted
from projections.store.store import Store
from schemas.packs.manifest import to_blob
from schemas.values.vectors import Vector
from tests import factories
from tests.handlers.mind.injections import TEXTS
from tests.projections.chronicle import HINTS, LOW, Chronicle, garden, joined
from tests.scenario import Scenario

pytestmark = pytest.mark.services


class Words:
    """The tests' embedder."""

    def embed(self, texts: list[str]) -> list[Vector]:
        """The vectors of texts."""
        return list(map(factories.embed, texts))


def lived() -> Scenario:
    """Something happened, and people said something."""
    scenario = garden(
        relevance=0.0, model=factories.MODEL, executive={"prompt_tokens": 200}
    )
    scenario.sense(LOW, salience=HINTS, entities=["cow"])
    asked = scenario.wait(60).sense(
        "where is the red key", source="user", type_="message", person="ada"
    )
    scenario.wait(2).answer_model(asked, "In the drawer.")
    scenario.wait(60).sense(
        "the red key is mine", source="user", type_="message", person="lee"
    )
    scenario.wait(1).sense("!?", intent="informational")
    return scenario


def wanted(text: str, **fields: object) -> Wanted:
    """What is to be recalled."""
    made = {"embedder": "words", "as_of": 10_000, "limit": 2, **fields}
    return Wanted(vector=factories.embed(text), **made)  # type: ignore[arg-type]


async def test_episodes_are_recalled_by_likeness(store: Store) -> None:
    """The nearest first, by a person, and nothing that came later; so by log and table."""
    chronicle = Chronicle(lived())
    log = await chronicle.catch_up()
    agent = chronicle.scenario.agent
    await Projector(log, store, chronicle.aids).catch_up()

    for each in (
        wanted("red key"),
        wanted("red key", person="ada"),
        wanted("red key", person="ada", limit=5),
    ):
        found = recall.nearest(store, agent, each)
        by_log = await client.of_log(log, agent, Words(), each)  # type: ignore[arg-type]
        assert [(e.text, e.said, round(e.similarity, 4)) for e in found] == [
            (e.text, e.said, round(e.similarity, 4)) for e in by_log
        ]

    hers = recall.nearest(store, agent, wanted("red key", person="ada"))
    assert [(each.text, each.said) for each in hers] == [
        ("where is the red key", "In the drawer."), (LOW, "Eat something."),
    ]  # fmt: skip
    (before,) = recall.nearest(store, agent, wanted("red key", as_of=hers[0].sequence))[
        :1
    ]
    assert (before.id, before.said) == (hers[0].id, None)
    assert recall.nearest(store, agent, wanted("")) == ()
    assert recall.nearest(store, "nobody", wanted("red key")) == ()
    assert recall.nearest(store, agent, wanted("red key", embedder="other")) == ()


def test_only_what_is_remembered_is_an_episode() -> None:
    """Nothing without the setting; nothing of what only informs."""
    rows = joined(lived())["episodes"].puts.values()

    assert [row["text"] for row in rows] == [
        LOW, "where is the red key", "the red key is mine",
    ]  # fmt: skip
    assert "episodes" not in joined(garden(executive={}))


async def test_what_is_hidden_from_anybody_is_no_episode() -> None:
    """Else it would be told to whoever asks about it, from tables or from the log."""
    types = {"type": "thing", "hidden_from": "hidden_from"}
    scenario = Scenario(
        factories.pack(types=["vital"], events=[types]),
        relevance=0.0,
        model=factories.MODEL,
        executive={"prompt_tokens": 200},
    )
    scenario.sense("a cake for lee", type_="thing", fields={"hidden_from": "lee"})
    scenario.sense("a cake", type_="thing", fields={"hidden_from": ""})

    rows = joined(scenario)["episodes"].puts.values()
    assert [row["text"] for row in rows] == ["a cake"]
    # A shared pack, then one of the agent's own that hides what it did not.
    own = factories.pack(
        types=["meal"], events=[{"type": "vital", "hidden_from": "not_to"}]
    )
    scenario.blobs[own.digest] = own
    for text in ("a pie", "a pie for lee"):
        scenario.sense(text, fields={"not_to": "lee"})
        scenario.control(factories.pack_loaded(own))

    log = await Chronicle(scenario).catch_up()
    for pack in scenario.blobs.values():
        await log.put_blob(to_blob(pack.pack))
    every = wanted("cake pie", limit=10)
    by_log = await client.of_log(log, scenario.agent, Words(), every)  # type: ignore[arg-type]
    assert sorted(each.text for each in by_log) == ["a cake", "a pie"]


async def test_what_is_injected_is_kept_as_it_is(store: Store) -> None:
    """No text of others is part of a query, whether it is kept, asked for or a name."""
    texts = [each for each in TEXTS.values() if len(each) < 1_000 and "\0" not in each]
    scenario = garden(relevance=0.0, executive={"prompt_tokens": 200})
    for text in texts:
        scenario.wait(60).sense(text, person="ada", entities=[text[:200]])
    chronicle = Chronicle(scenario)
    log = await chronicle.catch_up()
    await Projector(log, store, chronicle.aids).catch_up()

    found = [recall.nearest(store, scenario.agent, wanted(each)) for each in texts]
    kept = {each.text for episodes in found for each in episodes}
    assert kept <= set(texts)
    assert len(kept) > len(texts) // 2
    assert not any(recall.nearest(store, each, wanted("a")) for each in texts)
