"""Cases: bugs that pools and engines had, what an article says of vLLM's pool, and what shows each to be so."""


class CaseError(Exception):
    """What a page is made of does not fit together. It says what, and what to run."""
