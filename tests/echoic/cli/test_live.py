"""The program beside a running instance: what people say to it, and ask of it."""

import json
import re
from typing import Any

import pytest

from tests.echoic.cli.acting import THIRST, thirsty, watching
from tests.echoic.cli.conftest import Program

# Each command is a process of its own, or waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]


def test_pub_waits_for_the_decision(live: Program) -> None:
    """A heuristic of the pack answers; the reply is under the seed's names."""
    found = thirsty(live, "pub", 3, "Your drink is low: 3 of 9.")

    assert found["accepted"] is True
    assert found["decision_path"] == "heuristic"
    assert found["response_text"] == "You are thirsty. Find water and drink."
    assert found["predicted_success"] == found["prediction_confidence"] == 0.8
    assert found["matched_heuristic_id"]
    assert found["prompt_text"] == ""


def test_pub_prints_one_line_a_decision(live: Program) -> None:
    """Without --json a person reads who said what."""
    ran = live.here(
        "pub", "Your drink is low: 2 of 9.", *THIRST, "--field", "value=2", "--hint",
        "threat=0.9", "--agent", "lines", "--wait",
    )  # fmt: skip

    assert re.search(r"S1 drink-soon \.80 “You are thirsty.* ms [0-9a-f]{8}\n", ran.out)


def test_pub_reads_stdin_and_files(live: Program) -> None:
    """`-` and -f publish each line, under ids that are new each time."""
    lines = "hello there\n" + json.dumps(
        {"source": "door", "type": "bell", "text": "Ding"}
    )
    path = live.folder / "two.jsonl"
    path.write_text(lines)

    first = live.here("pub", "-", "--agent", "files", "--json", stdin=lines)
    again = live.here("pub", "-f", str(path), "--agent", "files", "--wait", "--json")

    assert first.code == again.code == 0, first.err + again.err
    ids = [json.loads(line)["event_id"] for line in first.out.splitlines()]
    assert len(set(ids)) == 2
    assert all(json.loads(line)["response_id"] for line in again.out.splitlines())


def test_a_bad_line_stops_the_file_and_is_named(live: Program) -> None:
    """What came before it is published; the error says which line it was."""
    ran = live.here("pub", "-", "--agent", "bad", stdin="fine\n{broken\n")

    assert ran.code == 2
    assert "line 2 is no event" in ran.err


def test_explain_finds_a_decision_by_the_beginning_of_its_id(live: Program) -> None:
    """The page names who spoke and the gates with their margins."""
    found = thirsty(live, "explain", 3, "Your drink is low: 3 of 9.")

    ran = live.here("explain", found["response_id"][:8], "--agent", "explain")

    assert ran.code == 0, ran.err
    assert "Spoke by the heuristic drink-soon (confidence 0.80 ≥ 0.70)." in ran.out
    assert "✓ confidence   0.80 ≥ 0.70  +0.10" in ran.out
    assert "→ drink-soon" in ran.out


def test_explain_supposes_another_threshold(live: Program) -> None:
    """`--what-if` says what the recorded numbers would have led to."""
    thirsty(live, "suppose", 3, "Your drink is low: 3 of 9.")

    ran = live.here(
        "explain", "--last", "--what-if", "threshold=0.9", "--agent", "suppose"
    )

    assert "What if threshold=0.9: would have stayed silent" in ran.out


def test_explain_tells_what_was_not_alike_enough(live: Program) -> None:
    """With the limit, so that one sees that the words are what is missing."""
    lesson = ("--condition", "The oven is on", "--say", "Turn it off.")
    taught = ("--name", "oven", "--domain", "kitchen", "--agent", "unlike")
    live.here("heuristic", "seed", *lesson, *taught)
    event = (
        "pub",
        "A parrot sings",
        "--source",
        "kitchen",
        "--type",
        "noise",
        "--wait",
    )
    live.here(*event, "--agent", "unlike")

    page = live.here("explain", "--last", "--agent", "unlike").out
    (near,) = live.here("explain", "--last", "--agent", "unlike", "--json").json[
        "nearest"
    ]

    assert (near["name"], near["limit"]) == ("oven", 0.55)
    assert f"Not alike enough: oven {near['likeness']:.2f} < 0.55." in page


