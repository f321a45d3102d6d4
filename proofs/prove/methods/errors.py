"""How a path may end otherwise than by returning. None of these is an `Exception`: what is executed catches those."""


class UnsupportedError(BaseException):
    """Something that is not modelled: nothing is known, so nothing is proved."""


class Stop(BaseException):
    """This path has been followed far enough: what comes next is followed by another one."""


class Raised(BaseException):
    """What the method raises, on purpose or because it met something that is no block."""

    def __init__(self, kind: type[BaseException]) -> None:
        super().__init__(kind.__name__)
        self.kind = kind
