"""What a lookup over all groups finds: the longest prefix that every group can continue from.

Defined by brute force: the longest length at which each group has, published, the blocks that the next token reads.
"""

from blockpool.spec.pool.prefix import Key, Prefix
from blockpool.spec.pool.terms import NULL, BlockId, GroupId
from blockpool.spec.requests.layout import Kind, Table
from blockpool.spec.requests.state import Plan, RequestId, World


def longest_hit(world: World, request: RequestId) -> tuple[int, tuple[Table, ...]]:
    """How many tokens are hit, and the table of each group up to there. At least one token of the prompt is left."""
    plan = world.plans[request]
    for tokens in range((plan.prompt - 1) // world.pool.unit * world.pool.unit, 0, -world.pool.unit):
        tables = [hit_table(world, GroupId(group), plan, tokens) for group in world.groups]
        found = [table for table in tables if table is not None]
        if len(found) == len(tables):
            return tokens, tuple(found)
    return 0, tuple(() for _ in world.groups)


def hit_table(world: World, group: GroupId, plan: Plan, tokens: int) -> Table | None:
    """The blocks of one group after a hit of so many tokens; None if it has not all that the next token reads."""
    kind = world.group(group)
    if kind.kind is Kind.RING:
        return None
    needed = kind.first_needed(tokens)
    table: list[BlockId] = []
    for entry in range(kind.blocks_for(tokens)):
        end = min((entry + 1) * kind.block_size, tokens)
        if end <= needed:
            table.append(NULL)
            continue
        block = find(world, group, plan.prefix(end), to_be_copied=end % kind.block_size != 0)
        if block is None:
            return None
        table.append(block)
    return tuple(table)


def find(world: World, group: GroupId, prefix: Prefix, *, to_be_copied: bool) -> BlockId | None:
    """A block under this prefix that may be hit now.

    What was published in this pass is not written yet. Attention reads it after it is written, in the same pass; a
    state is read, and a copy made, before.
    """
    key = Key(prefix, group)
    blocks = world.pool.index.get(key, frozenset())
    early = world.group(group).kind is Kind.STATE or to_be_copied
    if early and world.rules.wait_for_commit:
        blocks -= {block for fresh, block, _ in world.fresh if fresh == key}
    return min(blocks, default=None)
