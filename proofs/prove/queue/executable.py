"""A queue class that can be executed symbolically: all of it was looked at, and its methods are rewritten."""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from blockpool.proofs.prove.queue import values
from blockpool.proofs.prove.queue.allowed import check_method
from blockpool.proofs.prove.queue.block_class import check_block_class
from blockpool.proofs.prove.queue.class_shape import check_class
from blockpool.proofs.prove.queue.execution import Execution
from blockpool.proofs.prove.queue.refusing import UnsupportedError
from blockpool.proofs.prove.queue.rewrite import ENGINE, LoopInfo, Rewriter
from blockpool.proofs.prove.queue.source import QueueSource, build, with_fields


@dataclass
class Executable:
    """A queue class, rewritten once."""

    source: QueueSource
    infos: list[LoopInfo] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)  # methods that cannot be executed
    refused: str = ""  # why none can be
    by_identity: bool = True

    def __post_init__(self) -> None:
        try:
            self._check()
        except UnsupportedError as error:
            self.refused = str(error)
            return
        rewriter = Rewriter(self.source, self.infos)
        body: list[ast.stmt] = []
        for method in self.source.methods.values():
            try:
                check_method(self.source, method)
                body.append(rewriter.rewritten(method))
            except UnsupportedError as error:
                self.problems[method.name] = str(error)
        self.tree = with_fields(self.source.tree, body=body)

    def _check(self) -> None:
        """Everything around the bodies of methods."""
        self.source.scope.check()
        check_class(self.source)
        for maker in sorted(self.source.block_makers):
            self.by_identity &= check_block_class(self.source.scope, maker, self.source.layout)

    @cached_property
    def made(self) -> Any:
        return build(self.tree, {}, values.Node, self.source.file)

    def queue(self, run: Execution, make_block: Callable[..., Any]) -> Any:
        """An object of the class on the heap of one path, not yet constructed."""
        run.by_identity, run.file = self.by_identity, self.source.file
        scope = self.made.__init__.__globals__
        scope |= dict.fromkeys(self.source.block_makers, make_block)
        scope |= {
            ENGINE: run, "len": run.length, "isinstance": run.instance, "range": run.span, "reversed": run.reverse,
            "list": run.copy,
        }  # fmt: skip
        return object.__new__(self.made)
