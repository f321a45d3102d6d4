"""The engine around vLLM's pool, of an installed release: its managers and its scheduler, without model or device."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import lcm
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from blockpool.proofs.cases import CaseError
from blockpool.proofs.systems.vllm.release import installed_release
from blockpool.proofs.systems.vllm.testbench import RELEASE, Lab, of_release

TOKENS = 256
"""No request is longer."""
QUIET = {"VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
MODEL = {
    "architectures": ["OPTForCausalLM"],
    "model_type": "opt",
    "torch_dtype": "float16",
    "hidden_size": 64,
    "ffn_dim": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
    "word_embed_proj_dim": 64,
    "vocab_size": 512,
    "max_position_embeddings": TOKENS,
}
"""A configuration is all that a scheduler reads of a model."""


class NoEngineError(CaseError):
    """There is no vLLM here, or another than the findings are about."""


@dataclass(frozen=True)
class Engine(Lab):
    """The pool of the installed release, and what stands around it."""

    def prompt(
        self, name: str, tokens: Iterable[int], unit: int, *, most: int = 2, full_report: bool = False, **more: Any
    ) -> Any:
        """A request as clients make them, with a hash for each `unit` of tokens."""
        extra = {"kv_cache_report_mode": "full"} if full_report else None
        params = _of("vllm.sampling_params").SamplingParams(max_tokens=most, ignore_eos=True, extra_args=extra)
        params.update_from_generation_config({}, eos_token_id=-1)
        hasher = _of("vllm.v1.core.kv_cache_utils").get_request_block_hasher(unit, _of("vllm.utils.hashing").sha256)
        return _of("vllm.v1.request").Request(name, list(tokens), params, None, block_hasher=hasher, **more)

    def attention(self, size: int, window: int | None = None) -> Any:
        """What layers of attention keep, in blocks of so many tokens."""
        numbers = {"block_size": size, "num_kv_heads": 1, "head_size": 1, "dtype": _of("torch").float32}
        if window is None:
            return _of("vllm.v1.kv_cache_interface").FullAttentionSpec(**numbers)
        return _of("vllm.v1.kv_cache_interface").SlidingWindowSpec(**numbers, sliding_window=window)

    def recurrent(self, size: int) -> Any:
        """What recurrent layers keep: a state at the end of each block."""
        states: dict[str, Any] = {"shapes": ((1,),), "dtypes": (_of("torch").float32,), "mamba_cache_mode": "align"}
        return _of("vllm.v1.kv_cache_interface").MambaSpec(block_size=size, **states)

    def metrics(self) -> Any:
        """What a pool tells of the life of its blocks, all of them."""
        return _of("vllm.v1.core.kv_cache_metrics").KVCacheMetricsCollector(1.0)

    def manager(self, groups: Sequence[Any], unit: int, *, ranks: int = 1) -> Any:
        """A cache manager of 31 blocks, with events. `ranks`: those of decode context parallelism."""
        return _of("vllm.v1.core.kv_cache_manager").KVCacheManager(
            _layout(groups, 31),
            max_model_len=TOKENS,
            scheduler_block_size=lcm(*(group.block_size for group in groups)) * ranks,
            hash_block_size=unit,
            enable_kv_cache_events=True,
            dcp_world_size=ranks,
        )

    def manager_with_host(self, size: int) -> Any:
        """A cache manager with two pools: one of the device, and one of the host that writes into its events."""
        interface, source = _of("vllm.v1.kv_cache_interface"), self.attention(size)
        role, page = interface.KVCacheGroupRole, {"block_size": size, "page_size": size * 4}
        hot = interface.HiSparseHotSpec(**page, blocks_per_request=2)
        group, aside = interface.KVCacheGroupSpec, {"enable_kv_transfer": False}
        groups = [
            group(["source"], source, role=role.HISPARSE_SOURCE, host_resident=True),
            group(["indexer"], source, role=role.HISPARSE_INDEXER, **aside),
            group(["resident"], interface.HiSparseResidentSpec(**page), **aside),
            group(["hot"], hot, **aside),
        ]
        layout = interface.KVCacheConfig(32, [], groups, hisparse_host_num_blocks=16)
        made = _of("vllm.v1.core.kv_cache_manager").KVCacheManager(
            layout, TOKENS, size, hash_block_size=size, enable_kv_cache_events=True
        )
        _of("vllm.v1.hisparse.coordinator").get_hisparse_coordinator(made)
        return made

    def scheduler(self, groups: Sequence[Any], blocks: int, *, policy: str = "fcfs", chunk: int = 8) -> Any:
        """A scheduler of groups with blocks of one size, that computes at most `chunk` tokens of a prompt in a pass."""
        config, layout, size = _of("vllm.config"), _layout(groups, blocks), groups[0].block_size
        cache = config.CacheConfig(block_size=size, enable_prefix_caching=True)
        passes = config.SchedulerConfig(
            max_model_len=TOKENS,
            max_num_batched_tokens=TOKENS,
            long_prefill_token_threshold=chunk,
            long_prefill_token_threshold_adaptive=False,
            is_encoder_decoder=False,
            policy=policy,
            watermark=0.0,
            scheduler_reserve_full_isl=False,
        )
        with TemporaryDirectory(prefix="blockpool-model-") as folder:
            (Path(folder) / "config.json").write_text(json.dumps(MODEL), encoding="utf-8")
            whole = config.VllmConfig(
                scheduler_config=passes,
                model_config=config.ModelConfig(model=folder, skip_tokenizer_init=True),
                cache_config=cache,
                device_config=config.DeviceConfig(device="cpu"),
            )
        _of("vllm.v1.core.single_type_kv_cache_manager").register_all_kvcache_specs(whole)
        cache.num_gpu_blocks = layout.num_blocks  # measured on the device, later
        structured = _of("vllm.v1.structured_output").StructuredOutputManager(whole)
        return _of("vllm.v1.core.sched.scheduler").Scheduler(whole, layout, structured, size, log_stats=False)

    def finish(self, scheduler: Any, scheduled: Any) -> None:
        """The pass has run: a token comes for each request of which all that is known is computed."""
        names = list(scheduled.num_scheduled_tokens)
        known = [scheduler.requests.get(name) for name in names]  # None: it was dropped meanwhile
        complete = [one is not None and one.num_computed_tokens >= one.num_tokens for one in known]
        places = {name: place for place, name in enumerate(names)}
        tokens = [[0] if is_complete else [] for is_complete in complete]
        scheduler.update_from_output(scheduled, _of("vllm.v1.outputs").ModelRunnerOutput(names, places, tokens))

    def abort(self, scheduler: Any, request: Any) -> None:
        """The client wants no more of it."""
        scheduler.finish_requests(request.request_id, _of("vllm.v1.request").RequestStatus.FINISHED_ABORTED)


def _layout(groups: Sequence[Any], blocks: int) -> Any:
    """A cache of so many blocks that can be lent, shared by these groups."""
    interface = _of("vllm.v1.kv_cache_interface")
    layers = [interface.KVCacheGroupSpec([f"layer {number}"], group) for number, group in enumerate(groups)]
    return interface.KVCacheConfig(num_blocks=blocks + 1, kv_cache_tensors=[], kv_cache_groups=layers)


def installed() -> Engine:
    """The engine of this environment. Raises NoEngineError if it is not of the release that the findings are about."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        release = installed_release()
    except ImportError as missing:
        raise NoEngineError(f"{missing}; the findings need vLLM {RELEASE}: pip install '.[vllm]'") from missing
    if release.version.partition("+")[0] != RELEASE:
        raise NoEngineError(f"the findings are about vLLM {RELEASE}, this is {release.version}")
    release.utils.init_none_hash(_of("vllm.utils.hashing").sha256)
    return of_release(release, Engine)


def _of(module: str) -> Any:
    return import_module(module)
