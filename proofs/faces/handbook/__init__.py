"""The handbook: pages made of the objects that are checked, so that they cannot say anything else."""


class HandbookError(Exception):
    """A page cannot be made: what it is made of does not fit together. It says what, and what to run."""