def test_explain_tells_the_last_silence(live: Program) -> None:
    """The last decision may have spoken; the last silence is found behind it."""
    live.here("pub", "The kettle boils.", "--agent", "quiet", "--wait")
    thirsty(live, "quiet", 3, "Your drink is low: 3 of 9.")

    last = live.here("explain", "--last", "--agent", "quiet", "--json").json
    silent = live.here("explain", "--last-silent", "--agent", "quiet", "--json").json

    assert (last["v"], last["silence"]) == (1, None)
    assert silent["silence"] == "llm_unavailable"
    assert silent["text"] == "The kettle boils."
    assert silent["explanation"]["verdict"].startswith("Stayed silent")


def test_an_unknown_decision_is_exit_code_1(live: Program) -> None:
    """There is nothing to explain, and the error says what to do."""
    live.here("pub", "Hello.", "--agent", "nobody", "--wait")

    ran = live.here("explain", "ffffffff", "--agent", "nobody")

    assert (ran.code, ran.out) == (1, "")
    assert "has no decision 'ffffffff'" in ran.err


def test_feedback_moves_the_heuristic(live: Program) -> None:
    """Down after up counts once, as down; the history shows each step."""
    found = thirsty(live, "votes", 3, "Your drink is low: 3 of 9.")
    id_ = found["response_id"][:8]

    for vote in ("up", "down"):
        ran = live.here("feedback", id_, vote, "--agent", "votes", "--comment", "hm")
        assert ran.code == 0, ran.err

    shown = live.here(
        "heuristic", "show", "drink-soon", "--agent", "votes", "--json"
    ).json
    declared, up, down = shown["history"]
    assert [declared["why"], up["why"], down["why"]] == ["pack", "vote", "vote"]
    assert up["after"] > up["before"] == declared["after"] == 0.8
    assert shown["confidence"] == down["after"] < 0.8
    measured = shown["measures"]
    assert (measured["matches"], measured["judged"], measured["succeeded"]) == (1, 1, 0)
    assert 0.5 < measured["similarity"] < 1.0
    assert measured["low"] < shown["confidence"] < measured["high"]
    page = live.here("heuristic", "show", "drink-soon", "--agent", "votes").out
    assert "on average when it fired (n=1)" in page
    assert "0% of 1 judged fires; fired 1" in page


def test_stars_and_aspects_say_what_was_wrong(live: Program) -> None:
    """One star on the timing moves no heuristic, nor does one on its condition."""
    found = thirsty(live, "stars", 3, "Your drink is low: 3 of 9.")
    id_ = found["response_id"][:8]

    def judged(*vote: str) -> Any:
        return live.here("feedback", id_, *vote, "--agent", "stars", "--json").json

    assert judged("4")["value"] == 0.5
    for aspect in ("timing", "condition"):
        assert judged("1", "--aspect", aspect)["aspect"] == aspect
    shown = live.here(
        "heuristic", "show", "drink-soon", "--agent", "stars", "--json"
    ).json

    assert shown["confidence"] == 0.8


def test_feedback_on_an_unknown_heuristic_is_refused(live: Program) -> None:
    """A misspelt heuristic gets a suggestion."""
    ran = live.here("feedback", "drink-son", "down", "--heuristic")

    assert ran.code == 1
    assert "did you mean 'drink-soon'?" in ran.err


def test_an_outcome_counts_for_the_fire_of_its_decision(live: Program) -> None:
    """A success reported by hand lifts the heuristic that advised it."""
    thirsty(live, "outcomes", 3, "Your drink is low: 3 of 9.")

    ran = live.here("outcome", "last", "succeeded", "--agent", "outcomes")

    again = live.here("outcome", "last", "succeeded", "--agent", "outcomes")

    assert ran.code == again.code == 0, ran.err
    assert "counted for drink-soon" in ran.out
    assert "credits nobody: how that turned out is known already" in again.out
    shown = live.here(
        "heuristic", "show", "drink-soon", "--agent", "outcomes", "--json"
    ).json
    assert [step["why"] for step in shown["history"]] == ["pack", "outcome_report"]
    assert (shown["fires"], shown["successes"]) == (1, 1)
    assert shown["confidence"] > 0.8


