"""Random programs: a module with a queue class of which one method is called, which may call another.

Most are in the language of the engine, some have one form beside it. The same seed makes the same programs.
"""

from collections.abc import Callable
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


class _Maker:
    """Makes one program."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = 0
        self.default = False
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
            help=_lines(helped, 2),
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
        return "    def work(self, block, blocks, number):\n" + _lines(body, 2)

    def _walk(self) -> str:
        """A generator, or a method that answers one; sometimes one that nobody walks."""
        scope = Scope(self.random, ["block"])
        body = self._body(scope, 2)
        asked = f"while node is not {scope.node()} and node is not None and fuel > 0:"
        step = f"{asked}\n    yield node\n    node = node.{scope.link()}\n    fuel -= 1"
        walk = [
            "fuel = 5",
            f"node = {scope.block()}",
            step,
            self.random.choice(("return", "yield block", "return None")),
        ]
        plain = [line for line in body if "return" not in line]
        if self.random.random() < 0.4:
            return "    def iter_blocks_after(self, block):\n" + _lines([*plain, *walk], 2)
        call = self.random.choice(
            ("return self._walk(block)", "return self._walk(block)", "self._walk(block)\nreturn block")
        )
        outer = "    def iter_blocks_after(self, block):\n" + _lines([*plain, call], 2)
        return outer + "\n    def _walk(self, block):\n" + _lines(walk, 2)

    # ---- statements ----

    def _name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}{self.names}"

    def _body(self, scope: Scope, length: int, *, helper: bool = False) -> list[str]:
        body = [self._statement(scope, 2, helper) for _ in range(length)]
        kinds = (
            (scope.block, scope.number, scope.truth)
            if not scope.lists
            else (scope.block, scope.number, lambda: scope.lists[-1])
        )
        return [*body, f"return {self.random.choice(kinds)()}"] if scope.chance(0.7) else body

    def _statement(self, scope: Scope, depth: int, helper: bool) -> str:
        makers: list[Callable[[Scope, int, bool], str]] = [
            self._write,
            self._write,
            self._write,
            self._local,
            self._local,
            self._count,
        ]
        if depth:
            makers += [self._if, self._if, self._for, self._while, self._rare]
        if not helper:
            makers += [self._help]
        return self.random.choice(makers)(scope, depth, helper)

    def _write(self, scope: Scope, *_: object) -> str:
        target = f"{scope.node()}.{scope.link()}"
        if scope.chance(0.2):
            return f"{target}, {scope.node()}.{scope.link()} = {scope.block()}, {scope.block()}"
        if scope.chance(0.2):
            target += f" = {scope.node()}.{scope.link()}"
        return f"{target} = {scope.block()}"

    def _local(self, scope: Scope, *_: object) -> str:
        kind = self.random.choice(("block", "block", "number", "list"))
        name, known = self._name(kind[0]), {"block": scope.blocks, "number": scope.numbers, "list": scope.lists}[kind]
        old = [n for n in known if "." not in n and n != "blocks"]
        name = self.random.choice(old) if old and scope.chance(0.4) else name
        listed = f"[{', '.join(scope.block(0) for _ in range(self.random.randrange(3)))}]"
        copied = f"list({self.random.choice(scope.lists)})" if scope.lists and scope.chance(0.4) else listed
        alias = self.random.choice(scope.lists) if scope.lists and scope.chance(0.3) else copied
        value = {"block": scope.block, "number": scope.number, "list": lambda: alias}[kind]()
        if kind == "list" and value == "blocks":
            value = "list(blocks)"
        known.append(name)
        return f"{name} = {value}"

    def _count(self, scope: Scope, depth: int, helper: bool) -> str:
        local = [name for name in scope.numbers if "." not in name]
        lists = [name for name in scope.lists if name != "blocks"]
        if lists and scope.chance(0.5):
            return f"{self.random.choice(lists)}.append({scope.block()})"
        counted = ["self.count"] if scope.chance(scope.counting) or not local else []
        target = self.random.choice([*counted, *local])
        return f"{target} {self.random.choice(('+=', '-=', '='))} {scope.number()}"

    def _help(self, scope: Scope, *_: object) -> str:
        number = scope.number()
        given = self.random.choice(("", f", number={number}")) if self.default else f", {number}"
        call = f"self.help({scope.block()}{given})"
        return call if scope.chance(0.6) else f"{self._name('x')} = {call}"

    def _rare(self, scope: Scope, *_: object) -> str:
        ends = (
            f"if {scope.truth()}: return {scope.block()}",
            f"if {scope.truth()}: raise Refusal('no', {scope.node()}.number, f'{{{scope.number(0)}}}')",
            f"if {scope.truth()}: raise LookupError",
            f"assert {scope.truth()}, 'no'",
        )
        return self.random.choice(ends)

    def _if(self, scope: Scope, depth: int, helper: bool) -> str:
        text = f"if {scope.truth()}:\n" + _lines(self._inner(scope, depth, helper), 1)
        return text + ("\nelse:\n" + _lines(self._inner(scope, depth, helper), 1) if scope.chance(0.5) else "")

    def _inner(self, scope: Scope, depth: int, helper: bool) -> list[str]:
        inner = scope.copy()
        return [self._statement(inner, depth - 1, helper) for _ in range(self.random.randrange(1, 3))]

    def _for(self, scope: Scope, depth: int, helper: bool) -> str:
        name, inner = self._name("i"), scope.copy()
        if scope.lists and scope.chance(0.7):
            listed = self.random.choice(scope.lists)
            over = f"reversed({listed})" if scope.chance(0.3) else listed
            inner.lists = [other for other in inner.lists if other == "blocks"]
            (inner.nodes if listed == "blocks" else inner.blocks).append(name)
        else:
            over = f"range({scope.number(1)})"
            inner.numbers.append(name)
        return f"for {name} in {over}:\n" + self._loop_body(inner, depth, helper)

    def _while(self, scope: Scope, depth: int, helper: bool) -> str:
        fuel, inner = self._name("fuel"), scope.copy()
        body = self._loop_body(inner, depth, helper)
        return f"{fuel} = {self.random.randrange(1, 4)}\nwhile {scope.truth()} and {fuel} > 0:\n    {fuel} -= 1\n{body}"

    def _loop_body(self, scope: Scope, depth: int, helper: bool) -> str:
        scope.counting = 0.05
        body = [self._statement(scope, depth - 1, helper) for _ in range(self.random.randrange(1, 4))]
        if scope.chance(0.3):
            leave = self.random.choice(("break", "continue"))
            body.insert(self.random.randrange(len(body) + 1), f"if {scope.truth()}: {leave}")
        text = _lines(body, 1)
        return text + (f"\nelse:\n    {self._count(scope, depth, helper)}" if scope.chance(0.1) else "")

    def _odd(self, scope: Scope) -> str:
        form = self.random.choice(STATEMENTS)
        words = {"block": scope.block(0), "node": scope.node(), "number": scope.number(0), "truth": scope.truth(0)}
        for word, text in words.items():
            form = form.replace("{" + word + "}", text).replace("{" + word + "!r}", "{" + text + "!r}")
        form = form.replace("{constant}", str(self.random.choice(CONSTANTS))).replace("{{", "{").replace("}}", "}")
        return form.replace("\n        ", "\n")


def _lines(parts: list[str], depth: int) -> str:
    return "\n".join("    " * depth + line for part in parts for line in part.splitlines())
