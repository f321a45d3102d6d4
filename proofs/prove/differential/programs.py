"""Random programs: a module with a queue class of which one method is called, which may call another.

Most are in the language of the engine, some have one form beside it. The same seed makes the same programs.
"""

from dataclasses import dataclass
from random import Random

from blockpool.proofs.prove.differential.native import LABELS, Call
from blockpool.proofs.prove.differential.odd_forms import (
    BLOCK_MEMBERS,
    HELPER_ARGUMENTS,
    MEMBERS,
    MODULE,
    SEEN,
    STATEMENTS,
)
from blockpool.proofs.prove.differential.statements_made import Statements, lines
from blockpool.proofs.prove.differential.values_made import CONSTANTS, Scope

ODD = 0.3
"""The part of programs with a form that the engine need not know."""
CALLS = 3
WORK, WALK = "work", "iter_blocks_after"


@dataclass(frozen=True)
class Program:
    """One program, and the calls that are made."""

    text: str
    method: str
    queued: int
    calls: tuple[Call, ...]


def programs(seed: int, count: int) -> list[Program]:
    """The first programs of a seed."""
    return [program(Random(f"{seed} {number}")) for number in range(count)]


def program(random: Random) -> Program:
    maker = _Maker(random)
    walking = random.random() < 0.12
    text = maker.module(walking)
    calls = tuple(_call(random) for _ in range(CALLS))
    return Program(text, WALK if walking else WORK, random.randrange(4), calls)


def _call(random: Random) -> Call:
    block = None if random.random() < 0.1 else random.choice(LABELS)
    return Call(block, tuple(random.choice(LABELS) for _ in range(random.randrange(4))), random.choice((*CONSTANTS, 4)))


MODULE_TEXT = """
class Block:
    __slots__ = ("after", "before", "number")
    def __init__(self, number):
        self.after = None
        self.before = None
        self.number = number
{block_member}

class Refusal(Exception):
    pass

def note(queue):
    queue.count += 21

class Queue:
    def __init__(self, blocks):
        self.head = Block(-1)
        self.tail = Block(-2)
        self.head.after = self.tail
        self.tail.before = self.head
        self.count = 0

    def help({arguments}):
{help}
{method}
{member}
{module}
"""


class _Maker(Statements):
    """Makes one program."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.odd = (
            random.choice(("statement",) * 6 + ("member", "module", "arguments", "block"))
            if random.random() < ODD
            else ""
        )

    def module(self, walking: bool) -> str:
        scope = Scope(self.random, ["block"], numbers=["number", "self.count"])
        scope.nodes, scope.counting = [*scope.nodes, "self.head.after"], 0.2
        arguments, odd_lines = self.random.choice(("self, block, number", "self, block, number=2")), []
        self.default = "=" in arguments
        if self.odd == "arguments":
            arguments = self.random.choice(HELPER_ARGUMENTS)
            odd_lines = [SEEN] if "seen" in arguments else []
        helped = [*odd_lines, *self._body(scope, self.random.randrange(1, 4), helper=True)]
        return MODULE_TEXT.format(
            arguments=arguments,
            help=lines(helped, 2),
            method=self._walk() if walking else self._work(),
            member=self.random.choice(MEMBERS) if self.odd == "member" else "",
            module=self.random.choice(MODULE) if self.odd == "module" else "",
            block_member=self.random.choice(BLOCK_MEMBERS) if self.odd == "block" else "",
        )

    def _work(self) -> str:
        scope = Scope(self.random, ["block"], numbers=["self.count", "number"], lists=["blocks"])
        body = self._body(scope, self.random.randrange(2, 7))
        if self.odd == "statement":
            body.insert(self.random.randrange(len(body)), self._odd(scope))
        elif self.odd:
            body[:0] = ["self.help(block)" if self.default else "self.help(block, number)"] * 2
        return "    def work(self, block, blocks, number):\n" + lines(body, 2)

    def _walk(self) -> str:
        """A generator, or a method that answers one; sometimes one that nobody walks."""
        scope = Scope(self.random, ["block"])
        body = self._body(scope, 2)
        test = f"node is not {scope.node()} and node is not None and fuel > 0"
        step = f"while {test}:\n    yield node\n    node = node.{scope.link()}\n    fuel -= 1"
        walk = [
            "fuel = 5",
            f"node = {scope.block()}",
            step,
            self.random.choice(("return", "yield block", "return None")),
        ]
        plain = [line for line in body if "return" not in line]
        if self.random.random() < 0.4:
            return "    def iter_blocks_after(self, block):\n" + lines([*plain, *walk], 2)
        call = self.random.choice(
            ("return self._walk(block)", "return self._walk(block)", "self._walk(block)\nreturn block")
        )
        outer = "    def iter_blocks_after(self, block):\n" + lines([*plain, call], 2)
        return outer + "\n    def _walk(self, block):\n" + lines(walk, 2)

    def _odd(self, scope: Scope) -> str:
        form = self.random.choice(STATEMENTS)
        words = {"block": scope.block(0), "node": scope.node(), "number": scope.number(0), "truth": scope.truth(0)}
        for word, text in words.items():
            form = form.replace("{" + word + "}", text).replace("{" + word + "!r}", "{" + text + "!r}")
        form = form.replace("{constant}", str(self.random.choice(CONSTANTS))).replace("{{", "{").replace("}}", "}")
        return form.replace("\n        ", "\n")
