"""Child processes that are none: what they would answer is answered in this process."""

import pickle
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Self

import pytest

from bitrawl import children
from bitrawl.errors import BitrawlError
from bitrawl.model_files import models_folder
from bitrawl.page import sandbox
from bitrawl.process import Failure, FailureKind, Limits, Report, Service


@contextmanager
def inline_children() -> Iterator[None]:
    """Until it is left, jobs of this process read pages and mine sites here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(children, "Child", InlineChild)
        yield


class InlineChild:
    """`children.Child` for requests that are trusted: nothing limits its time and its memory.

    A child takes most of a second to load its models. Here they are loaded once for all readers of the same languages.
    """

    usable = True

    def __init__(self, service: Service) -> None:
        self._service = service

    @classmethod
    async def start(cls, factory: Callable[[], Service], _limits: Limits) -> Self:
        order = pickle.dumps(factory)
        is_reader = getattr(factory, "func", None) is sandbox._reading
        return cls(_reader(order, models_folder()) if is_reader else pickle.loads(order)())

    async def ask(self, request: bytes, report: Report = lambda _text: None) -> bytes | Failure:
        try:
            return self._service(request, report)
        except BitrawlError:
            raise
        except Exception as error:  # noqa: BLE001 - as in a child
            return Failure(FailureKind.ERROR, f"{type(error).__name__}: {error}"[:300], traceback.format_exc())

    def end(self) -> None:
        pass


@cache
def _reader(order: bytes, _models: str) -> Service:
    return pickle.loads(order)()
