"""What tests ask of processes that may have died a moment ago."""

import psutil  # type: ignore[import-untyped]  # has no types


def command_of(process: psutil.Process) -> list[str]:
    """Return what a process was started with; nothing of one that is dead."""
    try:
        return list(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []


def is_alive(process: psutil.Process) -> bool:
    """Tell whether a process runs: one that nobody has waited for yet is dead as well."""
    try:
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
