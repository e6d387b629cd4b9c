"""A job's life: it is described, run, mined, exported, merged and reported. The wiring alone names implementations.

This is the door for `cli`, `web`, `cluster` and `aio`: they import what stands here, and no module of the room.
"""

from typing import TYPE_CHECKING

from bitrawl.doors import door

if TYPE_CHECKING:
    from bitrawl.archive.warc_split import partition
    from bitrawl.job.bootstrapping import (
        BootstrapFolder,
        BootstrapProgress,
        BootstrapRequest,
        BootstrapStep,
        BootstrapSummary,
        bootstrap,
        endpoint,
    )
    from bitrawl.job.corpora import CorpusStatus
    from bitrawl.job.crawl_wiring import WiredCrawl
    from bitrawl.job.described import check, described_job
    from bitrawl.job.exporting import asked
    from bitrawl.job.fetching import FetchPolicy, SystemClock
    from bitrawl.job.folder_check import Checked, Condition
    from bitrawl.job.live_facts import Sampler
    from bitrawl.job.opened import (
        MergeResult,
        OpenedCopy,
        OpenedJob,
        OpenedMerge,
        OpenedRun,
        OpenedSearch,
        StartOver,
        open_folder,
    )
    from bitrawl.job.pages import loose_pages
    from bitrawl.job.running import crawl, mine, mine_again, preview
    from bitrawl.job.site_checks import SiteQuestion, check_sites
    from bitrawl.job.site_search import build_index, discover, open_backlinks
    from bitrawl.job.topics import segment_texts, topic_pages
    from bitrawl.store.folder import JobFolder
    from bitrawl.store.folder_kinds import FolderKind, kind_of
else:
    __getattr__ = door(__name__)
