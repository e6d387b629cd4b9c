"""Where bundles are mined: here one after the other, in processes of this machine, or on a Dask cluster (extra `cluster`).

Dask only places the work: what is done stands in files. So it keeps no results (`release`), and a task that it repeats
because a worker died finds `done.json`, or what is left in scratch. A task is a thread of a worker that waits for a process
of its own; Dask cannot end a thread, so the task looks now and then whether Dask still wants it.
"""

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, NamedTuple, Protocol, cast

from bitrawl.cluster.bundle_process import BundleOrder, Wanted
from bitrawl.cluster.bundles import MachineFault, Outcome
from bitrawl.errors import ClusterError, ConfigError, UnwantedError
from bitrawl.packages import extra
from bitrawl.show import counted
from bitrawl.version import __version__

# Seconds. A scheduler that is gone is noticed after LOOK_EVERY and twice ANSWER_SECONDS at most, so that
# the driver ends within a minute.
CONNECT_SECONDS = 30  # for the scheduler to answer at first
LOOK_EVERY = 5.0  # between two looks at the scheduler, while nothing ends
ANSWER_SECONDS = 5.0  # for the scheduler to say how many workers it has
RECONNECT_SECONDS = 35.0  # for a scheduler that is gone to come back
CLOSE_SECONDS = 3.0  # to say goodbye to a scheduler
SILENT_SECONDS = 9.5  # without workers or scheduler before it is said: after ten, with the time to say it
# Measured beforehand: the profiler costs CPU on every worker, and a worker that holds a second bundle delays it. With few
# bundles Dask hands out all of them at once all the same; four of 5, 0.1, 5 and 0.1 s took two workers 10 s without stealing,
# and 6.8 s with it. A driver that waits takes 3.8 % of a core with Dask's usual ticks, and 0.6 % with these (2026-11).
SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.worker-saturation": 1.0,
    "distributed.scheduler.work-stealing": True,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s",
}


Task = Callable[[BundleOrder, Wanted], Outcome]


class Ended(NamedTuple):
    """An order, and what came of it."""

    order: BundleOrder
    outcome: Outcome


class Executor(Protocol):
    """Does orders. What is not finished when it is closed is given up."""

    def submit(self, order: BundleOrder) -> None:
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
        self._waiting: deque[BundleOrder] = deque()

    def submit(self, order: BundleOrder) -> None:
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
        self._orders: dict[Future[Outcome], BundleOrder] = {}
        self._closing = threading.Event()

    def submit(self, order: BundleOrder) -> None:
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


