"""All methods of the pool: what is proved of each, up to what, and what is not."""

from collections.abc import Mapping

from blockpool.proofs.prove.methods.forgetting import EVICT, RESET
from blockpool.proofs.prove.methods.freeing import FREE
from blockpool.proofs.prove.methods.getting import GET
from blockpool.proofs.prove.methods.indexing import INSERT, INSERT_COPY, REMOVE
from blockpool.proofs.prove.methods.lending import LEND
from blockpool.proofs.prove.methods.lookups import LOOKUP
from blockpool.proofs.prove.methods.method import Method
from blockpool.proofs.prove.methods.moving import DROP, MOVE
from blockpool.proofs.prove.methods.publishing import SHORT_CUT
from blockpool.proofs.prove.methods.touching import TOUCH
from blockpool.proofs.prove.methods.unpinning import CANCEL, UNPIN

METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        GET, LEND, TOUCH, FREE, UNPIN, CANCEL, LOOKUP, SHORT_CUT, MOVE, EVICT, RESET, DROP, REMOVE, INSERT, INSERT_COPY
    )
}  # fmt: skip

DEAR = frozenset({TOUCH.name, FREE.name, SHORT_CUT.name})
"""Three quarters of the time: `check --deep` proves them."""
QUICK = tuple(name for name in METHODS if name not in DEAR)
"""What `check` proves as well."""

NOT_PROVED: Mapping[str, str] = {
    "BlockPool.free_blocks, careful way": "`release` keeps pairs of lists in a dict, by owner: not modelled",
    "BlockPool.cache_full_blocks, careful way": "`cache_full` chooses by generators, keeps triples in lists",
    "BlockPool.cache_partial_block": "not tried",
    "watchers.tell, HashIndex.all_blocks, events.stored_event, events.send": "generators, callbacks, content of events",
}
"""What is left to searches and samples, and why."""
