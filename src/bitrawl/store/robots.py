"""What origins answered when they were asked for their rules: a resumed job does not ask again."""

from bitrawl.model import RobotsRecord, Unpacker, pack
from bitrawl.store.ledger import Ledger


class LedgerRobots:
    """A memory for `RobotsFetcher` that outlives the process."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._unpack: Unpacker[RobotsRecord] = Unpacker(RobotsRecord)

    def load(self, origin: str) -> RobotsRecord | None:
        """The last one saved for that origin."""
        row = self._ledger.connection.execute("SELECT record FROM robots WHERE origin = ?", (origin,)).fetchone()
        return self._unpack(row[0]) if row else None

    def save(self, record: RobotsRecord) -> None:
        """Replaces the one before."""
        with self._ledger.transaction():
            self._ledger.connection.execute(
                "INSERT OR REPLACE INTO robots VALUES (?, ?)", (record.origin, pack(record))
            )
