"""The rules that origins answered with last."""

from bitrawl.model import RobotsRecord, pack
from bitrawl.store.database import Blobs
from bitrawl.store.ledger import Ledger


class LedgerRobots:
    """A memory for `RobotsFetcher` that outlives the process."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._unpack: Blobs[RobotsRecord] = Blobs(RobotsRecord, ledger.path)

    def load(self, origin: str) -> RobotsRecord | None:
        row = self._ledger.database.one("SELECT record FROM robots WHERE origin = ?", (origin,))
        return self._unpack(row[0]) if row else None

    def save(self, record: RobotsRecord) -> None:
        with self._ledger.transaction():
            self._ledger.database.query("INSERT OR REPLACE INTO robots VALUES (?, ?)", (record.origin, pack(record)))
