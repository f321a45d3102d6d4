"""How many methods of `impl` have contracts in this process; a process of its own for each level that is compared."""

from blockpool.impl import BlockPool, FreeKVCacheBlockQueue

if __name__ == "__main__":
    methods = [method for cls in (BlockPool, FreeKVCacheBlockQueue) for method in vars(cls).values()]
    print(sum(hasattr(method, "__wrapped__") for method in methods))
