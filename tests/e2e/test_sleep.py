"""A sleep on a real broker, with a model that is reached over HTTP: all is by proposal."""

import asyncio
import json
from dataclasses import dataclass

import pytest
import pytest_asyncio

from echoic.errors import RefusedError
from echoic.run.instance import Instance
from projections.projector import rebuild
from projections.store import versions
from projections.store.positions import positions_of
from projections.store.store import Store
from schemas.messages.controls import (
    GoalsSet,
    ProposalApplied,
    ProposalReverted,
    SleepRequested,
)
from schemas.messages.learning import Endorsed, HeuristicFormed, ProposalMade
from schemas.messages.sleep import Reflected, SleepBegun, SleepEnded
from tests.e2e.companion import PACK, Companion, bringer, replay
from tests.e2e.model_double import ModelDouble, Reply, reply
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

FLOOD = "The river floods the camp and the tents stand in water, says {agent}"
ADVICE = "Carry the tents up the hill before the water rises."
RULE = {
    "condition": "the river floods the camp and the tents are standing in the water",
    "type": "warn",
    "message": ADVICE,
    "when": None,
    "time": None,
}
DANGER = {"threat": 0.9}


@dataclass(frozen=True, slots=True)
class Camp:
    """A companion at a camp, and the event that the model answers."""

    ada: Companion
    event: str

    async def ends(self, count: int = 1) -> SleepEnded:
        """The end of the latest of so many sleeps."""
        return (await self.ada.comes(SleepEnded, count))[-1]


@pytest_asyncio.fixture(loop_scope="session")
async def camp(ada: Companion, double: ModelDouble) -> Camp:
    """A flood was answered by the model, which would make a rule of it."""
    event = FLOOD.format(agent=ada.agent)
    double.on(event, reply(ADVICE))
    double.on(f'(creature): <data>"{event}', Reply(json.dumps(RULE)))
    decision = await ada.senses(event, type_="creature", salience=DANGER)
    assert (decision.path, decision.said) == ("llm", ADVICE)
    return Camp(ada, event)


async def test_a_sleep_proposes_and_a_person_decides(
    camp: Camp, double: ModelDouble, live: Instance
) -> None:
    """What a model says again becomes a proposal; applied it is known, reverted it is not."""
    ada, before = camp.ada, await camp.ada.state()
    await ada.taught("flee", camp.event, "Climb the old tree.", confidence=0.5)
    kept = (await ada.state()).shelves

    await ada.tell(SleepRequested())
    end = await camp.ends()

    asked = await double.asked_about(camp.event, 3)
    assert "Climb the old tree." not in asked[1].prompt
    assert asked[1].system == asked[0].system
    (reflected,) = await ada.outputs(Reflected)
    assert (reflected.agrees, reflected.done) == (True, ADVICE)
    assert (end.reason, end.reflected, end.agreed) == ("done", 1, 1)
    (made,) = await ada.outputs(ProposalMade)
    assert end.proposals == (made.proposal_id,)
    assert made.repertoire is not None
    assert made.repertoire.kind == "form"
    assert (await ada.state()).shelves[PACK].heuristics == kept[PACK].heuristics

    await ada.tell(ProposalApplied(proposal_id=made.proposal_id))
    (formed,) = await ada.outputs(HeuristicFormed)
    assert formed.heuristic_id in (await ada.state()).shelves[PACK].heuristics
    await ada.tell(ProposalReverted(proposal_id=made.proposal_id))

    after = await ada.state()
    assert after.shelves[PACK].heuristics == kept[PACK].heuristics
    assert (after.frozen, after.beliefs) == (before.frozen, before.beliefs)
    await tables_are_the_fold(ada, live)


async def test_what_a_model_says_unseen_speaks_for_a_heuristic(camp: Camp) -> None:
    """One that came after the event is endorsed by what is said of it in a sleep."""
    ada = camp.ada
    await ada.taught("carry", camp.event, ADVICE, confidence=0.3)

    await ada.tell(SleepRequested())
    await camp.ends()

    (endorsed,) = await ada.outputs(Endorsed)
    assert endorsed.heuristic_id == "carry"
    assert await ada.confidence("carry") > 0.3


async def test_what_says_the_same_is_merged_by_policy_and_parted_again(
    ada: Companion, live: Instance
) -> None:
    """A safe change is in force at once; the one that went is back when it is reverted."""
    for name in ("stove", "stove_too"):
        await ada.taught(name, "The stove smokes", "Open the flue.", confidence=0.5)

    await ada.tell(SleepRequested(apply="safe"))
    (end,) = await ada.comes(SleepEnded)
    assert dict((await ada.state()).frozen) == {"stove": True}
    await ada.tell(ProposalReverted(proposal_id=end.applied[0]))

    assert len((await ada.state()).frozen) == 0
    await tables_are_the_fold(ada, live)


async def test_somebody_who_waits_for_the_model_ends_a_sleep(
    camp: Camp, double: ModelDouble
) -> None:
    """While the model is asked about the past an event is answered, and nothing more asked."""
    ada = camp.ada
    second = f"The bridge is down and the road is under water, says {ada.agent}"
    await ada.senses(second, type_="creature", salience=DANGER)
    hang, wait = asyncio.Event(), asyncio.Event()
    double.on(camp.event, Reply(reply("Wait.").text, release=hang))
    await ada.tell(SleepRequested())
    await double.asked_about(camp.event, 2)
    with pytest.raises(RefusedError, match="asleep"):
        await ada.tell(SleepRequested())

    wolf = f"A wolf howls at the tents, says {ada.agent}"
    double.on(wolf, Reply(reply("Light a fire.").text, release=wait))
    event_id = await ada.publish(wolf, type_="creature", salience=DANGER)
    await double.asked_about(wolf)
    hang.set()
    end = await camp.ends()
    wait.set()
    decision = await ada.decided(event_id, "creature")

    assert (end.reason, end.reflected) == ("woken", 1)
    assert (decision.path, decision.said) == ("llm", "Light a fire.")
    (begun,) = await ada.outputs(SleepBegun)
    assert len(begun.decisions) == 2


async def test_goals_of_a_domain_reach_the_model(
    ada: Companion, double: ModelDouble
) -> None:
    """They stand in its prompt besides those for every event."""
    await ada.tell(GoalsSet(goals=("Keep the tents dry",), domain=PACK))
    event = f"Clouds gather over the camp, says {ada.agent}"

    await ada.senses(event, type_="creature", salience=DANGER)

    (asked,) = await double.asked_about(event)
    assert "- Survive the night\n- Keep the tents dry" in asked.system


async def tables_are_the_fold(ada: Companion, live: Instance) -> None:
    """Every table holds what the log says, and the log is what the mind would say again."""
    replayed = await replay(live, ada.agent)
    assert replayed.is_identical, replayed.divergence
    assert live.database_url is not None
    last = (await ada.groups())[-1].input.sequence
    with Store(live.database_url) as store:
        async with asyncio.timeout(PATIENCE_S):
            while _stands(store, ada.partition) < last:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        found = await rebuild.verify(
            live.log, store, rebuild.Here(live.log, store, bringer(live))
        )
    assert found.is_equal, found.differences


def _stands(store: Store, partition: int) -> int:
    """Up to which sequence of a partition the tables hold the log."""
    with store.snapshot() as snapshot:
        serving = versions.serving(snapshot)
        if serving is None:
            return 0
        position = positions_of(snapshot, serving.number).get(partition)
    return position.sequence if position else 0
