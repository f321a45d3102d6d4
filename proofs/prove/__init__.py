"""Proofs at every size: the pool machine by induction, the pointers of the free queue by running its own source."""
