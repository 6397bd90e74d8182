"""`echoic replay estimate`: from a log of anybody's to a screen, or a document."""

import json

import numpy as np
import pytest

from tests.evaluation.ope.samples import explored
from tests.evaluation.simulators import annoyance


def text_of(log):
    """A log as JSON lines."""
    return "".join(
        json.dumps(
            {
                "session": each.session,
                "arm": each.arm,
                "p": each.propensity,
                "reward": each.reward,
                "target": dict(each.target),
                "baseline": dict(each.baseline),
                "logging": each.logging,
                "position": each.position,
            }
        )
        + "\n"
        for each in log
    )


@pytest.fixture
def estimate(echoic):
    """The command over a log, given as a file."""

    def run(text, *flags):
        (echoic.folder / "log.jsonl").write_text(text)
        return echoic.here("replay", "estimate", "log.jsonl", *flags)

    return run


def test_gives_the_document(estimate):
    """`--json` prints target, baseline and difference, and nothing else."""
    found = estimate(text_of(explored()), "--json")

    assert found.code == 0, found.err
    assert list(found.json) == ["target", "baseline", "difference"]
    assert found.json["difference"]["verdict"] == "BETTER"
    assert found.json["target"]["n"] == 1200


def test_shows_a_screen(estimate):
    """Values with their kinds, gates, the verdict, its reasons, and what to do next."""
    found = estimate(text_of(explored()))

    assert found.code == 0, found.err
    for part in (
        "value, DR",
        "estimated",
        "predicted, decides nothing",
        "✓ flip observations",
        "VERDICT  BETTER",
        "(interval_above_zero)",
        "→ ",
    ):
        assert part in found.out
    assert max(map(len, found.out.splitlines())) <= 140


def test_shows_no_value_of_what_was_not_played(estimate):
    """Bounds, a refusal, and how to get an answer."""
    found = estimate(text_of(explored(rate=0.0)))
    (row,) = [line for line in found.out.splitlines() if line.startswith("value, DR")]

    assert found.code == 0
    assert row.split()[3:] == ["-", "-", "estimated"]
    assert "✗ unsupported mass" in found.out
    assert "VERDICT  NOT_ENOUGH_OVERLAP" in found.out
    assert "echoic replay plan log.jsonl" in found.out


def test_holds_back_what_a_gate_refused(estimate):
    """Few flips: no value of the target, unless it is asked for, in brackets."""
    text = text_of(explored(sessions=20, decisions=5, rate=0.3))

    assert "held back" in estimate(text).out
    shown = estimate(text, "--show-unreliable").out
    assert "held back" not in shown
    assert "(0." in shown
    assert "VERDICT  NOT_ENOUGH_OVERLAP" in shown


def test_points_to_the_planner_where_it_stays_open(estimate):
    """More decisions are needed, and another command says how many."""
    out = estimate(text_of(explored(gain=0.0))).out

    assert "VERDICT  INCONCLUSIVE" in out
    assert "→ log more decisions; how many:\n  echoic replay plan log.jsonl\n" in out


def test_wrong_probabilities_end_with_their_own_code(estimate):
    """3, with the document as always, and no value on the screen."""
    text = text_of(explored()).replace('"p": 0.5', '"p": 0.2')
    found = estimate(text, "--json")

    assert found.code == 3
    assert found.json["difference"]["verdict"] == "INVALID"
    screen = estimate(text)
    assert screen.code == 3
    assert "✗ propensity target" in screen.out
    assert "held back" in screen.out


def test_finds_carry_over_in_anybodys_log(estimate):
    """By `position` and `logging`, in whatever order the lines are."""
    logger, always = annoyance.at_random(0.5), annoyance.at_random(1.0)
    log = annoyance.play(np.random.default_rng(1), logger, sessions=100)
    text = text_of(log.observations(always))
    turned = "".join(reversed(text.splitlines(keepends=True)))
    found = estimate(text, "--json")

    codes = [each["code"] for each in found.json["difference"]["reasons"]]
    assert "short_term_only" in codes
    assert estimate(turned, "--json").out == found.out


def test_reads_stdin(echoic):
    """`-` is what is piped in, and gives the same as the file."""
    found = echoic("replay", "estimate", "-", "--json", stdin=text_of(explored()))

    assert found.code == 0, found.err
    assert found.json["difference"]["verdict"] == "BETTER"


def test_the_same_log_gives_the_same_bytes(estimate):
    """Twice, and with its lines the other way round."""
    text = text_of(explored())
    turned = "".join(reversed(text.splitlines(keepends=True)))

    assert estimate(text, "--json").out == estimate(text, "--json").out
    assert estimate(text, "--json").out == estimate(turned, "--json").out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "log.jsonl:1: there is no decision"),
        ("{}\n", "log.jsonl:1: key 'arm' is missing"),
        ('{"p": NaN}\n', "log.jsonl:1: NaN is no number"),
        ("\n[]\n", "log.jsonl:2: a line is one JSON object"),
        (text_of(explored())[:-20], "log.jsonl:1200: not JSON"),
    ],
)
def test_bad_data_names_its_place(estimate, text, why):
    """Exit code 2, nothing on stdout, file and line on stderr."""
    found = estimate(text)

    assert (found.code, found.out) == (2, "")
    assert why in found.err


def test_a_file_that_is_not_there(echoic):
    """Exit code 2, with its name."""
    found = echoic.here("replay", "estimate", "gone.jsonl")

    assert found.code == 2
    assert "gone.jsonl" in found.err


def test_limits_become_stricter_only(estimate):
    """A stricter limit refuses, a looser or unknown one is an error."""
    text = text_of(explored())

    strict = estimate(text, "--limit", "flip_observations=1000", "--json")
    assert strict.json["difference"]["verdict"] == "NOT_ENOUGH_OVERLAP"
    for wrong, why in (
        ("flip_observations=3", "can only be made stricter"),
        ("flips=3", "'flips' is unknown"),
        ("flip_observations=x", "'x' is no number"),
    ):
        found = estimate(text, "--limit", wrong)
        assert found.code == 2
        assert why in found.err


def test_rope_widens_what_makes_no_difference(estimate):
    """Within ± 0.5 everything is equivalent; a width below 0 is none."""
    text = text_of(explored())

    assert "VERDICT  EQUIVALENT" in estimate(text, "--rope", "0.5").out
    assert estimate(text, "--rope", "-1").code == 2
