"""The views under which everybody reads the tables: `heuristics` shows `heuristics__v3`.

They have the columns of the tables, and what is kept only in messages besides.
"""

from projections.rows.changes import TableName
from projections.store.tables import COLUMNS

_FROM_MESSAGES = {
    **{
        name: f"message ->> '{name}'"
        for name in ("source", "type", "domain", "arm", "silence", "strategy", "chain")
    },
    **{
        name: f"message -> '{name}'"
        for name in ("candidates", "gates", "salience", "draw", "flags")
    },
    **{
        name: f"coalesce(completion ->> '{name}', message ->> '{name}')"
        for name in ("text", "response_type", "matched_heuristic_id")
    },
    **{
        name: f"coalesce(completion ->> '{name}', message ->> '{name}')::float8"
        for name in ("predicted_success", "prediction_confidence", "urgency")
    },
    "path": "CASE WHEN status = 'dropped' THEN 'fallback'"
    " ELSE coalesce(completion ->> 'path', message ->> 'path') END",
    "action": "coalesce(completion -> 'action', message -> 'action')",
    "winner": "completion ->> 'winner'",
    "completed_by": "completion ->> 'ask_id'",
    "model": "completion ->> 'model'",
    "drop_reason": "completion ->> 'reason'",
    "drop_detail": "completion ->> 'detail'",
    "latency_ms": "extract(epoch FROM recorded_at - event_at)::float8 * 1000",
    "completed_latency_ms": "extract(epoch FROM completed_recorded_at - event_at)::float8"
    " * 1000",
}
"""What the view of decisions reads out of the two messages of a decision."""


def view(name: TableName, version: int) -> str:
    """The statement that shows a version's table under its plain name."""
    columns = [f'"{column}"' for column in COLUMNS[name]]
    if name == "decisions":
        columns += [f'{read} AS "{column}"' for column, read in _FROM_MESSAGES.items()]
    return f"CREATE VIEW {name} AS SELECT {', '.join(columns)} FROM {name}__v{version}"
