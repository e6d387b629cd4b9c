"""Which links were written recently. Most links of a page were on the page before, and need not be written again."""

SIZE = 50_000  # links in each half of the memory, about 5 MB; judgement


class RecentLinks:
    """The links that were written last, each with its score."""

    def __init__(self) -> None:
        # The key is hash(url), which differs between processes, so it is never stored.
        self._young: dict[int, float] = {}
        self._old: dict[int, float] = {}

    def has(self, url: str, score: float) -> bool:
        """Whether the link has been written with this score or a higher one. From now on it counts as written."""
        key = hash(url)
        known = self._young.get(key, self._old.get(key, -1.0))
        if len(self._young) >= SIZE:
            self._young, self._old = {}, self._young
        self._young[key] = max(score, known)
        return known >= score

    def lower(self, url: str, score: float) -> None:
        """The link now has this score, if it had a higher one. The next higher score must be written again."""
        key = hash(url)
        if self._young.get(key, self._old.get(key, -1.0)) > score:
            self._young[key] = score

    def forget(self) -> None:
        """Assume that nothing has been written."""
        self._young, self._old = {}, {}
