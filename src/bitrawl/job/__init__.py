"""A job's life: it is described, run, mined, exported, merged and reported. The wiring alone names implementations.

This is the door for `cli`, `web`, `cluster` and `aio`: they import what stands here, and no module of the room.
"""

from typing import TYPE_CHECKING

from bitrawl.doors import door

if TYPE_CHECKING:
    from bitrawl.job.bootstrapping import (
        BootstrapProgress,
        BootstrapStep,
        BootstrapSummary,
        read_bootstrap,
        read_found,
        read_progress,
    )
    from bitrawl.job.crawl_wiring import check
    from bitrawl.job.fetching import SystemClock
    from bitrawl.job.live_facts import Live, Sampler
    from bitrawl.job.opened import MergeResult, OpenedJob
    from bitrawl.job.reporting import found_so_far, gather, is_stale, sites_visited, status
    from bitrawl.store.folder import JobFolder
    from bitrawl.store.folder_kinds import FolderKind, kind_of
else:
    __getattr__ = door(__name__)
