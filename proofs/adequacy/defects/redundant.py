"""Claims that kill no defect alone, and why they are kept."""

REDUNDANT: dict[str, str] = {
    "every_block_is_free_or_held": "follows from the claims on counts and queue; it is the number schedulers rely on",
    "only_lending_calls_change_the_queue": "another order breaks survivors_keep_their_order, other blocks an "
    "invariant; it names the call that was not allowed to",
    "each_step_is_a_step_of_the_ledger": "the promise at its highest level: its breaks show in the pool's claims, too",
    "when_all_is_quiet_every_block_is_free": "follows from every_reference_is_accounted_for and the pool's invariants; "
    "it is what an operator sees",
}
