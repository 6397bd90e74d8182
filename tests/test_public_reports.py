"""What public reports told of other programs, held by tests here: which, for each of them.

A row names its threads, as `repository#number`, and the tests that hold its input; behind `|`
stands what of a test's table it is. What has no test elsewhere has one at the end of this file.
"""

import ast
import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import fastapi.sse
import paho.mqtt.client as paho
import pytest
from fastapi.sse import EventSourceResponse
from paho.mqtt.enums import CallbackAPIVersion

from echoic.cli.remind import moment
from echoic.doors.homeassistant.mqtt import Mqtt, _take
from echoic.doors.http import stream
from echoic.packs.load import check
from tests.echoic.packs.test_load import GOOD

HERE = Path(__file__).parent
OWN = "test_public_reports.py::"
MIND = "handlers/mind/"
MOMENTS = f"{MIND}test_moments.py::test_moments_are_understood"
SAYS = f"{MIND}test_reply.py::test_what_a_reply_says"
MALFORMED = f"{MIND}test_reply.py::test_a_reply_of_another_form_is_a_failure"
TRACING = "echoic/tracing/"
FILES = "echoic/client/test_event_files.py::"
REQUEST = "handlers/effects/test_model_request.py::"
PERSONS = "schemas/values/test_persons.py::"
SENTENCES = "evaluation/compare/test_sentences.py::"

TABLES: Mapping[str, str] = {
    f"{MIND}test_reply.py": f"{MIND}reply_cases.py",
    "handlers/effects/test_model_request.py": "strict_models.py",
}
"""Where the cases of a test stand that are not in its own file."""

