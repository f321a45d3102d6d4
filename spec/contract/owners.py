"""Who holds what, where calls say who makes them: nobody gives back what he does not hold.

The pool cannot know this: a reference has no name. Calls without an owner are passed over, and so are the references
that such calls took: giving back what nobody named holds is no breach.
"""

from collections import Counter

from blockpool.spec.contract.call_text import shown
from blockpool.spec.contract.calls import Alloc, BlockName, Call, Free, Ok, Publish, Reply, Share, Unpin
from blockpool.spec.contract.violation import OWNED, Breach


class Owners:
    """References of each owner on each block."""

    def __init__(self) -> None:
        self.held: dict[str, Counter[BlockName]] = {}

    def judge(self, call: Call, reply: Reply, owner: str | None) -> Breach | None:
        """Keep the books; answers a breach if the owner gives back too much."""
        if owner is None or type(reply) is not Ok:
            return None
        held = self.held.setdefault(owner, Counter())
        match call:
            case Alloc():
                held.update(reply.value if isinstance(reply.value, tuple) else ())  # type: ignore[arg-type]
            case Share(blocks):
                held.update(blocks)
            case Publish(blocks) if isinstance(reply.value, tuple):
                held.subtract(blocks)
                held.update(reply.value)  # type: ignore[arg-type]
            case Free(blocks) | Unpin(blocks, _):
                return self._given_back(call, blocks, owner)
        return None

    def _given_back(self, call: Call, blocks: tuple[BlockName, ...], owner: str) -> Breach | None:
        held = self.held[owner]
        for block, count in Counter(blocks).items():
            others = [name for name, theirs in self.held.items() if name != owner and theirs[block] > 0]
            if held[block] < count and others:
                words = f"{shown(call)} by {owner!r}, who holds {held[block]} references on {block!r}; "
                return Breach(OWNED, "caller", words + f"they belong to {', '.join(map(repr, others))}", block)
        held.subtract(blocks)
        self.held[owner] = +held
        if not self.held[owner]:
            del self.held[owner]
        return None
