"""Proofs about the source that ships: the methods of a free queue, executed on a symbolic heap of any size.

What is shown, for a queue of any length and any arguments: a legal call returns, and afterwards links, counter and
sentinels represent the sequence that the method promises, with all links of removed blocks cleared; a call that must
be refused raises an exception on purpose, and no link and no counter differs. Loops end.

Read `operations.py` for the promises, `order.py` for what links represent, `invariants.py` for the loops. The others
are the engine: `source.py` reads the class, `rewrite.py` changes it as little as it must, `values.py`, `execution.py`
and `loops.py` execute it, `methods.py` and `obligations.py` ask Z3. `concrete_runs.py` is a second opinion by plain
execution.

What has to be trusted:

- Z3, and Python's own execution of everything that `rewrite.py` leaves as it is;
- the rewriting of `is`, loops, lists, `raise`, `assert` and `yield`; whatever it does not know is refused;
- that blocks are compared by identity, and that reading or writing a link has no other effect (no properties);
- that one queue exists: a block has links only while it is in it (a constructor may meet blocks of another queue);
- the definitions in `removal_invariants.History` and of `FIRST` in `operations.py`: they only name what exists;
- that `len(blocks)` and iteration agree, arguments are of the declared types, and nobody else acts during a call: a
  generator is executed as a walk from start to end.

Invariants need no trust: a wrong one makes a proof fail. Nor do hypotheses that contradict each other go unnoticed: a
promise about calls that cannot happen with two blocks queued is vacuous. Decorators are left out, and named.
"""