FAULTS: Mapping[str, tuple[str, ...]] = {
    "1 litellm-vscode-chat#18, nanobot#370": (
        f"{REQUEST}test_the_models_of_the_readme_answer_at_once",
        f"{REQUEST}test_every_model_answers_whatever_it_refuses",
    ),
    "3 zeke/remind-me#4": (f"{MOMENTS}|remind me to call Zoë tomorrow at 7",),
    "6 variation of 3": (
        f"{MOMENTS}|remind me to take the pills at 8 and at 20",
        f"{MOMENTS}|remind me to stretch in 20 minutes and again in 40 minutes",
    ),
    "7 variation of 3": (
        f"{MIND}test_moments.py::test_an_end_is_understood_or_nothing_is_promised"
        "|stop telling me about the weather until tomorrow",
    ),
    "9 ha_voice_alarms#6, core PR#117199, linux-voice-assistant#388": (
        f"{MIND}test_reminding.py::test_reminders_are_listed_moved_and_cancelled",
        f"{MIND}test_reminding.py::test_the_same_is_asked_for_in_many_ways",
        f"{MIND}test_reminding.py::test_a_timer_is_cancelled_as_one",
    ),
    "10 jarvis#235, jarvis PR#404": (
        f"{MIND}test_called.py::test_a_name_before_a_command_is_no_part_of_it"
        "|hey companion be quiet",
    ),
    "12 core#147541, SkyrimNet PR#376, amica#174": (
        f"{MIND}test_reply.py::test_what_was_thought_is_kept_and_never_said",
        f"{SAYS}|<think>The guest must not hear of it.</think>It is sunny.",
    ),
    "14 agent-zero#1836, anima#135, textgen#6936": (
        f"{MIND}test_reply.py::test_of_a_reply_that_is_cut_off_whole_sentences_are_said"
        "|before you leave you shou",
    ),
    "16 chat-ui PR#2383": (
        f"{MIND}test_reply.py::test_each_end_has_a_meaning|reading.USED_UP",
    ),
    "17 deer-flow PR#2368, SICTIC-AI PR#37": (
        f'{SAYS}|"predicted_success": 0.8,}}',
        f"{SAYS}|{{'response': 'It is sunny.'",
        f"{SAYS}|{{“response”: “It is sunny.”}}",
    ),
    "19 home-assistant-voice-pe#563, #621, hermes-agent#75780": (
        f"{MIND}test_own_voice.py::test_its_own_words_are_nobodys",
        f"{MIND}test_own_voice.py::test_an_exchange_with_itself_ends_after_two",
    ),
    "21 nats-server#8611, #4836, Tasmota#10258": (
        "echoic/cli/listeners/test_mqtt_topics.py::"
        "test_a_topic_that_nats_cannot_carry_starves_nobody",
    ),
    "22 litellm PR#24949, #24770": (
        "echoic/client/test_health.py::test_a_budget_needs_a_price",
        "handlers/effects/test_models.py::test_a_price_of_ones_own_counts",
    ),
    "23 MemOS#1620, opensre#3171": (
        f"{REQUEST}test_a_server_that_asks_for_patience_gets_it",
    ),
    "24 core PR#71374, #53910": (
        f"{MIND}test_readings.py::test_what_is_no_reading_raises_no_alarm",
        "echoic/packs/test_readings.py::test_a_denied_comparison_of_size_is_warned_of",
    ),
    "26 genie-server#196, cocoda#403": (
        f"{PERSONS}test_text_is_of_one_form_wherever_it_is_compared",
    ),
    "28 rauthy#614, RocketChat#16628, planet#1090": (
        f"{PERSONS}test_a_person_of_any_name_is_reminded_and_known_by_it",
    ),
    "29 basecamp-cli PR#641": (
        "echoic/cli/test_pub.py::test_options_hold_for_what_stdin_says",
    ),
    "31 awslogs#97, pyspartn#23": (
        f"{FILES}test_a_time_has_a_zone_or_its_line_is_refused",
    ),
    "32 variation of 31": (
        f"{FILES}test_a_time_has_a_zone_or_its_line_is_refused",
        f"{FILES}test_a_number_is_seconds_or_milliseconds_since_1970",
    ),
    "33 faunadb-importer#36, metadata-qa-api#184, cjdb#9": (
        f"{FILES}test_another_file_is_refused_before_its_first_line|HISTORY",
        f"{FILES}test_what_a_file_is_shows_in_its_beginning",
    ),
    "34 core#121819, Mantella#452, alltalk_tts#184": (
        "handlers/effects/test_spoken_words.py::test_a_text_is_turned_into_what_one_says",
        "handlers/effects/test_spoken_words.py::test_a_command_gets_what_one_says",
    ),
    "36 sdk-csharp#238, arcus.eventgrid#109": (
        "echoic/cli/http/test_http.py::test_a_cloud_event_may_be_binary",
        "echoic/doors/http/test_cloud_events.py::"
        "test_data_is_text_fields_or_a_devices_own|data_base64",
    ),
    "37 core#20358, zigbee2mqtt#2269": (
        "schemas/codec/test_payload.py::test_a_devices_object_is_an_event|linkquality",
    ),
    "38 language-tools#61, shadow PR#2322": (
        "echoic/packs/test_readings.py::test_merge_keys_are_read",
    ),
    "39 segment-docs PR#7422, documentation PR#3111": (
        f"{FILES}test_what_the_mind_would_quarantine_is_refused_at_its_line|40_000",
        "echoic/cli/http/test_http.py::"
        "test_a_batch_keeps_what_is_right_and_names_what_is_wrong",
    ),
}
"""Faults and unhelpful answers."""

