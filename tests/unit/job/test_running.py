"""What a job says about itself while it crawls: the host that it waits for, and what it mines."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bitrawl.endings import Doing, HostRest, MiningStep
from bitrawl.job.running import _Mining, rest_observer
from bitrawl.store.ledger import Ledger


def test_a_long_rest_of_a_host_is_written_down_until_it_is_over(tmp_path: Path):
    pauses: list[tuple[str, float] | None] = []
    frontier = SimpleNamespace(pause=pauses.pop)
    crawl: Any = SimpleNamespace(frontier=frontier, clock=SimpleNamespace(date=lambda: 1000.0))
    visit: Any = None
    with Ledger(tmp_path / "job.sqlite") as ledger:
        observe = rest_observer(crawl, ledger)
        for pause, resting in (
            (("a.org", 1.0), None),  # as after every visit
            (("a.org", 60.0), HostRest("a.org", 1060.0)),
            (("b.org", 30.0), HostRest("b.org", 1030.0)),
            (None, None),
        ):
            pauses.append(pause)
            observe(visit)
            assert ledger.last_run().resting == resting


async def test_nothing_is_said_to_be_mined_while_no_site_is_due():
    said: list[Doing | None] = []

    class Mining(_Mining):
        """Mines a site at once."""

        def __init__(self) -> None:
            self.due = asyncio.Queue()
            self._waiting = set()
            self._unwritten = False

        async def _mine(self, site: str) -> None:
            self._tell(Doing(MiningStep.ALIGNING, site, "en-fr pairs", 74, 74))

        def _tell(self, doing: Doing | None) -> None:
            said.append(doing)
            if doing is None:
                self.due.put_nowait("")

    mining = Mining()
    mining.due.put_nowait("a.org")
    await mining.mine_due()
    assert [doing and doing.site for doing in said] == ["a.org", None]