def test_an_outcome_of_a_silence_credits_nobody(live: Program) -> None:
    """Where nothing was said nothing can have been right, and the exit code says so."""
    live.here("pub", "The lamp is on.", "--agent", "silences", "--wait")

    ran = live.here("outcome", "last", "succeeded", "--agent", "silences")
    as_json = live.here("outcome", "last", "failed", "--agent", "silences", "--json")

    assert (ran.code, as_json.code) == (1, 1)
    assert "credits nobody, since nothing was said (llm_unavailable)" in ran.out
    assert as_json.json["credited"] == []


def test_an_unknown_agent_is_an_error_with_the_known_ones(live: Program) -> None:
    """A misspelt name is not taken for somebody who knows nothing."""
    live.here("pub", "Hello.", "--agent", "stephanie", "--wait")

    for command in (
        ("state", "stefanie"),
        ("explain", "--last", "--agent", "stefanie"),
        ("heuristic", "list", "--agent", "stefanie"),
        ("session", "list", "--agent", "stefanie"),
        ("outcome", "last", "succeeded", "--agent", "stefanie"),
    ):
        ran = live.here(*command)
        assert ran.code == 1, command
        assert "no agent 'stefanie': did you mean 'stephanie'?; known: " in ran.err
        assert ran.out == ""


def test_the_state_of_a_time_can_be_asked_for(live: Program) -> None:
    """Now, so long ago, or a time of day; before the agent's first input is an error."""
    live.here("pub", "Hello.", "--agent", "timely", "--wait")

    now = live.here("state", "timely", "--at", "now", "--json")
    ago = live.here("state", "timely", "--at", "0 seconds ago", "--json")
    before = live.here("state", "timely", "--at", "2019-01-01")
    first = live.here("state", "timely", "--at", "1")

    assert now.json["position"] == ago.json["position"] > 0
    assert (before.code, first.code) == (1, 1)
    assert "nothing of 'timely' is known by then: its first input is" in before.err


def test_what_is_supposed_must_be_known(live: Program) -> None:
    """A misspelt number gets the one that was meant."""
    thirsty(live, "supposer", 3, "Your drink is low: 3 of 9.")

    ran = live.here(
        "explain", "--last", "--agent", "supposer", "--what-if", "thresold=0.5"
    )

    assert ran.code == 2
    assert "did you mean 'threshold'?" in ran.err


def test_watch_names_what_was_taught_after_it_began(live: Program) -> None:
    """A heuristic that answers is called by its name, however new it is."""
    live.here("pub", "Hello.", "--agent", "newer", "--wait")
    with watching(live, "watch", "--limit", "1", "--agent", "newer") as process:
        live.here(
            "heuristic", "seed", "--condition", "the oven is done baking", "--say",
            "Cake!", "--name", "cake-call", "--confidence", "0.9", "--agent", "newer",
        )  # fmt: skip
        live.here("pub", "The oven is done baking.", "--agent", "newer", "--wait")
        shown = process.stdout.read()

    assert "cake-call" in shown


def test_a_taught_heuristic_answers_until_it_is_frozen(live: Program) -> None:
    """Teach, hear it, freeze, hear it no more, release, hear it again."""
    taught = live.here(
        "heuristic", "seed", "--condition", "the oven is done baking", "--say",
        "Your cake is ready.", "--name", "cake", "--domain", "kitchen",
        "--confidence", "0.9", "--agent", "cook",
    )  # fmt: skip
    assert taught.code == 0, taught.err

    def said(text: str) -> str:
        ran = live.here(
            "pub", text, "--source", "kitchen", "--type", "oven", "--hint",
            "threat=0.9", "--agent", "cook", "--wait", "--json",
        )  # fmt: skip
        return str(ran.json["response_text"])

    assert said("the oven is done baking") == "Your cake is ready."
    assert live.here("heuristic", "freeze", "cake", "--agent", "cook").code == 0
    assert said("the oven has done its baking") == ""
    assert (
        live.here("heuristic", "freeze", "cake", "--off", "--agent", "cook").code == 0
    )
    assert said("now the oven is done with baking") == "Your cake is ready."


