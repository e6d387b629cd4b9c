"""Bundles on a Dask cluster (extra `cluster`): one that runs somewhere, or one of a few processes here.

Dask only places the work: what is done stands in files. So it keeps no results (`release`), and a task that it repeats
because a worker died finds `done.json`, or what is left in scratch. A task is a thread of a worker that waits for a process
of its own; Dask cannot end a thread, so the task looks now and then whether Dask still wants it.
"""

import logging
from typing import Any, cast

from bitrawl.cluster.executor import Ended, Task
from bitrawl.cluster.mining import Order, Wanted
from bitrawl.cluster.parts import Died, Fault, Outcome
from bitrawl.errors import ConfigError, UnwantedError
from bitrawl.version import __version__

CONNECT_SECONDS = 30  # for the scheduler to answer; judgement
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


class DaskExecutor:
    """As `Executor`. `workers` asks for a cluster of so many processes on this machine, and `address` is not used."""

    def __init__(self, task: Task, address: str = "", workers: int = 0) -> None:
        distributed = _distributed()
        import dask  # noqa: PLC0415 - it is there if distributed is

        dask.config.set(SETTINGS)
        logging.getLogger("distributed").setLevel(logging.ERROR)  # a worker that dies is our business
        self._distributed = distributed
        self._task = task
        self._cluster = _local(workers) if workers else None
        self._client = self._connected(self._cluster or address)
        self._orders: dict[Any, Order] = {}
        self._ended = distributed.as_completed(loop=self._client.loop, raise_errors=False)
        self._submitted = 0
        self._check_versions()

    @property
    def dashboard(self) -> str:
        """The address of Dask's own page, where work and machines can be watched."""
        return str(self._client.dashboard_link)

    def workers(self) -> int:
        """Orders that can be done at once, now."""
        return sum(self._client.nthreads().values())

    def submit(self, order: Order) -> None:
        self._submitted += 1
        key = f"bitrawl-{order.run}-{order.bundle.name}-{self._submitted}"
        future = self._client.submit(_on_worker, self._task, order, key=key, pure=False)
        self._orders[future] = order
        self._ended.add(future)

    def ended(self) -> Ended:
        future = next(self._ended)
        order = self._orders.pop(future)
        try:
            return Ended(order, self._outcome(future))
        finally:
            future.release()  # Else a result on a worker that dies is computed again.

    def close(self) -> None:
        for future in self._orders:
            future.release()
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def _outcome(self, future: Any) -> Outcome:
        try:
            return cast("Outcome", future.result())
        except self._distributed.KilledWorker as error:
            return Died(f"its workers died: {error}")
        except (UnwantedError, self._distributed.CancelledError) as error:
            return Fault(f"the cluster gave it up: {error}")

    def _connected(self, where: Any) -> Any:
        try:
            return self._distributed.Client(where, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"no Dask scheduler answers at {where}: {error}; start one with: dask scheduler"
            ) from error

    def _check_versions(self) -> None:
        """Raise `ConfigError` if a worker has another bitrawl, or none."""
        for worker, version in self._client.run(_version, on_error="return").items():
            if version != __version__:
                self.close()
                raise ConfigError(f"the worker {worker} has not bitrawl {__version__}, but: {version}")


def _distributed() -> Any:
    try:
        import distributed  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigError("a Dask cluster needs the extra cluster. Run: pip install 'bitrawl[cluster]'") from error
    return distributed


def _local(workers: int) -> Any:
    return _distributed().LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        memory_limit=0,
        processes=True,
        dashboard_address="127.0.0.1:0",
    )


# What follows runs on a worker.


def _version() -> str:
    return __version__


def _on_worker(task: Task, order: Order) -> Outcome:
    worker = _distributed().get_worker()
    return task(order, _wanted(worker, worker.get_current_task()))


def _wanted(worker: Any, key: str) -> Wanted:
    """False once Dask has cancelled the task: its driver is gone, or another worker has it."""

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state == "executing" and worker.status.name == "running"

    return wanted
