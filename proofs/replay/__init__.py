"""Replaying request traces: a small engine drives the managers of `impl`, and the spec takes every call of the pool.

    requests.py     one request of a trace, and the same in the scaled model
    reader.py       trace files, each line checked
    synthetic.py    a built-in workload, made from a seed
    calls.py        the pool under the managers, its calls counted and timed
    lockstep.py     the same pool, each call also taken and judged by the spec
    comparison.py   digests and the keys they stand for, and differences between large states in few words
    memory.py       what the blocks contain, and whether requests read what they should
    managed.py      the managers under the engine, and whether every reference is accounted for
    engine.py       admission, decoding, preemption
    report.py       what came of it
    run.py          all of it together

The model is scaled: *one token of the model is one block of the trace*. A prompt of n full blocks is a prefix of n
tokens, each the identity of one block, and managers, pool and spec work with hash unit 1 and block size 1. The pool
still computes real SHA-256 chains over these tokens, only shorter ones, and the spec need not carry 512 tokens a block.
"""

from blockpool.proofs.replay.reader import TraceError, requests_from_file
from blockpool.proofs.replay.report import Mismatch, ReplayReport
from blockpool.proofs.replay.requests import TRACE_BLOCK, TraceRequest, check_block_size
from blockpool.proofs.replay.run import replay
from blockpool.proofs.replay.synthetic import synthetic_requests

__all__ = [
    "TRACE_BLOCK",
    "Mismatch",
    "ReplayReport",
    "TraceError",
    "TraceRequest",
    "check_block_size",
    "replay",
    "requests_from_file",
    "synthetic_requests",
]
