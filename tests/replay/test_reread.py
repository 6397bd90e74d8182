"""Recorded replies read again, and shown as they were received."""

from msgspec import structs
from msgspec.structs import replace

from echoic.explain.exchanges import exchanges
from echoic.terminal.exchanges import screen
from echoic.terminal.screen import rendered
from handlers.mind.turn import Turn
from replay.recording.decisions import DecisionRecord, DecisionRecords
from replay.reread import Rereading
from schemas.messages.results import ModelAnswered
from tests import factories
from tests.scenario import Scenario

THREAT = {"threat": 0.9}
THOUGHT = "<think>They must not know.</think>Look around."


def life(reply: str) -> Scenario:
    """A life in which a model is asked once, and answers so."""
    scenario = Scenario(model=factories.MODEL)
    turn = scenario.sense("something new", salience=THREAT)
    scenario.answer_model(turn, reply)
    return scenario


def with_reply(turn: Turn, text: str) -> Turn:
    """The same outputs, as if the model had sent something else."""
    message = turn.input.message
    if not isinstance(message, ModelAnswered):
        return turn
    other = replace(message, text=text)
    return structs.replace(turn, input=structs.replace(turn.input, message=other))


def reread(scenario: Scenario, sent: str | None = None) -> Rereading:
    """What today's reader makes of a life, or of one in which this was sent."""
    rereading = Rereading()
    for turn in scenario.turns:
        of = with_reply(turn, sent) if sent is not None else turn
        rereading.take(of.input, list(of.outputs))
    return rereading


def test_what_is_read_as_it_was_is_not_listed() -> None:
    """Words, thoughts, a choice to say nothing, and another form."""
    for reply in ("Look around.", THOUGHT, '{"response": ""}', "{}", "[1]"):
        found = reread(life(reply))
        assert (found.replies, found.found) == (1, []), reply


def test_what_is_read_otherwise_is_listed_with_both() -> None:
    """As if a former reader had said the JSON aloud, or kept silent."""
    [said] = reread(life("Look around."), '{"text": "Look around."}').found
    assert (said.recorded, said.today) == ("Look around.", "[llm_malformed]")
    assert said.reply == '{"text": "Look around."}'

    [silent] = reread(life("{}"), "{'response': 'Look around.'}").found
    assert (silent.recorded, silent.today) == ("[llm_malformed]", "Look around.")


def recorded(scenario: Scenario) -> DecisionRecord:
    """The decision of a life."""
    records = DecisionRecords(keeps_final=True)
    for turn in scenario.turns:
        records.take(turn.input, list(turn.outputs))
    return records.all()[-1]


def test_a_decision_shows_what_its_model_was_told_and_sent() -> None:
    """The prompt, the raw reply, what was thought, and what was read of it."""
    [told] = exchanges(recorded(life(THOUGHT)))
    assert "something new" in told.prompt
    assert told.system
    assert told.reply is not None
    assert told.reply.content == THOUGHT
    assert told.reply.reasoning == "They must not know."
    assert (told.reply.said, told.reply.fault) == ("Look around.", None)

    page = rendered(screen([told]))
    for part in (told.prompt.splitlines()[0], THOUGHT, "They must not know."):
        assert part in page


def test_a_reply_of_no_use_says_why() -> None:
    """And one that never came is none."""
    [told] = exchanges(recorded(life('{"text": "Hi"}')))
    assert told.reply is not None
    assert told.reply.said is None
    assert told.reply.fault == 'the answer is malformed: it has no "response"'

    scenario = Scenario(model=factories.MODEL)
    scenario.sense("something new", salience=THREAT)
    [unanswered] = exchanges(recorded(scenario))
    assert unanswered.reply is None
    assert "no reply is in the log" in rendered(screen([unanswered]))
    assert "No model was asked" in rendered(screen([]))