HOLDS: Mapping[str, tuple[str, ...]] = {
    "stateful_scenes PR#220, salt#38754": (
        f"{OWN}test_odd_yaml_is_named_at_its_place",
        "echoic/packs/test_load.py::test_each_mistake_has_a_place_a_code_and_advice",
    ),
    "luthien-proxy PR#816, aegra PR#227": (
        "e2e/test_bad_input.py::test_a_bad_body_is_quarantined|half a surrogate",
        "e2e/test_fuzz.py::test_the_tables_are_the_fold_of_it_all",
    ),
    "nats-server#7302, murmur#141": (
        "e2e/test_deciding.py::test_the_same_id_decides_once",
    ),
    "medTimer#943, MuditaOS#3687, core#89636": (
        f"{OWN}test_a_reminder_keeps_to_clocks_that_change",
    ),
    "core PR#117199": (
        f"{MIND}test_reminders.py::"
        "test_one_that_came_due_while_nothing_ran_is_stale_after_an_hour",
        f"{MIND}test_reminders.py::test_it_survives_a_restart",
    ),
    "snips-issues#54, alan#159": (
        "handlers/effects/test_speech.py::test_words_are_one_argument_that_no_shell_sees",
    ),
    "core PR#106425, Tasmota#744": (f"{OWN}test_a_retained_command_is_no_command",),
    "DeepSeek-Reasonix PR#3064, WaveHouse#226": (
        f"{OWN}test_an_idle_stream_is_kept_alive",
    ),
    "azure-devops-mcp#147, agentic-qe#527": (
        f"{OWN}test_the_protocol_may_be_spoken_by_hand",
    ),
    "svelte-langgraph PR#249, susi.ai#1443": (
        f"{MIND}flows/test_batch_votes.py::test_a_changed_vote_replaces_every_share",
        "e2e/test_learning.py::test_down_after_up_counts_once_as_down",
    ),
    "hermes-agent#61343, senrigan#48": (
        "echoic/web/report/test_page.py::test_hostile_words_stay_words",
    ),
    "vowpal_wabbit#2621, causallib#9, zr-obp PR#129": (
        "evaluation/ope/test_oracles.py::test_ips_and_snips_are_vw_estimators",
        "echoic/cli/test_replay_estimate.py::test_bad_data_names_its_place",
    ),
    "t3code#3983": (
        "e2e/test_bad_input.py::test_an_impossible_time_is_flagged",
        "projections/folds/test_clock.py::test_an_event_clock_takes_small_steps",
    ),
    "own check": ("echoic/cli/test_keeping.py::test_the_live_log_replays_identically",),
    "grok2api PR#759": (
        f"{FILES}test_what_a_file_is_shows_in_its_beginning",
        "echoic/client/test_event_lines.py::test_a_line_that_is_no_event_is_named",
    ),
}
"""What held when it was tried first."""

HOMES: Mapping[str, tuple[str, ...]] = {
    "F1": (
        f"{TRACING}test_context.py::test_who_is_asked_is_told_of_the_exported_span",
    ),
    "F2": ("echoic/doors/homeassistant/test_discovery.py::test_a_restart_is_no_news",),
    "F3": (
        f"{TRACING}test_observe.py::test_a_vote_after_a_restart_is_linked_by_what_the_mind_remembers",
    ),
    "F4": (
        "echoic/cli/test_replay_compare.py::"
        "test_flips_can_be_seen_beside_the_recorded_decisions",
        f"{TRACING}test_recorded.py::test_flips_come_first_and_each_has_its_page",
    ),
    "F5": (
        "echoic/test_demo_settings.py::test_the_users_own_file_is_not_read",
        "echoic/test_demo_settings.py::test_traces_go_where_the_environment_says",
        "echoic/cli/test_ports.py::test_a_failed_start_names_the_port_and_fails",
    ),
    "F6": (
        f"{TRACING}test_context.py::test_a_trace_says_whose_event_it_was_and_what_came_of_it",
    ),
    "F7": (f"{TRACING}test_context.py::test_a_votes_own_call_is_traced_with_it",),
    "F8": (
        f"{TRACING}test_sampling.py::test_what_is_left_out_is_known_of_a_share",
        f"{TRACING}test_sampling.py::test_why_one_is_left_out_names_the_setting",
    ),
    "F9": (
        f"{TRACING}test_taken_up.py::test_what_a_kill_cut_off_is_sent_whole_and_once",
    ),
    "F10": (
        f"{TRACING}test_observe.py::test_the_span_of_a_chain_names_who_answered_and_who_was_tried",
    ),
    "F11": ("echoic/metrics/test_meter.py::test_what_is_in_no_trace_is_counted",),
    "F12": (
        f"{TRACING}test_conventions.py::test_foreign_names_are_open_telemetrys",
        f"{TRACING}test_jaeger_rules.py::test_model_calls_are_recognized",
    ),
    "F13": (
        f"{TRACING}test_context.py::test_a_trace_says_whose_event_it_was_and_what_came_of_it",
    ),
    "F14": (
        f"{MIND}test_held_back.py::test_it_stays_new",
        "echoic/cli/listeners/test_homeassistant.py::test_with_control_it_can_be_muted",
    ),
}
"""Jaeger, Home Assistant and Node-RED as they are."""

