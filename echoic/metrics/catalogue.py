"""The catalogue: every metric with its labels, and the closed list of each label's values.

No label holds an id, a name that a sensor gives, or free text, so nobody outside can add
series. Names follow https://prometheus.io/docs/practices/naming/.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from schemas.messages.feedback import Aspect
from schemas.values import reasons
from schemas.values.base import InputKind
from schemas.values.subjects import PARTITIONS

_Kind = Literal["counter", "gauge", "histogram"]

OTHER = "other"
"""Stands for a value that is not on its label's list, such as one of a later version."""
NONE = "none"
"""Stands for no reason at all."""
PROCESS = "process"
"""The label that every metric of a process gets: its place in the instance."""
PROJECTOR = "projector"
WORKERS = tuple(f"worker-{number}" for number in range(PARTITIONS))
PROCESSES = (*WORKERS, PROJECTOR)

_FAST_S = (
    0.0005,
    0.001,
    0.002,
    0.005,
    0.01,
    0.02,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    10.0,
)
"""A heuristic's answer takes a few milliseconds; the rest shows where it does not."""
_MODEL_S = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
"""A model's answer takes seconds, up to its deadline."""


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """One metric; it is compared by identity."""

    name: str
    """As Prometheus shows it; a histogram also has `_bucket`, `_count` and `_sum`."""
    kind: _Kind
    meaning: str
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values that each label may have, besides `other`."""
    buckets: tuple[float, ...] = ()
    """Upper bounds, in seconds, of a histogram."""


_PATHS = get_args(reasons.Path)
_FAILURES = ("timeout", "no_response", "declined", "unavailable")

INPUTS = Metric(
    "echoic_inputs_total", "counter", "Inputs that were answered.",
    {"kind": get_args(InputKind)},
)  # fmt: skip
DECISIONS = Metric(
    "echoic_decisions_total", "counter",
    "Decisions that are final: an answer, a silence, or one dropped while it waited.",
    {
        "path": _PATHS,
        "outcome": ("spoke", "silent", "dropped"),
        "reason": tuple(
            dict.fromkeys(
                (NONE, *get_args(reasons.Silence), *get_args(reasons.Drop))
            )
        ),
    },
)  # fmt: skip
DECIDE = Metric(
    "echoic_decide_seconds", "histogram",
    "How long the mind took for a decision, without waiting for a model.",
    {"path": _PATHS}, _FAST_S,
)  # fmt: skip
QUEUE_DELAY = Metric(
    "echoic_queue_delay_seconds", "histogram",
    "From the broker's receipt of a sensor's event until the mind began with it.",
    buckets=_FAST_S,
)  # fmt: skip
COMMIT = Metric(
    "echoic_commit_seconds", "histogram",
    "How long the log took to acknowledge a write.",
    buckets=_FAST_S,
)  # fmt: skip
ANSWER = Metric(
    "echoic_answer_seconds", "histogram",
    "From the broker's receipt of an event until its answer stood in the log.",
    {"path": _PATHS}, (*_FAST_S[3:-1], 5.0, 10.0, 30.0, 60.0),
)  # fmt: skip
MODEL_CALLS = Metric(
    "echoic_model_calls_total", "counter", "Calls of a model that ended, by how.",
    {"outcome": ("answered", *_FAILURES)},
)  # fmt: skip
MODEL_SECONDS = Metric(
    "echoic_model_seconds", "histogram", "How long a model took to answer.",
    buckets=_MODEL_S,
)  # fmt: skip
MODEL_TOKENS = Metric(
    "echoic_model_tokens_total", "counter", "Tokens that models read and wrote.",
    {"direction": ("input", "output")},
)  # fmt: skip
MODEL_COST = Metric(
    "echoic_model_cost_dollars_total", "counter",
    "What model calls cost, in US dollars, where the price is known.",
)  # fmt: skip
DELIVERIES = Metric(
    "echoic_deliveries_total", "counter", "Deliveries that ended, by how.",
    {"outcome": ("delivered", "expired", "refused", "unknown", "other_clock", "interrupted")},
)  # fmt: skip
FEEDBACK = Metric(
    "echoic_feedback_total", "counter", "Votes that counted.",
    {"label": ("positive", "neutral", "negative"), "aspect": get_args(Aspect)},
)  # fmt: skip
FEEDBACK_REFUSED = Metric(
    "echoic_feedback_refused_total", "counter", "Votes that could not count, by reason.",
    {"reason": get_args(reasons.Refusal)},
)  # fmt: skip
OUTCOMES = Metric(
    "echoic_outcomes_total", "counter", "How the advice that was given turned out.",
    {"outcome": (*get_args(reasons.Outcome), "expired", "ignored")},
)  # fmt: skip
QUARANTINED = Metric(
    "echoic_quarantined_total", "counter",
    "Inputs set apart, by reason; `rate` is load that was shed: more than"
    " `intake.rate` allows a source.",
    {"reason": get_args(reasons.Quarantine)},
)  # fmt: skip
UNTRACED = Metric(
    "echoic_untraced_total", "counter",
    "What is in no trace: `thinned` silences by sampling; `silent`, which are silences, and"
    " `dropped` of what there was no room for or nobody took.",
    {"why": ("thinned", "silent", "dropped")},
)  # fmt: skip
MAPPED_TOPICS = Metric(
    "echoic_mqtt_topics_mapped_total", "counter",
    "Events whose MQTT topic NATS cannot carry, and that came under a mapped one.",
)  # fmt: skip
FAULTS = Metric(
    "echoic_faults_total", "counter",
    "Faults: `mind` and `timer` of an input, set apart and passed by; the others made"
    " the worker fold its state again from the log.",
    {"kind": ("mind", "timer", "fenced", "log_unavailable", "log_full", "log_refused",
              "process")},
)  # fmt: skip
HEURISTICS = Metric(
    "echoic_heuristics", "gauge", "Heuristics in force, of all agents seen by now.",
    {"origin": get_args(reasons.Origin)},
)  # fmt: skip
AGENTS = Metric(
    "echoic_agents", "gauge", "Agents in the partitions that had an input by now."
)  # fmt: skip
ANSWERED_SEQUENCE = Metric(
    "echoic_answered_sequence", "gauge",
    "The log's sequence of the last input that was answered.",
)  # fmt: skip
AGENT_DECISIONS = Metric(
    "echoic_agent_decisions_total", "counter",
    "Final decisions by agent, of the first `metrics.agents` agents; the others count"
    " as `(other)`. None by default.",
    {"agent": (), "outcome": DECISIONS.labels["outcome"]},
)  # fmt: skip
WORKER: tuple[Metric, ...] = (
    INPUTS, DECISIONS, DECIDE, QUEUE_DELAY, COMMIT, ANSWER, MODEL_CALLS, MODEL_SECONDS,
    MODEL_TOKENS, MODEL_COST, DELIVERIES, FEEDBACK, FEEDBACK_REFUSED, OUTCOMES,
    QUARANTINED, UNTRACED, MAPPED_TOPICS, FAULTS, HEURISTICS, AGENTS, ANSWERED_SEQUENCE,
    AGENT_DECISIONS,
)  # fmt: skip
"""Of each process that runs the mind."""

_PROJECTED = Metric(
    "echoic_projected_groups_total", "counter",
    "Inputs whose group was written into the read models.",
)  # fmt: skip
BEHIND = Metric(
    "echoic_projection_partitions_behind", "gauge",
    "Partitions with outputs that are not in the read models yet.",
)  # fmt: skip
LAG = Metric(
    "echoic_projection_lag_seconds", "gauge",
    "Seconds since the read models were last up with the log.",
)  # fmt: skip
PROJECTION: tuple[Metric, ...] = (_PROJECTED, BEHIND, LAG)
"""Of the process that fills the read models."""

UP = Metric(
    "echoic_up", "gauge",
    "1 for a process that works, 0 for one that is starting, or silent for 10 s.",
)  # fmt: skip
LOG_SEQUENCE = Metric(
    "echoic_log_sequence", "gauge", "The sequence of the last message of the log."
)  # fmt: skip
LOG_INPUT_SEQUENCE = Metric(
    "echoic_log_input_sequence", "gauge", "The sequence of the last input of the log."
)  # fmt: skip
DISK_FREE = Metric(
    "echoic_disk_free_bytes", "gauge", "Free space where the data folder is."
)  # fmt: skip
INSTANCE: tuple[Metric, ...] = (LOG_SEQUENCE, LOG_INPUT_SEQUENCE, DISK_FREE)
"""Of the instance as a whole, without the label `process`."""

METRICS: tuple[Metric, ...] = (*WORKER, *PROJECTION, UP, *INSTANCE)
"""Every metric there is."""
