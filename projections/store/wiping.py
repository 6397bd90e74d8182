"""Taking what was dropped out of the files of a PostgreSQL.

A dropped table leaves its rows in the write-ahead log, whose files are used again as they
are, and samples of its values in the planner's statistics.
"""

from sqlalchemy import text
from sqlalchemy.engine import Connection

_MAY = text("SELECT current_setting('is_superuser') = 'on'")
_SWITCH = text("SELECT pg_switch_wal()")
# One that is empty is not switched from.
_WRITE = text("SELECT pg_logical_emit_message(false, '', '')")
_WAITING = text(
    "SELECT count(*) FROM pg_ls_waldir()"
    " WHERE name > pg_walfile_name(pg_current_wal_insert_lsn())"
)


def wipe(connection: Connection) -> bool:
    """Overwrite or remove all that is no longer part of the database, in autocommit.

    False: the role is no superuser's, and nothing was done.
    """
    if not connection.scalar(_MAY):
        return False
    # Rewritten: a plain vacuum leaves the bytes of dead rows in their pages.
    connection.execute(text("VACUUM (FULL) pg_statistic"))
    connection.execute(_SWITCH)
    # Removes the files of before, or keeps them under the names of files to come.
    connection.execute(text("CHECKPOINT"))
    # One more, since a file is filled with zeros when it is left.
    for _ in range(1 + (connection.scalar(_WAITING) or 0)):
        connection.execute(_WRITE)
        connection.execute(_SWITCH)
    connection.execute(text("CHECKPOINT"))
    return True
