"""Serves the bundled web in the foreground: `python -m bitrawl.demo --port 8080`."""

import argparse
import asyncio
import contextlib
import sys

from bitrawl.demo import seeds, serve


async def _forever(port: int) -> None:
    async with serve(port) as served:
        lines = [
            f"The bundled web is served on {served.proxy}; Ctrl-C ends it.",
            f"In a browser: http://{served.web.hosts[0]}.localhost:{served.port}/",
            f"For any client: curl --proxy {served.proxy} {seeds()[0]}",
            "Seeds:",
            *(f"  {seed}" for seed in seeds()),
        ]
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bitrawl.demo", description="Serve the bundled web on loopback.")
    parser.add_argument("--port", type=int, default=8080, help="0 takes a free one")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_forever(parser.parse_args().port))
