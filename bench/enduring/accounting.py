"""The books of a log: each event, decision, vote, ask and delivery, counted once.

They are kept by reading on where the last look ended, and compared with what senders and
receivers know of.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from bench.enduring.findings import Findings
from bench.enduring.senders import Account
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked, TurnAsked
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.learning import FeedbackApplied, FeedbackRefused
from schemas.messages.notes import Handled, Quarantined
from schemas.messages.results import Delivered
from schemas.values.record import Record
from schemas.values.subjects import parse
from streams.log import ReadableLog, scan

_ASKED = (ModelAsked.token, DeliveryAsked.token, RecallAsked.token, TurnAsked.token)
_SHOWN = 5
Key = tuple[str, str]
"""An agent and the id of an event."""


@dataclass(slots=True)
class Books:
    """What a log says, so far."""

    read_to: int = 0
    messages: int = 0
    arrived: Counter[Key] = field(default_factory=Counter)
    """How often the log has an event: more than once if it was sent again."""
    decided: Counter[Key] = field(default_factory=Counter)
    repeats: Counter[Key] = field(default_factory=Counter)
    """How often an event was answered as a repeat."""
    kept_apart: Counter[str] = field(default_factory=Counter)
    """Inputs in quarantine, by their reason."""
    waiting: dict[str, str] = field(default_factory=dict)
    """Decisions that were not final when they were made, with their agent."""
    ended: Counter[str] = field(default_factory=Counter)
    asks: dict[str, dict[str, Any]] = field(default_factory=dict)
    results: Counter[str] = field(default_factory=Counter)
    """How many results an ask has."""
    accepted: Counter[str] = field(default_factory=Counter)
    """How many of them counted."""
    came_of: Counter[str] = field(default_factory=Counter)
    """Results, by what they say."""
    delivered: set[str] = field(default_factory=set)
    """The asks whose response was taken."""
    votes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """How often a vote was applied, by agent, actor and decision."""
    refused_votes: int = 0
    unanswered: set[int] = field(default_factory=set)
    """The sequences of inputs without an answer."""
    answered_twice: list[int] = field(default_factory=list)
    _causes: dict[int, tuple[str, str]] = field(default_factory=dict)
    """What inputs are about whose answer tells what became of them."""

    async def read_on(self, log: ReadableLog) -> None:
        """Take what the log has since the last look."""
        async for record in scan(log, "ev.>", self.read_to):
            self._take(record)
            self.read_to = record.sequence

    def _take(self, record: Record) -> None:
        self.messages += 1
        place = parse(record.subject)
        if place.direction == "in":
            self.unanswered.add(record.sequence)
            self._input(record, place.agent, place.kind)
            return
        cause = int(record.headers["ce-causeseq"])
        if record.headers["ce-index"] == "0" and cause not in self.unanswered:
            self.answered_twice.append(cause)
        self.unanswered.discard(cause)
        self._output(record, place.agent, place.detail)

    def lacks(self, account: Account) -> bool:
        """Whether something acknowledged has not come yet: it may be on its way in."""
        return bool(
            account.events - self.arrived.keys()
            or account.votes.keys() - self.votes.keys()
        )

    def waits(self, *, for_asks: bool) -> bool:
        """Whether an input has no answer yet, or else an ask no result."""
        if self.unanswered or not for_asks:
            return bool(self.unanswered)
        has_asks = any(not self.results[each] for each in self.asks)
        return has_asks or any(not self.ended[each] for each in self.waiting)

    def _input(self, record: Record, agent: str, kind: str) -> None:
        if kind == "sensor":
            id_ = record.headers.get("ce-id", "")
            self._causes[record.sequence] = (agent, id_)
            # Without an id no event repeats another: that each has its answer is all there is.
            if id_ and not record.subject.endswith(".feedback"):
                self.arrived[agent, id_] += 1
        if kind == "result":
            body = orjson.loads(record.body)
            ask, name = body.get("ask_id"), record.subject.rpartition(".")[2]
            self.came_of[f"{name} {body.get('reason', '')}".strip()] += 1
            if ask is not None and not record.subject.endswith(".delivery_begun"):
                self.results[ask] += 1
                self._causes[record.sequence] = ("", ask)
            if record.subject.endswith(f".{Delivered.token}"):
                self.delivered.add(ask)

    def _output(self, record: Record, agent: str, name: str) -> None:
        match name:
            case Decided.token:
                body = orjson.loads(record.body)
                if not body.get("timer"):
                    self.decided[agent, body["event_id"]] += 1
                if not body.get("final"):
                    self.waiting[record.headers["ce-id"]] = agent
            case Completed.token | Dropped.token:
                self.ended[orjson.loads(record.body)["decision_id"]] += 1
            case Handled.token:
                self._handled(record, agent)
            case Quarantined.token:
                self.kept_apart[orjson.loads(record.body)["reason"]] += 1
            case FeedbackApplied.token | FeedbackRefused.token:
                self._vote(orjson.loads(record.body), agent)
            case _ if name in _ASKED:
                self.asks[record.headers["ce-id"]] = orjson.loads(record.body)
            case _:
                pass

    def _vote(self, body: dict[str, Any], agent: str) -> None:
        if "actor" not in body:
            self.refused_votes += 1
        elif body.get("through") is None:
            self.votes[agent, body["actor"], str(body["decision_id"])] += 1

    def _handled(self, record: Record, agent: str) -> None:
        cause = self._causes.get(int(record.headers["ce-causeseq"]))
        reason = orjson.loads(record.body)["reason"]
        if cause is None:
            return
        named, id_ = cause
        if reason == "duplicate":
            self.repeats[named, id_] += 1
        elif not named and reason == "recorded":
            self.accepted[id_] += 1


def compare(books: Books, account: Account, found: Findings) -> None:
    """Compare the log's inputs with what senders were told, and with their answers."""
    _none("inputs without an answer", books.unanswered, found)
    _none("inputs answered twice", books.answered_twice, found)
    lost = [each for each in account.events if not books.arrived[each]]
    undecided = [each for each in account.events if books.decided[each] != 1]
    twice = [each for each, count in books.decided.items() if count > 1]
    _none("acknowledged events that the log does not have", lost, found)
    _none("acknowledged events not decided exactly once", undecided, found)
    _none("events decided twice", twice, found)
    odd = [
        each
        for each, count in books.arrived.items()
        if count != books.decided[each] + books.repeats[each]
    ]
    _none("events neither decided nor known as repeats", odd, found)
    _none("refusals", account.refused, found)
    _none("inputs in quarantine", books.kept_apart, found)
    _votes(books, account, found)
    found.figures |= {
        "events acknowledged": len(account.events),
        "events in the log": len(books.arrived),
        "stored twice": books.arrived.total() - len(books.arrived),
        "sent again": account.sent.sent_again,
        "longest acknowledgement, s": round(account.sent.longest_s, 1),
        "what that met last": account.sent.longest_for,
        "decisions": books.decided.total(),
        "outcomes": account.outcomes,
        "messages in the log": books.messages,
    }


