"""Short `bitrawl` commands whose answer a page waits for: the server itself loads no model and does no long work."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from bitrawl.errors import BitrawlError
from bitrawl.web.words import Said, quoted, said

SECONDS = 60.0  # for one errand; judgement
AT_ONCE = 2
MOST_OUTPUT = 8 << 20  # bytes; judgement


class ErrandError(BitrawlError):
    """What the command said when it failed."""


class Errands:
    """Runs them, a few at a time, with limits."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._room = asyncio.Semaphore(AT_ONCE)

    async def run(
        self, arguments: Sequence[str], given: bytes = b"", *, seconds: float = SECONDS, module: str = "bitrawl"
    ) -> str:
        """Its output. Raises `ErrandError` with its last line if it fails or takes too long."""
        async with self._room:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", module, *arguments),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
            )
            try:
                out, err = await asyncio.wait_for(process.communicate(given), seconds)
            except TimeoutError:
                raise ErrandError(said("That took too long. Try with less.")) from None
            finally:
                if process.returncode is None:
                    with suppress(ProcessLookupError):
                        process.kill()
                    await process.wait()
        if process.returncode:
            raise ErrandError(_last_words(err))
        return out[:MOST_OUTPUT].decode("utf-8", "replace")


def _last_words(err: bytes) -> Said:
    lines = [line.strip() for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    return quoted(lines[-1]) if lines else said("That could not be done.")
