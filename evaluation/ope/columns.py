"""Lay out observations as columns, the arrays that every estimate is computed from.

They are sorted by content, never by arrival: sums of floats depend on the order of their
terms, and the same rows in another order have to give the same bits.
"""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evaluation.ope.people import People, people_of
from evaluation.ope.resampling import Hashes, mixed
from evaluation.ope.rows import Observation, ObservationError, check

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

SPLITS = 5
"""Ways in which the sessions are split into halves for the reward model; odd, so that
the median is one of them."""

CERTAIN = 1.0 - 1e-9
"""A propensity from which on the arm counts as certain, written decimals considered."""

LEAST = 1e-100
"""Smaller propensities are raised to this, so that squared weights stay finite floats."""

_UNKNOWN = -1.0
"""Stands for an unknown reward or probability while rows are collected."""


@dataclass(frozen=True, slots=True)
class Odds:
    """A strategy's odds at every row, in sparse form: arms of probability 0 are left out."""

    row: Ints
    arm: Ints
    probability: Floats
    """One entry for each row and arm of positive probability, by row, then arm."""

    taken: Floats
    """For each row, the probability of the arm that was taken."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The rows that count (none censored), by session, then position."""

    arms: tuple[str, ...]
    sessions: int
    """How many clusters there are."""

    censored: int
    """How many rows were left out because their outcome was cut off."""

    session: Ints
    """The cluster of each row, counted from 0, ascending."""

    halves: Ints
    """For each split and cluster, 0 or 1: the half it belongs to."""

    arm: Ints
    """The index in `arms` of the arm that was taken."""
    context: Ints
    propensity: Floats
    reward: Floats
    """0 where it is not known."""

    known: Flags
    target: Odds
    baseline: Odds
    logging: Odds
    """The logging policy's, of the rows that have it."""

    position: Ints
    responded: Ints
    """1, 0, or -1 where it is not known."""

    respond_probability: Floats
    """-1 where it is not known."""

    people: People | None = None
    """Whose each session is; None if the log names nobody."""

    are_units: bool = False
    """Whether people are the units of inference, and not sessions."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.arm)


@dataclass(slots=True)
class _Pairs:
    """Odds while they are collected, in arrays of machine numbers to spare memory."""

    row: "array[int]" = field(default_factory=lambda: array("q"))
    arm: "array[int]" = field(default_factory=lambda: array("q"))
    probability: "array[float]" = field(default_factory=lambda: array("d"))


@dataclass(slots=True)
class _Collected:
    """Rows while they are collected; names are numbered as they come."""

    arms: dict[str, int] = field(default_factory=dict)
    contexts: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, int] = field(default_factory=dict)
    decisions: set[str] = field(default_factory=set)
    owners: dict[tuple[str, str], int] = field(default_factory=dict)
    """Pairs of person and agent."""
    owner: "array[int]" = field(default_factory=lambda: array("q"))
    session: "array[int]" = field(default_factory=lambda: array("q"))
    arm: "array[int]" = field(default_factory=lambda: array("q"))
    context: "array[int]" = field(default_factory=lambda: array("q"))
    position: "array[int]" = field(default_factory=lambda: array("q"))
    responded: "array[int]" = field(default_factory=lambda: array("q"))
    propensity: "array[float]" = field(default_factory=lambda: array("d"))
    reward: "array[float]" = field(default_factory=lambda: array("d"))
    respond_probability: "array[float]" = field(default_factory=lambda: array("d"))
    target: _Pairs = field(default_factory=_Pairs)
    baseline: _Pairs = field(default_factory=_Pairs)
    logging: _Pairs = field(default_factory=_Pairs)
    censored: int = 0


def columns_of(observations: Iterable[Observation]) -> Columns:
    """Check all rows and lay them out as columns.

    Raises:
        ObservationError: a row cannot be true, a decision comes twice, or there is none.
    """
    into = _Collected()
    for row in observations:
        check(row)
        _collect(row, into)
    if not into.arm and not into.censored:
        raise ObservationError("there is no decision: give at least one")
    return _laid_out(into)


def summed(index: Ints, amounts: Floats, size: int) -> Floats:
    """Return the sum of the amounts of each index below `size`."""
    return np.bincount(index, weights=amounts, minlength=size).astype(np.float64)


def halved(held: Hashes) -> Ints:
    """Split clusters into halves of equal size, in `SPLITS` ways.

    Halves follow from a hash of what was recorded in each cluster, not from its name: how
    sessions are called, and which strategies are compared, must not change an estimate.
    """
    sessions = len(held)
    halves = np.empty((SPLITS, sessions), np.int64)
    for split in range(SPLITS):
        held = mixed(held)
        # Dealt out in turn in the order of the hashes: the halves
        # differ by one session at most.
        halves[split, np.argsort(held, kind="stable")] = np.arange(sessions) % 2
    return halves


def _collect(row: Observation, into: _Collected) -> None:
    if row.decision is not None:
        if row.decision in into.decisions:
            raise ObservationError(f"decision {row.decision!r} comes twice")
        into.decisions.add(row.decision)
    if row.is_censored:
        into.censored += 1
        return
    index = len(into.arm)
    sessions = into.sessions
    # A row without a session is a cluster of its own; `_numbered` gives it a number
    # once all sessions are known.
    # Agents may number their sessions alike.
    name = f"{row.agent}\0{row.session}" if row.agent else row.session
    named = sessions.setdefault(name, len(sessions)) if row.session else -1
    into.session.append(named)
    owner = row.person, row.agent
    into.owner.append(into.owners.setdefault(owner, len(into.owners)))
    into.arm.append(_number(into.arms, row.arm))
    into.context.append(_number(into.contexts, row.context))
    into.position.append(row.position)
    into.responded.append(-1 if row.responded is None else int(row.responded))
    into.propensity.append(max(row.propensity, LEAST))
    into.reward.append(_UNKNOWN if row.reward is None else row.reward)
    chance = row.respond_probability
    into.respond_probability.append(_UNKNOWN if chance is None else chance)
    _collect_odds(index, row.target, into.target, into.arms)
    _collect_odds(index, row.baseline, into.baseline, into.arms)
    if row.logging is not None:
        _collect_odds(index, row.logging, into.logging, into.arms)


def _number(names: dict[str, int], name: str) -> int:
    return names.setdefault(name, len(names))


def _collect_odds(
    index: int, odds: Mapping[str, float], into: _Pairs, arms: dict[str, int]
) -> None:
    for arm, probability in odds.items():
        if probability > 0.0:
            into.row.append(index)
            into.arm.append(arms.setdefault(arm, len(arms)))
            into.probability.append(probability)


def _laid_out(raw: _Collected) -> Columns:
    arm_rank = _ranks(raw.arms)
    arm = arm_rank[_ints(raw.arm)]
    context = _ranks(raw.contexts)[_ints(raw.context)]
    reward = _floats(raw.reward) + 0.0  # minus zero is the same zero
    odds = [_sorted_pairs(p, arm_rank) for p in (raw.target, raw.baseline, raw.logging)]
    # Two hashes: splits go by what was recorded alone, the order of rows also by the odds
    # that are compared, so that rows which differ in them alone have one order, too.
    recorded = _content(
        len(arm), [arm, context], [_floats(raw.propensity), reward], odds[2:]
    )
    content = _content(len(arm), [recorded], [], odds[:2])
    session = _session_ranks(raw)
    position = _ints(raw.position)
    # `lexsort` takes the last key first. The content decides where positions
    # are equal, or were not given.
    order = np.lexsort((content, position, session))
    session = _numbered(session[order], len(raw.sessions))
    sessions = int(session[-1]) + 1 if len(session) else 0
    # A sum modulo 2^64 of the rows' hashes does not depend on their order.
    held = np.zeros(sessions, np.uint64)
    np.add.at(held, session, recorded[order])
    target, baseline, logging = (_reordered(pairs, order, arm) for pairs in odds)
    known = reward[order] != _UNKNOWN
    return Columns(
        arms=tuple(sorted(raw.arms)),
        sessions=sessions,
        censored=raw.censored,
        session=session,
        halves=halved(held),
        arm=arm[order],
        context=context[order],
        propensity=_floats(raw.propensity)[order],
        reward=np.where(known, reward[order], 0.0),
        known=known,
        target=target,
        baseline=baseline,
        logging=logging,
        position=position[order],
        responded=_ints(raw.responded)[order],
        respond_probability=_floats(raw.respond_probability)[order],
        people=_people(raw, session, _ints(raw.owner)[order], sessions),
    )


def _people(
    raw: _Collected, session: Ints, owner: Ints, sessions: int
) -> People | None:
    if set(raw.owners) <= {("", "")}:
        return None
    owners = list(raw.owners)
    persons: list[set[str]] = [set() for _ in range(sessions)]
    agents = [""] * sessions
    # Each pair of session and owner once: there are far fewer than rows.
    for cell in np.unique(session * len(owners) + owner).tolist():
        place, index = divmod(cell, len(owners))
        person, agents[place] = owners[index]
        persons[place] |= {person} - {""}
    return people_of(persons, agents)


def _ints(values: "array[int]") -> Ints:
    # The array shares the collected memory, which a copy would double for a large log.
    return np.frombuffer(values, dtype=np.int64) if values else np.empty(0, np.int64)


def _floats(values: "array[float]") -> Floats:
    return np.frombuffer(values) if values else np.empty(0)


def _ranks(names: Mapping[str, int]) -> Ints:
    """Return for each number, given in order of arrival, its name's place when sorted."""
    ranks = np.empty(len(names), np.int64)
    ranks[[names[name] for name in sorted(names)]] = np.arange(len(names))
    return ranks


