"""The prompt of one model that talks and plans: what both layers are told, each thing once."""

from collections.abc import Mapping

from handlers.mind.characters import prompts
from handlers.mind.characters.executor import prompt as planning
from handlers.mind.characters.talker import prompt as talking
from schemas.packs.characters import CharacterMind
from schemas.state.character import Character

FORM = (
    'Answer with one JSON object: {"thinking": why, in a sentence, "speaking": what you say'
    ' aloud, or "", "action": one action or a list of them, or null, "goal": {"type":'
    ' "personal", "medium_term" or "group", "description": what} or null, "priorities":'
    " {kind of work: 0 to 1} or null}. "
) + planning.ACTIONS


def moment(
    mind: CharacterMind,
    character: Character,
    fields: Mapping[str, object],
    doing: str | None,
    reason: str | None,
) -> str:
    """Return what the model is told of the moment."""
    talker, executor, tactics = mind.talker, mind.executor, mind.tactics
    assert talker is not None, "one model is both"
    assert executor is not None, "one model is both"
    assert tactics is not None, "an executor has tactics"
    social = prompts.offered(talker.tools, fields)
    work = prompts.offered(executor.tools, fields)
    parts = [
        planning.why(reason) if reason is not None else "",
        *talking.known(mind, talker, character, fields),
        *planning.known(tactics, executor, character, fields, doing),
        f"Tools: {', '.join((*social, *work)) or 'none'}",
    ]
    return "\n\n".join(filter(None, parts))