HOURS: Mapping[str, tuple[str, ...]] = {
    "1 names that begin another's": (
        "echoic/cli/test_naming.py::test_each_door_takes_the_very_one",
        "echoic/cli/test_naming.py::test_each_door_refuses_what_is_not_clear",
    ),
    "2 JSON said aloud": (
        f"{MALFORMED}|Sure! Here is what I think",
        f"{SAYS}|<think>I could {{maybe}} say</think>",
        f"{MALFORMED}|[1,2]",
    ),
    "3 what a character does by itself": (
        "echoic/test_innkeeper.py::test_the_page_runs",
    ),
    "4 who hears the player": (
        "echoic/test_innkeeper.py::test_it_is_told_who_spoke_and_answers_each_time",
    ),
    "5 recordings that never suffice": (
        f"{SENTENCES}test_learning_that_made_them_agree_is_not_recorded_away",
        f"{SENTENCES}test_the_exploration_in_force_is_not_proposed_again",
    ),
    "6 critical occasions": (
        f"{SENTENCES}test_what_is_critical_is_named_with_its_number",
    ),
    "7 figures of another comparison": (
        f"{MIND}flows/test_propose.py::test_figures_of_another_baseline_are_refused",
    ),
    "8 what silence counts": (
        "echoic/terminal/test_experiment.py::"
        "test_what_silence_counts_is_named_with_what_hangs_on_it",
        "echoic/terminal/test_experiment.py::test_after_a_stop_none_is_proposed",
    ),
    "9 heuristics beside a mind": (
        "echoic/test_innkeeper.py::test_heuristics_beside_a_mind_are_warned_of",
    ),
    "10 a wrong key": (
        f"{MALFORMED}|a wrong key",
        f"{MALFORMED}|a key in capitals",
        f"{MALFORMED}|a number",
    ),
    "11 what is in force": (
        "echoic/client/test_in_force.py::test_only_what_differs_is_named",
        "echoic/client/test_in_force.py::test_how_it_explores_is_said_in_one_line",
    ),
    "12 the last trusted heuristic": (
        f"{MIND}test_trials.py::test_the_fall_of_the_last_trusted_one_is_announced",
        f"{MIND}test_trials.py::test_one_that_fell_is_tried_with_a_known_probability",
    ),
    "13 success and succeeded": (
        "schemas/codec/test_payload.py::"
        "test_an_outcome_has_one_name_at_every_door|failure",
    ),
}
"""The first hours of three new users."""

ROWS = {
    f"{place}: {row}": tests
    for place, rows in (
        ("faults", FAULTS), ("holds", HOLDS), ("homes", HOMES), ("hours", HOURS),
    )
    for row, tests in rows.items()
}  # fmt: skip


