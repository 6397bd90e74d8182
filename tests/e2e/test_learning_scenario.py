"""The learning scenario: from a thumbs-up to a heuristic that answers by itself.

Broker and database are real; the model is a double that is reached over HTTP. What a
person does here is vote, and nothing else: nobody edits a heuristic.
"""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from echoic.run.instance import Instance
from projections.projector import rebuild
from projections.store import versions
from projections.store.positions import positions_of
from projections.store.store import Store
from replay.recording.decisions import DecisionRecord
from schemas.messages.learning import Endorsed, HeuristicFormed, HeuristicReinforced
from schemas.state.evidence import Belief
from tests.e2e.companion import GAME, PACK, Companion, bringer, of_pack, replay
from tests.e2e.conftest import running_instance, with_goals
from tests.e2e.model_double import ModelDouble, Reply, reply
from tests.patience import PATIENCE_S

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.services,
    pytest.mark.model,
]

NOVEL = "The hut is filling with smoke and the player is still inside, {agent} says"
PARAPHRASES = (
    "Thick smoke fills the hut, {agent} says, and the player is still inside it",
    "{agent} says smoke is filling the hut while the player is still inside",
)
ADVICE = "Get out of the hut, crawl below the smoke, a wet cloth over your mouth."
OTHER_WORDS = "Crawl out of the hut below the smoke, with a wet cloth to your mouth."
RULE = {
    "condition": "the hut is filling with thick smoke while the player is still inside",
    "type": "warn",
    "message": ADVICE,
    "when": "smoke >= 50",
    "time": None,
}
DANGER = {"threat": 0.9}
ROUNDS = 60
"""So often it may happen again: each time the heuristic is withheld with one half."""


@dataclass(frozen=True, slots=True)
class House:
    """A companion whose hut burns, and the model that it asks."""

    ada: Companion
    double: ModelDouble

    async def burns(self, text: str, type_: str = "vital") -> DecisionRecord:
        """Let it happen in these words, and wait for what is said of it."""
        event = text.format(agent=self.ada.agent)
        smoke = {"smoke": 80}
        return await self.ada.senses(event, type_=type_, fields=smoke, salience=DANGER)

    def answers(self, text: str, says: Reply) -> None:
        """From now on the model says this when it happens in these words."""
        self.double.on(text.format(agent=self.ada.agent), says)

    def extracts(self, rule: Reply) -> None:
        """From now on the model makes this rule of anything that was liked."""
        for text in (NOVEL, *PARAPHRASES):
            told = text.format(agent=self.ada.agent)
            self.double.on(f'It happened, from {GAME} (vital): <data>"{told}', rule)

    async def belief(self, heuristic_id: str) -> Belief:
        """What is believed of a heuristic."""
        (found,) = await self.ada.beliefs(heuristic_id)
        return found


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def live(
    double: ModelDouble, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Instance]:
    """An instance that withholds candidates by draws, as it does if nobody says else."""
    folder = tmp_path_factory.mktemp("withholding")
    async with running_instance(folder, with_goals(double)) as running:
        yield running


@pytest.fixture
def house(ada: Companion, double: ModelDouble) -> House:
    """A house with a model that knows what to do about smoke."""
    found = House(ada, double)
    for text in (NOVEL, *PARAPHRASES):
        found.answers(text, reply(OTHER_WORDS))
    found.extracts(Reply(json.dumps(RULE)))
    return found


@pytest.mark.timeout(180)
async def test_a_liked_answer_becomes_a_heuristic_that_answers(
    house: House, live: Instance
) -> None:
    """All of a heuristic's life but its end by hand, and the log proves all of it."""
    learnt = await liked(house)
    await endorsed_to_the_cap(house, learnt)
    await lifted_by_a_vote(house, learnt)
    await answers_a_paraphrase(house, learnt)
    await never_meets_another_domain(house, learnt)
    await voted_down(house, learnt)

    replayed = await replay(live, house.ada.agent)
    assert replayed.is_identical, replayed.divergence
    await tables_are_the_fold(house, live)


async def liked(house: House) -> HeuristicFormed:
    """Something new happens, the model answers, a person likes it: a rule is made."""
    decision = await house.burns(NOVEL)
    assert (decision.path, decision.said) == ("llm", OTHER_WORDS)
    assert decision.decided.matched_heuristic_id is None

    await house.ada.votes(decision, "positive")

    (formed,) = await house.ada.comes(HeuristicFormed)
    assert (formed.confidence, formed.origin) == (0.3, "learned")
    assert (formed.domain, formed.decision_id) == (PACK, decision.id)
    assert (formed.text, formed.when) == (ADVICE, "smoke >= 50")
    return formed


