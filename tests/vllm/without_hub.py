"""A pytest plug-in for vLLM's own tests: what they would fetch from a model hub, made by hand, and a CPU to run on.

The schedulers' tests read a model's configuration and never its weights: a few numbers are enough. Name this plug-in
before all others: the folder is chosen before anything is imported that reads it.
"""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

TEXT = {"torch_dtype": "float16", "vocab_size": 32064, "max_position_embeddings": 4096}

MODELS: dict[str, dict[str, dict[str, Any]]] = {
    "facebook/opt-125m": {
        "config.json": {
            **TEXT,
            "architectures": ["OPTForCausalLM"],
            "model_type": "opt",
            "hidden_size": 768,
            "ffn_dim": 3072,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
            "vocab_size": 50272,
            "max_position_embeddings": 2048,
            "word_embed_proj_dim": 768,
        }
    },
    "llava-hf/llava-1.5-7b-hf": {
        "config.json": {
            **TEXT,
            "architectures": ["LlavaForConditionalGeneration"],
            "model_type": "llava",
            "image_token_index": 32000,
            "text_config": {**TEXT, "architectures": ["LlamaForCausalLM"], "model_type": "llama"},
            "vision_config": {"model_type": "clip_vision_model", "image_size": 336, "patch_size": 14},
        }
    },
}


def make(folder: Path) -> None:
    """A cache of the hub, with the configurations of these models."""
    for model, files in MODELS.items():
        stored = folder / "hub" / f"models--{model.replace('/', '--')}"
        snapshot = stored / "snapshots" / ("0" * 40)
        snapshot.mkdir(parents=True)
        (stored / "refs").mkdir()
        (stored / "refs" / "main").write_text("0" * 40)
        for name, content in files.items():
            (snapshot / name).write_text(json.dumps(content))


_folder = tempfile.TemporaryDirectory()
make(Path(_folder.name))
os.environ |= {"HF_HOME": _folder.name, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}

from vllm.platforms import current_platform  # noqa: E402

if not current_platform.device_type:
    type(current_platform).device_type = "cpu"
