"""The glossary: the words of the field as this project uses them. Each is linked where a page first uses it."""

from inspect import getsource

from blockpool.proofs.faces.handbook.writing import TERMS, Page, plain
from blockpool.spec import Life

WORDS: dict[str, str] = {
    "block": "A fixed-size piece of KV memory. The pool knows it by its number and never looks inside.",
    "block pool": "What lends blocks out, shares them between requests with a common prefix, and takes them back.",
    "block table": "The blocks of one request in one group, by position. It grows at its end only.",
    "group": "A set of model layers that share block tables. A prefix is cached once for each group.",
    "prefix": "The first tokens of a request, and all that shapes what they leave in memory.",
    "key": "What the index is asked for: a prefix in a group. Real pools use a hash of it.",
    "primary key": "The one key of a cached block that covers the most tokens.",
    "alias": "A further key of a block, no longer than its primary key.",
    "index": "What a lookup may answer: for each key the blocks that carry it.",
    "hit": "A block found by a lookup. It is not a claim: until it is touched, the block may be evicted.",
    "reference": "One use of a block. A block without references is free.",
    "free queue": "The free blocks in the order in which they are handed out, next victim first.",
    "eviction": "A cached block loses its keys, because it is handed out, by name, or in a reset.",
    "null block": "Block 0, a placeholder in block tables: never lent, queued, keyed, watched or counted.",
    "watcher": "The name of a reader who released a block, still reads it, and wants to be told before it is reused.",
    "promotion": "A block published with part of its tokens is published anew when it is full.",
    "copy on write": "A block that others read or find is copied before it is written.",
    "pass": "One round of a scheduler: requests are admitted and grow, then all that was scheduled is computed.",
    "ghost memory": "What each block really holds, as part of the state: no server stores it, but claims speak of it.",
    "KV event": "What the pool tells the outside about its cache: Stored, Removed, Cleared.",
    "bag law": "Events count copies: a key was stored as often more than removed as there are blocks under it.",
    "set law": "Events tell presence: a key is removed once, with the last block under it.",
    "action": "One call of the pool, with its guard, its answers and its effect.",
    "guard": "The reasons for which a correct pool refuses a call. None: it may proceed.",
    "effect": "The state after a call that was taken.",
    "invariant": "A claim that is true in every reachable state.",
    "step property": "A claim that is true of every step, taken or refused.",
    "possibility": "A claim that some step shows something. It keeps a pool that can do nothing from being right.",
    "inductive": "Preserved by every action, whatever the size: what induction needs.",
    "refinement": "Every step of the lower level is a step that the upper level allows.",
    "lockstep": "Two machines take the same calls, and are compared after each.",
    "scope": "How large a piece of the machine is searched: blocks, keys, references, watchers.",
    "trace": "Calls and their answers, in the order in which they took effect.",
    "witness": "A trace that shows what is said to be possible, or to be so.",
    "counterexample": "A trace that breaks a claim. The shortest one that was found is kept.",
    "vacuous": "Nothing that was tried could have refuted it. It is no success.",
    "oracle": "What judges a pool from outside, by its answers.",
    "adapter": "A small class that lets the oracle drive a pool.",
    "profile": "What a pool promises beyond safety, as a small number of choices.",
    "law": "What a caller sees if a pool keeps its promise. The oracle judges by laws.",
    "gate": "A way of checking that can fail, and must for each defect that it is there for.",
    "seeded defect": "A line of the source made wrong on purpose, to see which gate notices.",
    "mutant": "A small change of the source made by a tool, to see whether anything notices.",
    "conformance": "That a pool keeps every law that its profile promises.",
}
"""Each term in a sentence or two. The states of life are added from the spec."""

SPELLED = {
    "evicted": "eviction",
    "references": "reference",
    "watchers": "watcher",
    "block tables": "block table",
    "counterexamples": "counterexample",
    "invariants": "invariant",
    "KV events": "KV event",
    "seeded defects": "seeded defect",
    "block pools": "block pool",
    "profiles": "profile",
    "adapters": "adapter",
    "mutants": "mutant",
}
"""Other forms in which a term is linked."""

NEVER_LINKED = {"block", "key", "hit", "pass", "law", "index", "action", "group", "effect", "scope", "gate", "trace"}
"""Too common on a page; the glossary explains them."""


def states_of_life() -> dict[str, str]:
    """Each state with the words that the spec has for it, where it is declared."""
    found = {}
    for line in getsource(Life).splitlines():
        name, _, words = line.partition("#")
        if words and "=" in name:
            life = Life(name.split('"')[1])
            found[f"{life} block"] = f"One of the six states of a block: {words.strip()}."
    return {term: words for term, words in found.items() if term not in WORDS}


def know_terms() -> None:
    """From now on pages link these words."""
    TERMS.clear()
    TERMS.update({term.lower(): term for term in WORDS if term not in NEVER_LINKED})
    TERMS.update({word.lower(): term for word, term in SPELLED.items()})


def page() -> Page:
    """The glossary itself."""
    found = Page("glossary", "Glossary", "glossary")
    entries = sorted({**WORDS, **states_of_life()}.items(), key=lambda entry: entry[0].lower())
    body = "\n\n".join(f"{term}\n  {plain(words)}" for term, words in entries)
    found.markdown(f"```{{glossary}}\n{body}\n```")
    return found