def _session_ranks(raw: _Collected) -> Ints:
    """Return the place of each row's session; rows without one come last."""
    # They carry -1, which picks the entry appended at the end.
    ranks = np.append(_ranks(raw.sessions), len(raw.sessions))
    return ranks[_ints(raw.session)]


def _numbered(session: Ints, named: int) -> Ints:
    """Number clusters from 0 without gaps; a row without a session is its own cluster.

    `session` is ascending, and `named` is the number that rows without a session have.
    """
    alone = int(np.count_nonzero(session == named))
    numbered = session.copy()
    numbered[len(session) - alone :] = np.arange(named, named + alone)
    # A session whose rows are all censored leaves a gap, which is closed here.
    return np.unique(numbered, return_inverse=True)[1].astype(np.int64)


_Sorted: TypeAlias = tuple[Ints, Ints, Floats]


def _sorted_pairs(pairs: _Pairs, rank: Ints) -> _Sorted:
    """Return the entries sorted by row, then arm."""
    row, arm = _ints(pairs.row), rank[_ints(pairs.arm)]
    order = np.lexsort((arm, row))
    return row[order], arm[order], _floats(pairs.probability)[order]


def _content(
    rows: int, whole: list[Ints | Hashes], parts: list[Floats], odds: list[_Sorted]
) -> Hashes:
    """Return a hash of what each row says."""
    hashed = np.zeros(rows, np.uint64)
    for numbers in whole:
        hashed = mixed(hashed ^ numbers.view(np.uint64))
    for values in parts:
        hashed = mixed(hashed ^ values.view(np.uint64))
    for row, arm, probability in odds:
        entries = mixed(mixed(arm.view(np.uint64)) ^ probability.view(np.uint64))
        # Added, not chained: a row's odds are a set, whatever order they were listed in.
        total = np.zeros(rows, np.uint64)
        np.add.at(total, row, entries)
        hashed = mixed(hashed ^ total)
    return hashed


def _reordered(pairs: _Sorted, order: Ints, arm: Ints) -> Odds:
    """Return odds for rows in a new order; `arm` is the arm taken, in the old order."""
    row, arms, probability = pairs
    taken = np.zeros(len(order))
    hit = arms == arm[row]
    taken[row[hit]] = probability[hit]
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    # Stable, so that entries of one row stay sorted by arm.
    moved = np.argsort(place[row], kind="stable")
    return Odds(place[row][moved], arms[moved], probability[moved], taken[order])
