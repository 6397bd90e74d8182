"""The variables that instances of tests run with, unless a test is about these."""

TALKATIVE = {
    "ECHOIC_COOLDOWN_S": "0",
    "ECHOIC_HEURISTIC_COOLDOWN_S": "0",
    "ECHOIC_QUIP_INTERVAL_S": "0",
}
"""No response waits for the one before: tests of all else would have to wait, too."""
