"""Wrong calls of a scheduler. Each is refused before anything has changed, in the managers and in the pools."""

from __future__ import annotations

from blockpool.impl.errors import Refusal


class ManagerError(Refusal, ValueError):
    """Root of the family; see BlockPoolError for `reason`, `law`, `remedy`, `call` and `detail`."""

    reason = "wrong call of a manager"


class GroupError(ManagerError):
    reason = "bad group"
    law = "a group has a kind, a block size that is a multiple of the hash unit, and a pool"
    remedy = "correct the GroupSpec, or pass one pool or one for each group, all with the same hash unit"


class UnknownRequestError(ManagerError):
    reason = "unknown request"
    law = "only a running request has tables"
    remedy = "admit it first, and do not use it after preempt, finish or abort"


class AlreadyRunningError(ManagerError):
    reason = "already running"
    law = "a request is admitted once"
    remedy = "use grow, or drop the request before admitting it again"


class ScheduledError(ManagerError):
    reason = "already scheduled"
    law = "a pass computes one chunk of a request"
    remedy = "commit the pass before growing the request"


class LengthError(ManagerError):
    reason = "bad length"
    law = "a chunk has at least one token, starts at what is computed or hit, and ends within the known tokens"
    remedy = "look at find_longest_hit or computed, and append tokens to the request before computing them"


class StillReadError(ManagerError):
    reason = "still read"
    law = "what a dropped request published in this pass is never written, so no other request may read it"
    remedy = "drop the requests that hit its blocks first"


class PinError(ManagerError):
    reason = "bad pin"
    law = "a pin is on a block of a running request's table, and is given back once"
    remedy = "pin an entry that is not null, and unpin what pin returned, once"
