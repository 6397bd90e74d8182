"""How many types model one idea: by the words in the names of classes.

Coarse, and the same for every tree: a class counts for an idea if one of the idea's words is
in its name. Errors are left out; they are named after what happened to something.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

CONCEPTS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "heuristic": "Heuristic Rule Taught Formed Learnt",
        "answer": "Answer Answered Response Reply Completion Completed",
        "occasion": "Occasion Pending Remembered Lesson Moment Trigger",
        "ask": "Ask Asked Asking Question",
        "decision": "Decision Decided",
        "log": "Log Reader Recording Source",
        "message": "Message Record Input Output Envelope",
        "session": "Session",
        "arm": "Arm Odds Choice Candidate Candidates",
        "memory": "Memory Memories Episode Recall Recalled Recollection",
        "delivery": "Delivery Delivered Utterance Channel Speech",
        "conversation": "Conversation Heard Exchange",
        "goal": "Goal Goals Aim Aims Plan Plans",
        "person": "Person Persons People Profile Speaker Voter",
        "settings": "Settings Setting Limits Option",
        "process": "Process Processes Member Membership Owner Lease",
        "belief": "Belief Beliefs Evidence Confidence",
        "vote": "Vote Votes Voting Feedback Rating",
        "experiment": "Experiment Variant Trial Trials Switchback",
        "estimate": "Estimate Estimator Estimates Interval",
        "proposal": "Proposal Change Changes",
        "backup": "Backup Segment Segments Archive Archived",
        "gate": "Gate Gates Verdict",
        "span": "Span Spans Trace Traces",
        "need": "Need Needs",
        "checkpoint": "Checkpoint Checkpoints",
        "position": "Position Positions Place Places",
        "timer": "Timer Timers Reminder Reminders",
        "character": "Character Characters",
        "pack": "Pack Packs Manifest",
    }.items()
}
"""The ideas of the house, and the words by which types are named after them."""


def types_of(paths: Sequence[Path]) -> dict[str, list[str]]:
    """Return the names of the classes in these files that model each idea, in order."""
    names = sorted(name for path in paths for name in _classes(path))
    return {
        idea: [name for name in names if not words.isdisjoint(_words(name))]
        for idea, words in CONCEPTS.items()
    }


def _classes(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef) and not node.name.endswith("Error"):
            yield node.name


def _words(name: str) -> list[str]:
    return re.findall(r"[A-Z][a-z0-9]*", name)
