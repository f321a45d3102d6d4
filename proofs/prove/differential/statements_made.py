"""Random statements, over the names that are in scope."""

from collections.abc import Callable
from random import Random

from blockpool.proofs.prove.differential.values_made import Scope


class Statements:
    """Makes the bodies of methods."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = 0
        self.default = False  # the helper has a default for its number

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
        makers: list[Callable[..., str]] = [
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

    def _count(self, scope: Scope, *_: object) -> str:
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
        text = f"if {scope.truth()}:\n" + lines(self._inner(scope, depth, helper), 1)
        return text + ("\nelse:\n" + lines(self._inner(scope, depth, helper), 1) if scope.chance(0.5) else "")

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
        text = lines(body, 1)
        return text + (f"\nelse:\n    {self._count(scope)}" if scope.chance(0.1) else "")


def lines(parts: list[str], depth: int) -> str:
    return "\n".join("    " * depth + line for part in parts for line in part.splitlines())
