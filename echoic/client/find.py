"""Search for decisions in the log: by a prefix of the id, or the last one.

It reads the log backwards, so that what just happened is found at once.
"""

from collections.abc import AsyncIterator, Callable

from echoic.client.decision_record import Account, Accounts
from echoic.errors import EchoicError, NotFoundError
from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Output
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.sensing import Sensed
from schemas.values.subjects import output_subject, partition_of
from streams.groups import groups
from streams.log import ReadableLog, scan

_FIRST_WINDOW = 2_000
"""Sequences in the first window; each further window is eight times as wide."""

Wanted = Callable[[Output], bool]


async def find_decision(log: ReadableLog, agent: str, prefix: str) -> Account:
    """Return the decision whose id begins with `prefix`.

    Raises:
        NotFoundError: there is none, or several.
    """
    found: list[Output] = []
    async for output in _decisions(log, agent):
        if output.id == prefix:
            return await account_of(log, output)
        if output.id.startswith(prefix):
            found.append(output)
            # 32 bits of an id: a second match is so unlikely that the whole log is not
            # searched.
            if len(prefix) >= 8:
                break
    if not prefix or len(found) > 1:
        raise NotFoundError(
            f"{len(found)} decisions begin with {prefix!r}", next_step="give more of it"
        )
    if not found:
        raise NotFoundError(
            f"{agent!r} has no decision {prefix!r}",
            next_step="echoic explain --last, or name the companion with --agent",
        )
    return await account_of(log, found[0])


async def last_decision(
    log: ReadableLog, agent: str, *, silent: bool = False
) -> Account:
    """Return the agent's last decision, or its last silent one.

    Decisions on events that report an outcome are skipped: nobody means them by `last`.

    Raises:
        NotFoundError: there is none.
    """
    async for output in _decisions(log, agent):
        account = await account_of(log, output)
        if (not silent or account.silence is not None) and not _is_on_report(account):
            return account
    kind = "silent decision" if silent else "decision"
    raise NotFoundError(
        f"{agent!r} has no {kind} yet", next_step='echoic pub "hello" --wait'
    )


def _is_on_report(account: Account) -> bool:
    event = account.input.message
    return isinstance(event, Sensed) and event.outcome is not None


async def account_of(log: ReadableLog, output: Output) -> Account:
    """Return the account of a decision, with its answer so far."""
    ledger = Accounts()
    cause = output.mark.cause_sequence
    told: dict[str, Account] = {}
    # Exactly one group: the one of the decision's cause.
    async for group in groups(log, output.partition, cause - 1, cause):
        input_ = read_input(group.input)
        for each in ledger.take(
            input_, [read_output(record) for record in group.outputs]
        ):
            told[each.id] = each
    account = told.get(output.id)
    if account is None:
        raise EchoicError(
            f"the group of decision {output.id} is not whole",
            next_step="echoic log verify",
        )
    if account.is_final:
        return account
    return await _ended(log, ledger, account, output)


async def _ended(
    log: ReadableLog, ledger: Accounts, account: Account, output: Output
) -> Account:
    """Return the account with its end, if the log holds that by now."""
    subjects = output_subject(output.partition, output.agent, "decision", "*")
    async for record in scan(log, subjects, output.record.sequence):
        later = read_output(record)
        ends = isinstance(later.message, Completed | Dropped)
        if ends and getattr(later.message, "decision_id", None) == account.id:
            return ledger.take(account.input, [later])[0]
    return account


async def _decisions(log: ReadableLog, agent: str) -> AsyncIterator[Output]:
    """Yield the agent's decisions, newest first."""
    subject = output_subject(partition_of(agent), agent, "decision", Decided.token)
    end = await log.last_sequence(subject)
    width = _FIRST_WINDOW
    while end > 0:
        start = max(0, end - width)
        # Consumers deliver forwards alone, so each window is read whole and then reversed.
        window = [record async for record in scan(log, subject, start, end)]
        for record in reversed(window):
            yield read_output(record)
        end, width = start, width * 8
