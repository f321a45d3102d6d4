"""How much memory is left, so that a search that grows too large says so before it dies."""

import os


def memory_left() -> float:
    """Free memory of the machine in GiB; infinite where the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) / 2**20
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    except (OSError, ValueError):
        return float("inf")