class DaskExecutor:
    """As `Executor`. `workers` asks for a cluster of so many processes on this machine, and `address` is not used."""

    def __init__(self, task: Task, address: str = "", workers: int = 0) -> None:
        distributed = _distributed()
        import dask  # noqa: PLC0415 - it is there if distributed is

        dask.config.set(SETTINGS)
        for name in ("distributed", "distributed.client"):  # What is lost is our business, and we tell it.
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._distributed = distributed
        self._task = task
        self._cluster = _local(workers) if workers else None
        self._address = str(self._cluster.scheduler_address) if self._cluster else address
        self._orders: dict[Any, BundleOrder] = {}
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._submitted = 0
        self._idle: _Idle | None = None
        self._manned_at = time.monotonic()  # when we last saw a worker
        self._client, self._scheduler = self._connected(CONNECT_SECONDS)

    @property
    def dashboard(self) -> str:
        """The address of Dask's own page, where work and machines can be watched."""
        return str(self._client.dashboard_link)

    def workers(self) -> int:
        """Orders that can be done at once, now. Raises `ClusterError` if the scheduler is gone for good."""
        while (workers := self._counted()) is None:
            self._reconnect()
        if workers:
            self._idle, self._manned_at = None, time.monotonic()
        elif self._idle is None:
            remedy = f"dask worker {self._address} --nthreads 1 --memory-limit 0"
            self._idle = _Idle(f"The Dask cluster at {self._address} has no worker", self._manned_at, remedy)
        return workers

    def waiting(self) -> str:
        idle = self._idle
        seconds = time.monotonic() - idle.since if idle else 0.0
        if idle is None or seconds < SILENT_SECONDS:
            return ""
        orders = f", with {counted(len(self._orders), 'bundle')} to do" if self._orders else ""
        return f"{idle.what}: waiting for {seconds:.0f} s{orders}. To start one: {idle.remedy}"

    def submit(self, order: BundleOrder) -> None:
        if self._client.status != "running":
            self.workers()
        self._submitted += 1
        key = f"bitrawl-{order.run}-{order.bundle.name}-{self._submitted}"
        future = self._client.submit(_on_worker, self._task, order, __version__, key=key, pure=False)
        self._orders[future] = order
        future.add_done_callback(self._ended.put)

    def ended(self) -> Ended:
        while True:
            try:
                future = self._ended.get(timeout=LOOK_EVERY)
            except queue.Empty:
                self.workers()
                continue
            outcome = self._outcome(future)
            if outcome is None:
                self.workers()  # If Dask has cancelled it because the scheduler is lost, this gives it anew.
            if future not in self._orders:
                continue  # It was given to a scheduler that is gone.
            order = self._orders.pop(future)
            future.release()  # Else a result on a worker that dies is computed again.
            if outcome is not None:
                return Ended(order, outcome)
            self.submit(order)

    def close(self) -> None:
        for future in self._orders:
            future.release()
        self._hang_up(self._client)
        if self._cluster is not None:
            self._cluster.close()

    def _counted(self) -> int | None:
        """None if our scheduler is gone. It is asked twice, because it may be busy."""
        for _ in range(2):
            if self._client.status != "running":
                return None
            with suppress(OSError, self._distributed.TimeoutError):
                name, workers = self._client.sync(_asked, self._client.scheduler, callback_timeout=ANSWER_SECONDS)
                return int(workers) if name == self._scheduler else None
        return None

    def _outcome(self, future: Any) -> Outcome | None:
        """None if Dask did not want it any more."""
        try:
            return cast("Outcome", future.result())
        except self._distributed.KilledWorker:
            return MachineFault("the Dask workers that mined it died, several of them one after the other", killed=True)
        except (UnwantedError, self._distributed.CancelledError):
            return None
        except Exception as error:  # noqa: BLE001 - a worker is another machine, with other packages
            return MachineFault(f"a Dask worker could not mine it: {type(error).__name__}: {error}")

    def _connected(self, patience: float) -> tuple[Any, str]:
        """A new client, and what its scheduler calls itself."""
        where = self._cluster or self._address
        try:
            client = self._distributed.Client(where, timeout=patience, set_as_default=False)
            scheduler, _ = client.sync(_asked, client.scheduler, callback_timeout=patience)
            self._check_versions(client)
        except (OSError, ValueError, self._distributed.TimeoutError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {self._address}: {error}; start one with: dask scheduler"
            ) from error
        return client, scheduler

    def _reconnect(self) -> None:
        """Dask's own way leaves a driver waiting for ever if the scheduler said goodbye. All orders are given anew."""
        since = time.monotonic()
        self._idle = _Idle(f"The Dask scheduler at {self._address} does not answer", since, "dask scheduler")
        self._hang_up(self._client)
        while (left := since + RECONNECT_SECONDS - time.monotonic()) > 0:
            try:
                self._client, self._scheduler = self._connected(min(left, ANSWER_SECONDS))
            except ClusterError:
                time.sleep(min(1.0, left))
            else:
                break
        else:
            raise ClusterError(
                f"the Dask scheduler at {self._address} is gone: it did not answer for {RECONNECT_SECONDS:.0f} s."
                " Nothing is lost. Start it and its workers again, then run the same command"
            )
        self._idle = None
        orders, self._orders = list(self._orders.values()), {}
        for order in orders:
            self.submit(order)

    def _hang_up(self, client: Any) -> None:
        with suppress(OSError, self._distributed.TimeoutError):  # A scheduler that is gone does not answer.
            client.close(CLOSE_SECONDS)

    def _check_versions(self, client: Any) -> None:
        """Raise `ConfigError` if a worker has another bitrawl, or none. Workers that come later look themselves."""
        for worker, version in client.run(_version, on_error="return").items():
            if version != __version__:
                self._hang_up(client)
                raise ConfigError(_other_version(worker, version))


class _Idle(NamedTuple):
    """Why nothing can be done."""

    what: str
    since: float
    remedy: str


def _distributed() -> Any:
    with extra("cluster", "a Dask cluster needs distributed"):
        import distributed  # noqa: PLC0415 - an extra
    return distributed


async def _asked(scheduler: Any) -> tuple[str, int]:
    """What a scheduler calls itself, which another one after it does not, and how many orders its workers do at once."""
    identity = await scheduler.identity()
    return str(identity["id"]), sum(int(worker["nthreads"]) for worker in identity["workers"].values())


def _other_version(worker: str, found: object, needed: str = __version__) -> str:
    """`found` is a version, or the error that came in its place."""
    has = f"bitrawl {found}" if isinstance(found, str) else f"no bitrawl that works ({type(found).__name__}: {found})"
    return f"the Dask worker {worker} has {has}; install bitrawl {needed} there, as on this machine"


def _local(workers: int) -> Any:
    return _distributed().LocalCluster(
        n_workers=workers, threads_per_worker=1, memory_limit=0, processes=True, dashboard_address="127.0.0.1:0"
    )


# What follows runs on a worker.


def _version() -> str:
    return __version__


def _on_worker(task: Task, order: BundleOrder, version: str) -> Outcome:
    worker = _distributed().get_worker()
    if version != __version__:
        return MachineFault(_other_version(worker.address, __version__, version))
    return task(order, _wanted(worker, worker.get_current_task()))


def _wanted(worker: Any, key: str) -> Wanted:
    """False once Dask has cancelled the task: its driver is gone, or another worker has it."""

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state == "executing" and worker.status.name == "running"

    return wanted
