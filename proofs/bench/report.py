"""What a measurement says, as a table for people, as Markdown and as a picture."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from blockpool.proofs.bench.scale import Scale
from blockpool.proofs.bench.timing import Measured

NOTE = (
    "Ratios of CPU time of the same calls, measured in alternation in one process: above 1 the second pool is faster. "
    "In between lie all samples but the highest and lowest tenth."
)


@dataclass
class Measurements:
    """All that one command measured."""

    one: str
    other: str
    measured: list[Measured] = field(default_factory=list)
    instructions: dict[str, tuple[int, int]] = field(default_factory=dict)
    scales: list[Scale] = field(default_factory=list)

    @property
    def title(self) -> str:
        return f"{self.one} / {self.other}"

    def rows(self) -> list[tuple[str, ...]]:
        """Workload, block operations, ratio, its spread, instructions, and nanoseconds of each a block."""
        rows = [_row(each, self.instructions.get(each.workload)) for each in self.measured]
        for scale in self.scales:
            for what, ratios in scale.ratios.items():
                a, b = scale.milliseconds[what]
                spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
                name = f"{what}, pool of {scale.blocks:,}"
                rows.append((name, f"{scale.blocks:,}", f"{median(ratios):.2f}", spread, "", f"{a:.3f} / {b:.3f} ms"))
            for what, (a, b) in (("empty", scale.empty_bytes), ("more when published", scale.cached_bytes)):
                name = f"bytes a block, {what}, pool of {scale.blocks:,}"
                rows.append((name, f"{scale.blocks:,}", f"{a / b:.2f}", "", "", f"{a:.0f} / {b:.0f} bytes"))
        return rows

    def as_dict(self) -> dict[str, Any]:
        return {
            "pools": [self.one, self.other],
            "workloads": [each.as_dict() for each in self.measured],
            "instructions": {name: list(pair) for name, pair in self.instructions.items()},
            "scale": [each.as_dict() for each in self.scales],
        }


def _row(each: Measured, counted: tuple[int, int] | None) -> tuple[str, ...]:
    low, high = each.spread
    a, b = each.nanoseconds
    instructions = "" if counted is None else f"{counted[0] / counted[1]:.2f}"
    blocks = f"{each.block_operations:,}"
    return each.workload, blocks, f"{each.ratio:.2f}", f"{low:.2f}-{high:.2f}", instructions, f"{a:.0f} / {b:.0f} ns"


COLUMNS = ("workload", "blocks", "ratio", "between", "instructions", "a block")


def lines(all_of_it: Measurements) -> list[str]:
    """For a terminal: names to the left, figures to the right."""
    rows = [COLUMNS, *all_of_it.rows()]
    name, *widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    found = [all_of_it.title]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths, strict=True)]
        found.append("  ".join([row[0].ljust(name), *cells]))
    return found


def markdown(all_of_it: Measurements, command: str, versions: dict[str, str]) -> str:
    page = [f"# {all_of_it.title}", "", NOTE, "", f"Written by `{command}`.", ""]
    page += ["| " + " | ".join(COLUMNS) + " |", "|---|" + "---:|" * (len(COLUMNS) - 1)]
    page += ["| " + " | ".join(row) + " |" for row in all_of_it.rows()]
    machine = f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.0f} at the end"
    return "\n".join([*page, "", ", ".join([*(f"{name} {value}" for name, value in versions.items()), machine]), ""])


def plot(measured: Sequence[Measured], title: str, file: Path) -> None:
    """One point for each workload, with its spread. Needs matplotlib (extra `bench`): ImportError without."""
    figure = import_module("matplotlib.figure").Figure(figsize=(9, 1.2 + 0.3 * len(measured)), layout="constrained")
    axes = figure.add_subplot()
    ordered = list(reversed(measured))
    ratios = [each.ratio for each in ordered]
    below = [each.ratio - each.spread[0] for each in ordered]
    above = [each.spread[1] - each.ratio for each in ordered]
    names = [each.workload for each in ordered]
    axes.errorbar(ratios, names, xerr=(below, above), fmt="o", color="#4c78a8", capsize=2)
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_xscale("log")  # a reset may be a hundred times as fast, which would hide the others
    axes.set_xticks([1, 2, 4, 8, 16, 32, 64, 128], labels=["1", "2", "4", "8", "16", "32", "64", "128"])
    axes.minorticks_off()
    axes.grid(axis="x", color="#dddddd")
    axes.set_xlabel(f"times as fast: {title}")
    figure.savefig(file)
