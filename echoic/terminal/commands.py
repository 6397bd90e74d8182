"""Every command of the program, and where it is; read without importing any."""

COMMANDS: dict[str, tuple[str, str]] = {
    "up": ("up", "Start an instance: broker, database, mind."),
    "down": ("up", "Stop the instance."),
    "demo": ("up", "Play a recorded game through a throw-away instance."),
    "pub": ("pub", "Publish events, as a sensor does."),
    "watch": ("watch", "Show each decision as it is made."),
    "explain": ("watch", "Say why a decision came out as it did."),
    "state": ("watch", "Show what the mind knows of an agent."),
    "feedback": ("feedback", "Judge a decision or a heuristic."),
    "outcome": ("feedback", "Report how a decision turned out."),
    "heuristic": ("heuristic", "Heuristics: list, show, seed, freeze, history."),
    "learning": (
        "learning",
        "What learning did, and credit that breaks a rule: report.",
    ),
    "goals": ("goals", "What the companion is to help with: list, set."),
    "bias": ("bias", "Small adjustments of thresholds: list, set."),
    "session": (
        "session",
        "Stretches of the log that can be replayed: list, export, start.",
    ),
    "strategy": ("strategy", "The ways to decide: list, show."),
    "sleep": ("sleep", "Look back on what was done, and propose what to change."),
    "tune": ("tune", "Search for better settings; propose, apply, revert them."),
    "projection": ("projection", "The read models: list, rebuild, lag, replay."),
    "log": ("log", "The log itself: verify, tail, salvage."),
    "shadow": ("shadow", "Ask another strategy beside the one that decides."),
    "ab": ("ab", "Let two strategies or personalities take turns."),
    "replay": ("replay", "Decide a session again, and compare."),
    "pack": ("pack", "The data of a domain: list, load, validate, schema."),
    "sensor": ("sensor", "Run a sensor that comes with a pack."),
    "config": ("config", "The settings and where they come from."),
    "status": ("status", "What runs, and how it goes, on one screen."),
    "doctor": ("doctor", "Check the whole installation."),
    "schema": ("schema", "Messages and subjects, for programs."),
}
"""Every command: the module of `echoic.cli` that has it, and one line of help."""
