"""What a KV-cache block pool promises, a pool that keeps it, and the proof."""
