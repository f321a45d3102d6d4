"""A figure of speed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of something in so many seconds: CPU time of one process, or by the clock where there are several."""

    what: str
    scope: str
    workers: int
    number: int
    seconds: float
    times: float | None = None  # so many times ...
    than: str = ""  # ... this

    @property
    def per_second(self) -> float:
        return self.number / self.seconds if self.seconds else 0.0

    def as_dict(self) -> dict[str, str | int | float | None]:
        return {
            "what": self.what,
            "scope": self.scope,
            "workers": self.workers,
            "number": self.number,
            "seconds": round(self.seconds, 3),
            "per_second": round(self.per_second),
            "times": None if self.times is None else round(self.times, 2),
            "than": self.than,
        }