async def endorsed_to_the_cap(house: House, learnt: HeuristicFormed) -> None:
    """It happens again and again: the model, not shown the heuristic, says the same."""
    for text in itertools.islice(itertools.cycle(PARAPHRASES), ROUNDS):
        decision = await house.burns(text)
        assert decision.path == "llm"
        beliefs = await house.ada.beliefs(learnt.heuristic_id)
        if beliefs and beliefs[0].confidence == 0.65:
            break

    belief = await house.belief(learnt.heuristic_id)
    assert belief.confidence == 0.65
    assert {each.kind for each in belief.signals} == {"endorsement"}
    endorsed = await house.ada.outputs(Endorsed)
    assert {each.heuristic_id for each in endorsed} == {learnt.heuristic_id}
    assert await house.ada.outputs(HeuristicFormed) == [learnt]


async def lifted_by_a_vote(house: House, learnt: HeuristicFormed) -> None:
    """A person likes the model's answer again: the vote counts for what says the same."""
    decision = await house.burns(PARAPHRASES[0])
    assert decision.path == "llm"

    await house.ada.votes(decision, "positive")

    (reinforced,) = await house.ada.comes(HeuristicReinforced)
    assert reinforced.heuristic_id == learnt.heuristic_id
    assert (await house.belief(learnt.heuristic_id)).confidence > 0.7
    assert await house.ada.outputs(HeuristicFormed) == [learnt]


async def answers_a_paraphrase(house: House, learnt: HeuristicFormed) -> None:
    """From now on it answers, in other words too, no model is asked, and it is judged."""
    asked = len(house.double.asked)
    before = await house.belief(learnt.heuristic_id)

    decision = await house.burns(PARAPHRASES[1])

    assert (decision.path, decision.said) == ("heuristic", ADVICE)
    assert decision.decided.matched_heuristic_id == learnt.heuristic_id
    assert len(house.double.asked) == asked

    await house.ada.senses("Out", in_reply_to=decision.id, outcome="succeeded")

    after = await house.belief(learnt.heuristic_id)
    assert after.confidence > before.confidence
    assert after.fire_count == before.fire_count + 1


async def never_meets_another_domain(house: House, learnt: HeuristicFormed) -> None:
    """The same words of an event that the game does not know are not its business."""
    decision = await house.burns(NOVEL, type_="rehearsal")

    assert decision.decided.domain != PACK
    arms = [each.arm for each in decision.decided.candidates]
    assert not [each for each in arms if learnt.heuristic_id in each]
    assert of_pack("heal") not in str(arms)


async def voted_down(house: House, learnt: HeuristicFormed) -> None:
    """Two of three people dislike it each time, until the model is asked again."""
    decision = await house.burns(PARAPHRASES[1])
    for _ in range(ROUNDS):
        if decision.path != "heuristic":
            break
        for actor, rating in (("ann", "positive"), ("ben", "negative")):
            await house.ada.votes(decision, rating, actor=actor)
        await house.ada.votes(decision, "negative", actor="cleo")
        decision = await house.burns(PARAPHRASES[1])

    assert (decision.path, decision.said) == ("llm", OTHER_WORDS)
    belief = await house.belief(learnt.heuristic_id)
    assert belief.confidence < 0.7
    votes = [each for each in belief.signals if each.kind == "explicit"]
    assert votes[-1].value == pytest.approx(1 / 3, abs=1e-6)


async def tables_are_the_fold(house: House, live: Instance) -> None:
    """The read models took all of it in, and hold what a fresh fold of the log does."""
    assert live.database_url is not None
    last = (await house.ada.groups())[-1].input.sequence
    with Store(live.database_url) as store:
        async with asyncio.timeout(PATIENCE_S):
            while stands(store, house.ada.partition) < last:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        found = await rebuild.verify(
            live.log, store, rebuild.Here(live.log, store, bringer(live))
        )
    assert found.is_equal, found.differences


def stands(store: Store, partition: int) -> int:
    """Up to which sequence of a partition the tables hold the log."""
    with store.snapshot() as snapshot:
        serving = versions.serving(snapshot)
        # A projector that has only just begun serves none yet.
        positions = positions_of(snapshot, serving.number) if serving else {}
    position = positions.get(partition)
    return position.sequence if position else 0
