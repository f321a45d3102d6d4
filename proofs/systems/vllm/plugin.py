"""vLLM's general plug-in: what the environment variable BLOCKPOOL_VLLM asks for, done in a running vLLM.

    replace     this project's pool in the place of vLLM's
    record      a trace of each pool, for `blockpool audit`
    watch       a judge beside each pool, and one of what the scheduler publishes

`replace` may be joined with one of the others: `replace,watch`. Further variables: docs/vllm.md. vLLM calls `start` in
each of its processes; it does nothing if the variable is not set.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MODES = ("replace", "record", "watch")
VARIABLE = "BLOCKPOOL_VLLM"


@dataclass(frozen=True)
class Settings:
    """What is asked for."""

    modes: frozenset[str]
    compat: bool = False
    traces: Path | None = None
    profile: str | None = None
    raises: bool = False

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> "Settings":
        """Raises ValueError for what cannot be meant."""
        wanted = frozenset(filter(None, environment.get(VARIABLE, "").replace(" ", "").split(",")))
        unknown = wanted - set(MODES)
        if unknown or not wanted or {"record", "watch"} <= wanted:
            raise ValueError(f"{VARIABLE} is replace, record, watch, or replace with one of them, not {sorted(wanted)}")
        traces = environment.get(f"{VARIABLE}_TRACE")
        if "record" in wanted and not traces:
            raise ValueError(f"{VARIABLE}=record needs {VARIABLE}_TRACE, the folder for the traces")
        compat = _choice(environment, "COMPAT", "0", "1") == "1"
        if compat and "replace" not in wanted:
            raise ValueError(f"{VARIABLE}_COMPAT is about {VARIABLE}=replace")
        return cls(
            wanted,
            compat=compat,
            traces=Path(traces) if traces else None,
            profile=environment.get(f"{VARIABLE}_PROFILE"),
            raises=_choice(environment, "ON_BREACH", "log", "raise") == "raise",
        )


def _choice(environment: Mapping[str, str], name: str, *values: str) -> str:
    """One of the values; the first if the variable is not set."""
    value = environment.get(f"{VARIABLE}_{name}") or values[0]
    if value not in values:
        raise ValueError(f"{VARIABLE}_{name} is {' or '.join(values)}, not {value!r}")
    return value


_started = False


def start() -> None:
    """Do what the environment asks for, once in a process.

    Raises ValueError for what cannot be meant, UnsupportedVllmError for a vLLM that is not known: nothing is changed.
    """
    global _started
    if _started or not os.environ.get(VARIABLE):
        return
    settings = Settings.read(os.environ)
    # Imported as late as this, so that a vLLM without the variable pays for nothing.
    from blockpool.impl.vllm.replace import replace, supported_release

    supported_release()
    if settings.traces is not None:
        settings.traces.mkdir(parents=True, exist_ok=True)
    if "replace" in settings.modes:
        replace(settings.compat)
    if settings.modes & {"record", "watch"}:
        from blockpool.proofs.systems.vllm.monitor import listen_to_vllm

        listen_to_vllm(settings)
    _started = True
