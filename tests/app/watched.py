"""What the tabs of a browser ask for, and what they write to the console."""

import logging

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request

_log = logging.getLogger(__name__)
PATIENCE = 60_000.0  # milliseconds; a busy machine is slow, and nothing here waits for long on an idle one
QUIET = {"reduced_motion": "reduce"}  # a dot that pulses in many tabs takes all of a processor


class Watched:
    """From the moment on that it is made."""

    def __init__(self, context: BrowserContext, origin: str) -> None:
        self._origin = origin
        self.asked: list[str] = []  # addresses, in order
        self.loads: list[str] = []  # of whole pages
        self.foreign: list[str] = []  # requests to anywhere else
        self.said: list[str] = []  # console messages and errors of scripts
        context.on("request", self._ask)
        context.on("console", self._say)
        context.on("weberror", lambda error: self.said.append(str(error.error)))
        context.on("dialog", lambda dialog: dialog.accept())

    def expect_said(self, *parts: str) -> None:
        """All that was said so far has one of these in it. The rest of the test may say nothing more."""
        unexpected = [message for message in self.said if not any(part in message for part in parts)]
        assert unexpected == []
        self.said.clear()

    def _ask(self, request: Request) -> None:
        self.asked.append(request.url)
        if request.is_navigation_request():
            self.loads.append(request.url)
        if not request.url.startswith((f"{self._origin}/", "data:")):
            self.foreign.append(request.url)

    def _say(self, message: ConsoleMessage) -> None:
        self.said.append(message.text)
        _log.warning("%s", message.text)  # pytest shows it if the test fails: for instance, what the server answered


def scrolls_sideways(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))
