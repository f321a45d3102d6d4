"""The engine against CPython: thousands of small programs, run by both on small linked heaps.

The engine must do what CPython does, or say that it does not know. `programs.py` makes the programs, in and around the
language that `proofs/prove/queue/allowed.py` lets through; `native.py` runs one as it is; `concrete.py` lets the engine
run it on the same heap, loops one step at a time from the state that the step before left; `compare.py` holds the two
against each other. `faults.py` are defects of the engine that must show.

A program is called several times in a row. Before each call the engine is given the heap as CPython left it, and
nothing else: what a program keeps anywhere but in the heap is thereby a disagreement.
"""
