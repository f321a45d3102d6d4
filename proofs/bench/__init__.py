"""Speed of block pools against each other: the same calls, the same results, ratios of times in one process."""
