"""Proofs about the source that ships: the hot methods of the pool, executed on a symbolic pool of any size.

What is shown, for any number of blocks and any length of argument: each ending of a method is a step that the spec's
own transition allows (`abstraction.py`), the heap stands for a state again, and nothing that is not the pool's was
touched; a refused call changes nothing and is refused for a reason that the spec has. Loops end.

The methods are in `getting.py`, `touching.py`, `freeing.py`, `unpinning.py`, `publishing.py`, `lookups.py` and
`forgetting.py`. The engine: `language.py` says which Python is understood, `values.py`, `lists.py`, `tables.py` and
`models.py` what a method meets instead of values, `machine.py` and `loops.py` follow its paths, `proving.py` and
`obligations.py` ask Z3, `vacuity.py` whether it was about anything, `sized_runs.py` runs the method for a picture.

What has to be trusted:

- Z3, and Python's own execution of everything that `language.py` leaves as it is;
- the models of dicts, lists and iterators, and the contracts in `contracts.py`, which `prove --map` lists by method;
- `world.MAKE`: with one pool alive, a block that is not its own has no reference, key or link and is no null block
  (`checks.num_pools`); while watchers are told there are some;
- that arguments are of the declared types, that nobody names a sentinel, that reading an argument has no other effect,
  that a metrics collector cannot change the pool and does not raise, and that messages of errors can be built;
- that a size is 0 exactly if there is no member, and that a digest belongs to one prefix.

Not shown: which of several copies of a key a lookup serves, the content and order of events, decorators.
"""
