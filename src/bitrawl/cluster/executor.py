"""Where bundles are mined: here one after the other, in processes of this machine, or on a Dask cluster."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import NamedTuple, Protocol

from bitrawl.cluster.mining import Order, Wanted
from bitrawl.cluster.parts import Outcome

Task = Callable[[Order, Wanted], Outcome]


class Ended(NamedTuple):
    """An order, and what came of it."""

    order: Order
    outcome: Outcome


class Executor(Protocol):
    """Does orders. What is not finished when it is closed is given up."""

    def submit(self, order: Order) -> None:
        """Do it when a worker is free. Returns at once."""

    def ended(self) -> Ended:
        """Wait for the next one to end. Ask only if one is under way."""

    def waiting(self) -> str:
        """Why nothing is done, if nobody is there to do it; may be asked from another thread."""

    def close(self) -> None:
        """Give up what is under way, and leave no process behind."""


class InlineExecutor:
    """One order after the other, when somebody waits for it."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._waiting: deque[Order] = deque()

    def submit(self, order: Order) -> None:
        self._waiting.append(order)

    def ended(self) -> Ended:
        order = self._waiting.popleft()
        return Ended(order, self._task(order, lambda: True))

    def waiting(self) -> str:
        return ""

    def close(self) -> None:
        self._waiting.clear()


class ProcessExecutor:
    """Several orders at once. A thread waits for each; the work is done in the process that the task starts."""

    def __init__(self, task: Task, workers: int) -> None:
        self._task = task
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="bundle")
        self._orders: dict[Future[Outcome], Order] = {}
        self._closing = threading.Event()

    def submit(self, order: Order) -> None:
        future = self._pool.submit(self._task, order, lambda: not self._closing.is_set())
        self._orders[future] = order

    def ended(self) -> Ended:
        future = wait(self._orders, return_when=FIRST_COMPLETED).done.pop()
        return Ended(self._orders.pop(future), future.result())

    def waiting(self) -> str:
        return ""

    def close(self) -> None:
        self._closing.set()
        self._pool.shutdown(cancel_futures=True)