@cache
def functions(path: str) -> frozenset[str]:
    """The names of the tests of a file."""
    return frozenset(
        node.name
        for node in ast.parse((HERE / path).read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@pytest.mark.parametrize("row", ROWS)
def test_each_report_is_held_by_tests_that_exist(row: str) -> None:
    """By file and name, and by its case where it is one of a table."""
    assert ROWS[row]
    for each in ROWS[row]:
        node, _, case = each.partition("|")
        path, _, name = node.partition("::")
        assert name in functions(path), each
        sources = [path, *([TABLES[path]] if path in TABLES else [])]
        told = "".join((HERE / each).read_text("utf-8") for each in sources)
        assert case in told, each


def test_no_row_is_left_out() -> None:
    """Neither of the four lists, nor twice."""
    numbers = [row.split()[0] for row in FAULTS]
    hours = [row.split()[0] for row in HOURS]

    assert len(numbers) == len(set(numbers)) == len(FAULTS) == 26
    assert len(HOLDS) == 15
    assert set(HOMES) == {f"F{number}" for number in range(1, 15)}
    assert hours == [str(number) for number in range(1, 14)]


@pytest.mark.parametrize(
    ("written", "instead", "line", "advice"),
    [
        ('version: "1.0"', "version: 1.10", 3, 'quote it: "1.10"'),
        ("name: kitchen", "name: 1.0", 2, 'quote it: "1.0"'),
        ("  weights: {", "\tweights: {", 6, "is no YAML"),
        ("heuristics:", "---\nheuristics:", 12, "another document"),
        ("name: kitchen", "name: !secret kitchen", 2, "!secret is a tag of another"),
        (
            "  - {type: oven_done",
            "  - !include {type: oven_done",
            11,
            "!include is a tag",
        ),
        ('when: type = "oven_done"', "when: type = on", 15, "on"),
    ],
)
def test_odd_yaml_is_named_at_its_place(
    tmp_path: Path, written: str, instead: str, line: int, advice: str
) -> None:
    """With what to write; a mark of byte order and other line ends are none of it."""
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text("\ufeff" + GOOD.replace("\n", "\r\n"), newline="")
    assert check(tmp_path).problems == ()

    manifest.write_text(GOOD.replace(written, instead))
    problem = check(tmp_path).problems[0]

    assert problem.line == line
    assert advice in str(problem)


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("2027-03-28T02:30", "2027-03-28T01:30"),
        ("2027-10-31T02:30", "2027-10-31T00:30"),
        ("2027-10-31T02:30+01:00", "2027-10-31T01:30"),
    ],
)
def test_a_reminder_keeps_to_clocks_that_change(text: str, due: str) -> None:
    """What clocks leap over is an hour later, and of what comes twice the first is meant."""
    found = moment(text, "Europe/Berlin", datetime(2027, 1, 1, tzinfo=UTC))

    assert f"{found.astimezone(UTC):%Y-%m-%dT%H:%M}" == due


def test_a_retained_command_is_no_command() -> None:
    """A bridge that starts anew obeys nothing that was said before it."""
    client = paho.Client(CallbackAPIVersion.VERSION2)
    made = Mqtt(client, asyncio.Queue(), asyncio.Event())
    for is_retained in (True, False):
        message = paho.MQTTMessage(topic=b"echoic/ada/mute/set")
        message.payload, message.retain = b"ON", is_retained
        _take(made, message)

    assert made.commands.get_nowait() == ("echoic/ada/mute/set", b"ON")
    assert made.commands.empty()


def test_an_idle_stream_is_kept_alive() -> None:
    """By a comment every fifteen seconds, which the answer's class sends by itself."""
    (route,) = stream.router.routes

    assert getattr(route, "response_class", None) is EventSourceResponse
    assert fastapi.sse.KEEPALIVE_COMMENT.startswith(b":")
    assert fastapi.sse._PING_INTERVAL <= 15.0


def test_the_protocol_may_be_spoken_by_hand(tmp_path: Path) -> None:
    """An old version, an unknown tool, a number as text: each line of the answer is JSON."""
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    opened = {
        "protocolVersion": "2024-11-05",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    }
    asked = {"name": "decisions", "arguments": {"limit": "5"}}
    said = (
        {"id": 1, "method": "initialize", "params": opened},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "nope", "arguments": {}}},
        {"id": 3, "method": "tools/call", "params": asked},
    )
    command = [sys.executable, "-m", "echoic", "mcp", "--data", str(tmp_path)]
    told: dict[int, Any] = {}
    # It ends with its input, so that stays open until the last is answered.
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.writelines(
            json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in said
        )
        server.stdin.flush()
        while len(told) < 3:
            answer = json.loads(server.stdout.readline())
            told[answer["id"]] = answer["result"]
        server.stdin.close()

    assert told[1]["protocolVersion"] == "2024-11-05"
    assert told[2]["isError"]
    assert "Unknown tool" in told[2]["content"][0]["text"]
    assert "no instance runs" in told[3]["content"][0]["text"]
