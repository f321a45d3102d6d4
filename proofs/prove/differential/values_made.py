"""Random expressions of each kind, over the names that are in scope."""

from dataclasses import dataclass, field
from random import Random

CONSTANTS = (0, 1, 1, 2, 3, -1)


@dataclass
class Scope:
    """Names by kind. A block may be None; a node never is."""

    random: Random
    blocks: list[str] = field(default_factory=list)
    nodes: list[str] = field(default_factory=lambda: ["self.head", "self.tail"])
    numbers: list[str] = field(default_factory=lambda: ["self.count"])
    lists: list[str] = field(default_factory=list)
    counting: float = 1.0  # how often the counter is set; the engine knows no loop that does

    def copy(self) -> "Scope":
        return Scope(self.random, [*self.blocks], [*self.nodes], [*self.numbers], [*self.lists], self.counting)

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def link(self) -> str:
        return self.random.choice(("after", "before"))

    def node(self) -> str:
        """Seldom something that may be None, so that most programs get on."""
        return self.random.choice(self.nodes) if self.chance(0.93) else self.block()

    def block(self, depth: int = 2) -> str:
        kind = self.random.randrange(10 if depth else 4)
        if kind < 3:
            return self.random.choice([*self.blocks, *self.nodes])
        if kind == 3:
            return "None" if self.chance(0.4) else self.random.choice(self.nodes)
        if kind < 8:
            return f"{self.node()}.{self.link()}"
        if kind == 8 and self.lists:
            return f"{self.random.choice(self.lists)}[{self.random.choice((0, 0, -1, 1, self.number(0)))}]"
        if self.chance(0.5):
            return f"({self.block(0)} if {self.truth(depth - 1)} else {self.block(0)})"
        return f"({self.block(0)} {self.random.choice(('or', 'and'))} {self.block(0)})"

    def number(self, depth: int = 2) -> str:
        kind = self.random.randrange(9 if depth else 4)
        if kind < 2 or not depth:
            return self.random.choice([*self.numbers, str(self.random.choice(CONSTANTS))])
        if kind == 2 and self.lists:
            return f"len({self.random.choice(self.lists)})"
        if kind < 6:
            return f"({self.number(depth - 1)} {self.random.choice('+-')} {self.number(0)})"
        if kind == 6:
            return f"{self.random.choice(('min', 'max'))}({self.number(0)}, {self.number(0)})"
        if kind == 7:
            return f"(-{self.number(0)})"
        return f"({self.number(0)} if {self.truth(depth - 1)} else {self.number(0)})"

    def truth(self, depth: int = 2) -> str:
        kind = self.random.randrange(12 if depth else 8)
        if kind < 3:
            return f"{self.block(0)} {self.random.choice(('is', 'is not'))} {self.block(1)}"
        if kind < 6:
            return f"{self.number(1)} {self.random.choice(('==', '!=', '<', '<=', '>', '>='))} {self.number(0)}"
        if kind == 6:
            return self._plain()
        if kind == 7 and self.lists:
            listed = self.random.choice(self.lists)
            return f"{self.random.choice(self.nodes)} {self.random.choice(('in', 'not in'))} {listed}"
        if kind == 8:
            return f"not {self.truth(0)}"
        if kind == 9:
            return f"{self.number(0)} < {self.number(0)} <= {self.number(0)}"
        if kind == 10:
            return f"{self.block(0)} {self.random.choice(('==', '!='))} {self.block(0)}"
        return f"({self.truth(depth and depth - 1)} {self.random.choice(('and', 'or'))} {self.truth(0)})"

    def _plain(self) -> str:
        """Something of which the truth is asked."""
        return self.random.choice(
            [self.block(0), self.number(0), f"isinstance({self.number(0)}, int)", *(self.lists or ["True"])]
        )
