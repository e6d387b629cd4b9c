"""A job's life: it is described, run, mined, exported, merged and reported. The wiring alone names implementations.

This is the door for `cli`, `web`, `cluster` and `aio`: they import what stands here, and no module of the room.
"""

from typing import TYPE_CHECKING

from bitrawl.doors import door

if TYPE_CHECKING:
    from bitrawl.job.exporting import asked
    from bitrawl.job.opened import MergeResult, OpenedJob
    from bitrawl.job.reporting import status
else:
    __getattr__ = door(__name__)
