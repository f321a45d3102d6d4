"""Every public bug report that a block pool alone shows, with the law that names it. `pool_showing.py` says how."""

from blockpool.proofs.cases.bugs.pool_bugs_keys import KEY_BUGS
from blockpool.proofs.cases.bugs.pool_bugs_lending import LENDING_BUGS

POOL_BUGS = (*LENDING_BUGS, *KEY_BUGS)
