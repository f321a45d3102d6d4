"""Claims that no function of the spec bears: they compare it with `impl`, or ask whether it can be computed at all."""

REFINES = "impl_does_what_the_spec_allows"
"""The claim of refinement: every call, refused ones too, ends as the spec says, in a state that the spec knows."""

STARTS = "a_new_pool_is_in_the_first_state"
"""The claim that a pool of `impl` begins where the spec begins."""

DEFINED = "every_action_is_defined"
"""The claim that guard, answers and effect never fail; broken by an exception out of the spec."""

FOLLOWS = "the_managers_keep_every_rule"
"""The claim that the coordinator of `impl` does what the machine with requests does, move by move."""
