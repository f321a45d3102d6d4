"""The life of a block as a diagram: six states, and an arrow wherever the search saw a block go from one to another."""

from collections.abc import Mapping
from html import escape
from math import hypot
from typing import Any

from blockpool.proofs.cases import CaseError
from blockpool.spec import Life

PLACES = {
    Life.BLANK: (100, 200),
    Life.PRIVATE: (430, 60),
    Life.PUBLISHED: (760, 200),
    Life.WATCHED: (240, 390),
    Life.CACHED: (620, 390),
    Life.NULL: (100, 60),
}
"""Where each state is drawn. Which arrows there are is not written anywhere: they are computed."""

WIDTH, HEIGHT = 860, 450
HALF_WIDTH, HALF_HEIGHT = 78, 34
BEND = 46
"""How far an arrow bends to its right, so that the one in the other direction has room."""
BADGE = 13

WORDS = {
    Life.NULL: "a placeholder",
    Life.BLANK: "free, nothing in it",
    Life.PRIVATE: "held, to be written",
    Life.PUBLISHED: "held, can be hit",
    Life.CACHED: "free, can be hit",
    Life.WATCHED: "free, still read",
}

Arrows = Mapping[str, Mapping[str, Any]]


class UnknownArrowError(CaseError):
    """An arrow from or to a state that the diagram has no place for."""


def numbered(arrows: Arrows) -> list[tuple[Life, Life, Mapping[str, Any]]]:
    """The arrows in the order in which they are numbered: by where they begin, as the states are listed."""
    order = list(Life)
    listed = []
    for name, arrow in arrows.items():
        source, target = name.split()
        if source not in order or target not in order:
            raise UnknownArrowError(f"{name}: the states of life are {', '.join(order)}")
        listed.append((Life(source), Life(target), arrow["calls"]))
    return sorted(listed, key=lambda one: (order.index(one[0]), order.index(one[1])))


def diagram(arrows: Arrows) -> str:
    """The diagram as SVG; its words are in the table that goes with it, which a screen reader is sent to."""
    listed = numbered(arrows)
    lines = "".join(_arrow(number, source, target, calls) for number, (source, target, calls) in enumerate(listed, 1))
    states = "".join(_state(life) for life in Life)
    title = f"The life of a block: six states and {len(listed)} arrows, which the table lists"
    return (
        f'<div class="diagram" tabindex="0" role="region" aria-label="Diagram"><svg class="life" viewBox="0 0 '
        f'{WIDTH} {HEIGHT}" role="img" aria-label="{title}">'
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0 0L10 5L0 10z"/></marker></defs>{lines}{states}</svg></div>\n'
    )


def _state(life: Life) -> str:
    x, y = PLACES[life]
    box = (
        f'<rect x="{x - HALF_WIDTH}" y="{y - HALF_HEIGHT}" width="{2 * HALF_WIDTH}" height="{2 * HALF_HEIGHT}" rx="9"/>'
    )
    name = f'<text x="{x}" y="{y - 4}" class="name">{life}</text>'
    return f'<g class="state {life}">{box}{name}<text x="{x}" y="{y + 17}">{WORDS[life]}</text></g>'


def _arrow(number: int, source: Life, target: Life, calls: Mapping[str, Any]) -> str:
    (x1, y1), (x2, y2) = PLACES[source], PLACES[target]
    length = hypot(x2 - x1, y2 - y1)
    middle = ((x1 + x2) / 2 + (y2 - y1) / length * BEND, (y1 + y2) / 2 - (x2 - x1) / length * BEND)
    start, end = _edge((x1, y1), middle), _edge((x2, y2), middle)
    top = tuple(0.25 * a + 0.5 * m + 0.25 * b for a, m, b in zip(start, middle, end, strict=True))
    words = escape(f"{number}. {source} to {target}: {', '.join(calls)}")
    path = f"M{_point(start)} Q{_point(middle)} {_point(end)}"
    badge = f'<circle cx="{top[0]:.0f}" cy="{top[1]:.0f}" r="{BADGE}"/>'
    text = f'<text x="{top[0]:.0f}" y="{top[1] + 5:.0f}">{number}</text>'
    return f'<g class="arrow"><title>{words}</title><path d="{path}" marker-end="url(#tip)"/>{badge}{text}</g>'


def _edge(place: tuple[float, float], towards: tuple[float, float]) -> tuple[float, float]:
    """Where the line from the middle of a state leaves its box."""
    dx, dy = towards[0] - place[0], towards[1] - place[1]
    scale = min(
        (HALF_WIDTH + 3) / abs(dx) if dx else float("inf"),
        (HALF_HEIGHT + 3) / abs(dy) if dy else float("inf"),
    )
    return place[0] + dx * scale, place[1] + dy * scale


def _point(place: tuple[float, float]) -> str:
    return f"{place[0]:.0f} {place[1]:.0f}"
