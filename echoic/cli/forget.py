"""`echoic forget`: destroy what is known of a person, and what was made of it."""

from dataclasses import asdict

from echoic.cli.connected import aid_provider, on_instance
from echoic.cli.options import Call, new_app
from echoic.client import forgetting
from echoic.client.connection import Connection
from echoic.terminal.output import note
from echoic.terminal.screen import counted
from echoic.tracing.destinations import SPOOL, Spool
from projections.projector.rebuild import Here
from projections.store.store import Store

app = new_app("forget", "Destroy what a person said, and what was made of it.")


@app.command()
def forget(call: Call, person: str) -> None:
    """Forget a person at an agent, for good.

    The key that their words are sealed under is destroyed: what the log, checkpoints and
    backups hold of them can be read by nobody any more. Read models are made again without,
    and the agent goes on as if it had never heard them. Done twice it does no more; cut off,
    it is completed by calling again. It takes a log that is sealed (privacy.seal=on).

    Examples: `echoic forget ana`, `echoic forget unknown --agent desk --json`.

    Args:
        person: Who is forgotten; `unknown`: whoever spoke without a name.
    """

    async def run(connection: Connection) -> forgetting.Forgotten:
        log, agent, url = (
            connection.log,
            connection.settings.agent,
            connection.database_url,
        )
        if url is None:
            return await forgetting.forget(connection.client, log, agent, person)
        with Store(url) as store:
            filler = Here(log, store, aid_provider(connection))
            return await forgetting.forget(
                connection.client, log, agent, person, (store, filler)
            )

    done = on_instance(call, run)
    if done.keys:
        # With trace.content=on it may hold their words; the log is the trace.
        Spool(call.settings.data / SPOOL).clear()
    destroyed = counted(len(done.keys), "key")
    screen = [f"forgotten: {person}, at {done.agent} ({destroyed} destroyed)"]
    if not done.keys:
        screen = [f"nothing is known of {person} at {done.agent}"]
    call.show(asdict(done), screen)
    if not call.as_json and done.keys:
        note("out of reach: " + "; ".join(done.out_of_reach))
    if not done.is_wiped:
        note(
            "the files of your database may hold the earlier tables until they are vacuumed"
            " and its write-ahead log is recycled (docs/operations.md, Forgetting)"
        )
