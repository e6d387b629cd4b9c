"""What the peers of `lab.bench.crawl` keep of a page, as users would write it: main text, language, and the answer as WARC."""

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Self

import py3langid
import trafilatura
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter


class Keeper:
    """Writes `crawl.warc.gz` into a folder, from `with` to the end of it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / "crawl.warc.gz").open("wb")
        self._archive = WARCWriter(self._file, gzip=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self._file.close()

    def keep(self, url: str, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> dict[str, str]:
        """Archive the answer; the row that the crawler stores."""
        head = StatusAndHeaders(str(status), list(headers), protocol="HTTP/1.1")
        self._archive.write_record(self._archive.create_warc_record(url, "response", BytesIO(body), http_headers=head))
        text = trafilatura.extract(body, url=url, fast=True) or ""
        return {"url": url, "language": py3langid.classify(text)[0], "text": text}