def _votes(books: Books, account: Account, found: Findings) -> None:
    """Each acknowledged vote was applied; one that came twice replaced itself."""
    missing = [each for each in account.votes if not books.votes[each]]
    _none("acknowledged votes that were not applied", missing, found)
    found.expect(f"{books.refused_votes} votes refused", holds=not books.refused_votes)
    again = books.votes.total() - len(books.votes)
    found.figures["votes applied"] = f"{len(books.votes)}, {again} of them sent again"


def asks_and_ends(books: Books, found: Findings) -> None:
    """Each ask has a result, of which at most one counted; each decision has one end."""
    open_ = [each for each in books.waiting if books.ended[each] != 1]
    _none("decisions without exactly one end", open_, found)
    lost = [each for each in books.asks if not books.results[each]]
    _none("asks without a result", lost, found)
    twice = [each for each, count in books.accepted.items() if count > 1]
    _none("asks of which two results counted", twice, found)
    strange = [each for each in books.results if each not in books.asks]
    _none("results without an ask", strange, found)
    kinds = Counter(_kind(each) for each in books.asks.values())
    found.figures["asks"] = ", ".join(f"{each} {n}" for each, n in kinds.most_common())
    more = books.results.total() - len(books.results)
    found.figures["results"] = f"{books.results.total()}, {more} of them second"
    found.figures["came of it"] = dict(books.came_of.most_common())


def deliveries(books: Books, account: Account, received: Path, found: Findings) -> None:
    """Each response that counts as delivered was heard, by its id, in the same words."""
    posted: dict[str, set[str]] = {}
    lines = received.read_text().splitlines() if received.exists() else []
    for line in lines:
        # A receiver that was killed may have written half a line.
        if line.endswith("}"):
            read = json.loads(line)
            posted.setdefault(read["id"], set()).add(read["body"])
    taken = {ask: body for ask, body in books.asks.items() if ask in books.delivered}
    by_webhook = [
        b["decision_id"] for b in taken.values() if b.get("channel") == "webhook"
    ]
    missing = [each for each in by_webhook if each not in posted]
    _none("responses that the webhook did not get", missing, found)
    known = {
        body["decision_id"] for body in books.asks.values() if "decision_id" in body
    }
    unknown = [each for each in (*posted, *account.heard) if each not in known]
    _none("responses that nobody asked for", unknown, found)
    both = [*posted.items(), *account.heard.items()]
    other = [each for each, words in both if len(words) != 1]
    _none("responses that came again in other words", other, found)
    found.figures["responses"] = (
        f"{len(posted)} posted, {len(lines) - len(posted)} of them again;"
        f" {len(account.heard)} heard at the broker"
    )


def _kind(ask: dict[str, Any]) -> str:
    if "channel" in ask:
        return f"deliver ({ask['channel']})"
    return "model" if "model" in ask else "other"


def _none(what: str, wrong: Iterable[Any], found: Findings) -> None:
    """Expect nothing of a sort; show the first few."""
    all_ = list(wrong)
    found.expect(f"{len(all_)} {what}: {all_[:_SHOWN]}", holds=not all_)
