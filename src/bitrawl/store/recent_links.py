"""Which links were written lately: most links of a page are those of the page before, and need not be written again."""

SIZE = 50_000  # links in each half of the memory, about 5 MB; judgement


class RecentLinks:
    """The last links that were written, each with its score."""

    def __init__(self) -> None:
        # By hash(url), which differs from process to process: it is never stored.
        self._young: dict[int, float] = {}
        self._old: dict[int, float] = {}

    def has(self, url: str, score: float) -> bool:
        """Whether the link has been written with this score or a higher one; from now on it has been."""
        key = hash(url)
        known = self._young.get(key, self._old.get(key, -1.0))
        if len(self._young) >= SIZE:
            self._young, self._old = {}, self._young
        self._young[key] = max(score, known)
        return known >= score

    def lower(self, url: str, score: float) -> None:
        """The link now has this score, if it had a higher one: the next higher score has to be written again."""
        key = hash(url)
        if self._young.get(key, self._old.get(key, -1.0)) > score:
            self._young[key] = score

    def forget(self) -> None:
        """Nothing is known to be written."""
        self._young, self._old = {}, {}
