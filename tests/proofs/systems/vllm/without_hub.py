"""A pytest plug-in for vLLM's own tests: what they would fetch from a model hub, made by hand, and a CPU to run on.

The schedulers' tests read a model's configuration and never its weights: a few numbers are enough. Name this plug-in
before all others: the folder is chosen before anything is imported that reads it.
"""

import json
import os
import tempfile
from pathlib import Path

MODEL = "facebook/opt-125m"
CONFIGURATION = {
    "architectures": ["OPTForCausalLM"],
    "model_type": "opt",
    "torch_dtype": "float16",
    "hidden_size": 768,
    "ffn_dim": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "vocab_size": 50272,
    "max_position_embeddings": 2048,
    "word_embed_proj_dim": 768,
}


def make_cache(folder: Path) -> None:
    """A cache of the hub, with the configuration of this one model."""
    stored, commit = folder / "hub" / f"models--{MODEL.replace('/', '--')}", "0" * 40
    (stored / "snapshots" / commit).mkdir(parents=True)
    (stored / "snapshots" / commit / "config.json").write_text(json.dumps(CONFIGURATION))
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text(commit)


_folder = tempfile.TemporaryDirectory()
make_cache(Path(_folder.name))
os.environ |= {"HF_HOME": _folder.name, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}

from vllm.platforms import current_platform  # noqa: E402

if not current_platform.device_type:
    type(current_platform).device_type = "cpu"