def test_a_prior_is_set_and_taken_back(live: Program) -> None:
    """Heuristics of an origin start from it as long as it stands."""
    about = ("--agent", "primed")
    lesson = ("heuristic", "seed", "--condition", "fog", "--say", "Slow down.")
    assert live.here(*lesson, "--name", "fog", *about).code == 0

    def trust() -> float:
        shown = live.here("heuristic", "show", "fog", "--json", *about)
        return float(shown.json["confidence"])

    set_ = live.here("heuristic", "prior", "seeded", "--start", *about)
    assert set_.out.strip() == "seeded heuristics start from 0.75, weight 4"
    assert trust() == 0.75
    assert live.here("heuristic", "prior", "seeded", "--off", *about).code == 0
    assert trust() == 0.5
    for wrong, because in (
        (("pack", "--off"), "'pack' is not one of 'skill_pack'"),
        (("seeded",), "give one of --kappa"),
        (("seeded", "--pooled"), "fewer than 3 seeded heuristics were judged"),
        (("seeded", "--kappa", "0"), "greater than or equal to 0.1"),
    ):
        refused = live.here("heuristic", "prior", *wrong, *about)
        assert refused.code != 0
        assert because in refused.err


def test_a_lesson_that_is_not_trusted_yet_says_so(live: Program) -> None:
    """Whoever teaches with less than the threshold hears what is missing."""
    lesson = ("heuristic", "seed", "--condition", "rain", "--say", "Take an umbrella.")

    doubtful = live.here(*lesson, "--agent", "doubted")
    trusted = live.here(*lesson, "--agent", "doubted", "--confidence", "0.7")

    assert "it speaks from a confidence of 0.70 on" in doubtful.err
    assert trusted.err == ""


def test_last_is_never_the_report_of_an_outcome(live: Program) -> None:
    """Who reports twice, or asks why, means the decision that was reported on."""
    found = thirsty(live, "reports", 3, "Your drink is low: 3 of 9.")
    for _ in range(2):
        ran = live.here("outcome", "last", "succeeded", "--agent", "reports")
        assert ran.code == 0, ran.err

    page = live.here("explain", "--last", "--agent", "reports", "--json")

    assert page.json["id"] == found["response_id"]


def test_heuristic_list_shows_packs_and_lessons(live: Program) -> None:
    """What an agent goes by, with how far each is trusted."""
    listed = live.here("heuristic", "list", "--json", ECHOIC_AGENT="anyone")
    rows = listed.json["rows"]

    names = {row["name"]: row for row in rows}
    assert names["drink-soon"]["origin"] == "skill_pack"
    assert names["drink-soon"]["confidence"] == 0.8


def test_state_shows_then_and_now(live: Program) -> None:
    """The state as of an earlier input knows nothing of what came later."""
    thirsty(live, "past", 3, "Your drink is low: 3 of 9.")
    first = live.here("state", "past", "--json").json
    live.here("feedback", "last", "up", "--agent", "past")

    now = live.here("state", "past", "--json").json
    then = live.here("state", "past", "--at", str(first["position"]), "--json").json

    assert then == first
    assert now["rapport"]["user"] > 0.5
    assert then["rapport"] == {}
    assert "survival 1.0.0" in now["packs"]


def test_a_personality_is_chosen_moved_and_shown(live: Program) -> None:
    """By commands; a decision then says as whom it was made, and `check` reads it back."""
    live.here("pub", "hello", "--agent", "jane", "--wait")
    for command in (
        "personality use butler",
        "trait set sarcasm -0.05 --for 10m",
        "context use work",
    ):
        ran = live.here(*command.split(), "--agent", "jane")
        assert ran.code == 0, ran.err
    found = json.loads(
        live.here("personality", "show", "--agent", "jane", "--json").out
    )
    unknown = live.here("personality", "use", "nobody", "--agent", "jane")
    listed = live.here("trait", "list", "--agent", "jane")
    decided = thirsty(live, "jane", 3, "Your drink is low: 3 of 9.")
    ran = live.here("explain", decided["response_id"][:8], "--agent", "jane")
    checked = live.here("personality", "check", "--agent", "jane")

    assert found["template"] == "butler"
    assert [each["name"] for each in found["contexts"]] == ["work"]
    assert unknown.code != 0
    assert "there are butler, coach, engineer, jester, none" in unknown.err
    assert "sarcasm" in listed.out
    assert "as butler: " in ran.out
    assert "in context work: switched by user" in ran.out
    assert "1 of 1 response in character" in checked.out, checked.err
