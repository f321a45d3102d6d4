"""Small users of `BlockPool`: block tables of requests, one manager for each kind of layer group, and who drives them.

Reading order: `groups` says what kinds of groups there are; `prefix` finds published blocks; `base` is what all
managers share, and `full`, `window`, `ring` and `state` what each kind adds; `hits` is the prefix on which all groups
agree; `current_pass` is what a pass leaves to do; `coordinator` is the interface that a scheduler uses; `errors` says
what is refused.
"""

from .base import GroupManager
from .coordinator import Coordinator
from .errors import (
    AlreadyRunningError,
    GroupError,
    LengthError,
    ManagerError,
    PinError,
    ScheduledError,
    StillReadError,
    UnknownRequestError,
)
from .full import FullAttentionManager
from .groups import GroupSpec, Kind
from .hits import Hit
from .ring import RingManager
from .state import StateManager
from .window import SlidingWindowManager

__all__ = [
    "AlreadyRunningError",
    "Coordinator",
    "FullAttentionManager",
    "GroupError",
    "GroupManager",
    "GroupSpec",
    "Hit",
    "Kind",
    "LengthError",
    "ManagerError",
    "PinError",
    "RingManager",
    "ScheduledError",
    "SlidingWindowManager",
    "StateManager",
    "StillReadError",
    "UnknownRequestError",
]
