"""What the engine refuses to understand: it must never guess."""

import pytest

from blockpool.proofs.prove.methods.catalogue import METHODS
from blockpool.proofs.prove.methods.method import shipped
from blockpool.proofs.prove.methods.proving import prove

LOOKUP = "BlockPool.get_cached_block"
BEFORE = "        groups = self.cached_block_hash_to_block._groups\n"


def refused(statement: str) -> str:
    """What is said of `get_cached_block` with one more statement at its beginning."""

    def source(module: str) -> str:
        text = shipped(module)
        assert text.count(BEFORE) == (module == "pool")
        return text.replace(BEFORE, f"        {statement}\n{BEFORE}")

    proof = prove(METHODS[LOOKUP], source)
    assert not proof.holds
    return proof.refused


@pytest.mark.parametrize(
    "statement",
    [
        "if block_hash == 1000: return None",
        "if block_hash != block_hash: return None",
        "if hash(block_hash) == 7: return None",
        "if block_hash in (1, 2): return None",
        "if self.num_gpu_blocks > 1000: return None",
        "if self.anything: return None",
        "if block_hash: return None",
        "if str(block_hash) == '': return None",
        "if f'{block_hash}': return None",
        "if len(block_hash) > 32: return None",
        "self.anything = 1",
        "self.seen = []",
        "del self.anything",
        "kv_cache_group_ids = kv_cache_group_ids[::2]",
        "kv_cache_group_ids = kv_cache_group_ids[-1:]",
        "kv_cache_group_ids = list(reversed(kv_cache_group_ids))",
        "kv_cache_group_ids = sorted(kv_cache_group_ids)",
        "kv_cache_group_ids = {*kv_cache_group_ids}",
        "kv_cache_group_ids = [g for g in kv_cache_group_ids if g > 3]",
        "if len(kv_cache_group_ids) is 8: return None",
        "if len(kv_cache_group_ids) * 0.5 > 8: return None",
        "if len(kv_cache_group_ids) % 8: return None",
        "if kv_cache_group_ids is kv_cache_group_ids: return None",
        "global groups",
        "import os",
        "while True: pass",
        "lookup = lambda: None",
        "with self: pass",
        "yield",
        "if (n := len(kv_cache_group_ids)) > 8: return None",
        "assert len(kv_cache_group_ids) < 8",
        "match block_hash:\n            case 1: return None",
        "try:\n            self.anything\n        except Exception:\n            return None",
        "try:\n            block_hash + 1\n        except BaseException:\n            return None",
        "for group_id in kv_cache_group_ids: pass",
    ],
)
def test_what_is_not_modelled_is_refused_with_its_place(statement: str) -> None:
    words = refused(statement)
    assert words.startswith("impl/pool.py:"), words


def test_an_engine_error_is_not_caught_by_the_method_that_is_executed() -> None:
    words = refused("try:\n            block_hash.anything\n        except Exception:\n            pass")
    assert "anything" in words


@pytest.mark.parametrize(
    ("method", "module", "right", "wrong"),
    [
        (LOOKUP, "pool", "    def get_cached_block", "    @cache\n    def get_cached_block"),
        (
            LOOKUP,
            "pool",
            "    def keys_of",
            "    def get_cached_block(self, block_hash):\n        return []\n\n    def keys_of",
        ),
        ("BlockPool.touch", "references", "def lend(", "any_foreign = print\n\n\ndef lend("),
        (
            "BlockPool.unpin_blocks",
            "references",
            "not_while_telling, own_block\n",
            "not_while_telling, listed as own_block\n",
        ),
        ("BlockPool.evict_blocks", "publish", "FULL = ", "drop_keys = FULL = "),
    ],
)
def test_a_name_that_does_not_mean_what_it_seems_is_refused(method: str, module: str, right: str, wrong: str) -> None:
    def source(name: str) -> str:
        text = shipped(name)
        assert name != module or text.count(right) == 1
        return text.replace(right, wrong) if name == module else text

    assert prove(METHODS[method], source).refused


def test_a_caller_s_list_must_stay_as_it_was() -> None:
    def source(module: str) -> str:
        begin = "    idle = []\n    try:\n"
        return shipped(module).replace(begin, f"    blocks.append(null_block)\n{begin}")

    assert not prove(METHODS["BlockPool.touch"], source).holds


def test_what_a_loop_sets_is_not_known_behind_it() -> None:
    def source(module: str) -> str:
        end = "                found.append(block)\n"
        text = shipped(module).replace("            found = []\n", "            found, block = [], None\n")
        return text.replace(end, f"{end}            if block is None:\n                return None\n")

    assert "Poison" in prove(METHODS[LOOKUP], source).refused


def test_a_loop_that_changes_what_its_invariant_leaves_out_is_refused() -> None:
    def source(module: str) -> str:
        line = "            if refs:\n"
        return shipped(module).replace(line, f"            block._num_tokens = 0\n{line}")

    proof = prove(METHODS["BlockPool.touch"], source)
    assert "changes tokens" in proof.refused
