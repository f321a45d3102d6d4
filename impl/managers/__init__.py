"""Small users of `BlockPool`: block tables of requests, one manager for each kind of layer group, and who drives them.

Reading order: `groups` says what kinds of groups there are; `prefix` finds published blocks; `base` is what all
managers share, and `full`, `window`, `ring` and `state` what each kind adds; `hits` is the prefix on which all groups
agree; `current_pass` is what a pass leaves to do; `coordinator` is the interface that a scheduler uses; `errors` says
what is refused.
"""

from blockpool.impl.managers.base import GroupManager
from blockpool.impl.managers.coordinator import Coordinator
from blockpool.impl.managers.errors import (
    AlreadyRunningError,
    GroupError,
    LengthError,
    ManagerError,
    PinError,
    ScheduledError,
    StillReadError,
    UnknownRequestError,
)
from blockpool.impl.managers.full import FullAttentionManager
from blockpool.impl.managers.groups import GroupSpec, Kind
from blockpool.impl.managers.hits import Hit
from blockpool.impl.managers.ring import RingManager
from blockpool.impl.managers.state import StateManager
from blockpool.impl.managers.window import SlidingWindowManager

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
