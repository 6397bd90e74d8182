"""A rebuild as the command line makes it: `python -m bench.rebuilding DATABASE_URL`.

It is a process of its own, because its processes are forked before anything else runs in
it. It prints the seconds from the first fork to the swap.
"""

import asyncio
import sys
import time

from bench.rig import given_credentials
from echoic.run.process import prepare
from echoic.run.rebuild_processes import Crew, Job
from projections.projector.rebuild import rebuild
from projections.store.store import Store


def main() -> None:
    """Rebuild once."""
    prepare()
    credentials, url = given_credentials(), sys.argv[1]
    print("ready", flush=True)
    begin = time.perf_counter()
    job = Job(credentials=credentials, database_url=url, embedder="wordllama")
    with Crew(job) as crew, Store(url) as store:
        asyncio.run(rebuild(store, crew))
        print(time.perf_counter() - begin, flush=True)


if __name__ == "__main__":
    main()
