"""A Dask driver whose scheduler ends while it has orders to do, in a process of its own: Dask leaves sockets open then."""

import sys
from contextlib import closing

from distributed import LocalCluster

from bitrawl import config
from bitrawl.cluster import executor as executors
from bitrawl.cluster.bundle_process import BundleOrder, Wanted
from bitrawl.cluster.bundles import Bundle, BundledSite, Done, Outcome, PartState
from bitrawl.errors import ClusterError

JOB = config.resolve({"langs": ["en", "fr"], "seeds": ["http://a.org/"]})


def named(given: BundleOrder, _wanted: Wanted) -> Outcome:
    return Done(given.bundle.name, PartState.MINED)


def cluster(workers: int, port: int = 0) -> LocalCluster:
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        protocol="tcp",
        processes=False,
        memory_limit=0,
        dashboard_address="127.0.0.1:0",
        scheduler_port=port,
    )


def driver_of(first: LocalCluster) -> executors.DaskExecutor:
    """With two orders, and a scheduler that is gone."""
    executor = executors.DaskExecutor(named, first.scheduler_address)
    for name in ("00000", "00001"):
        executor.submit(BundleOrder("out", "", "run", JOB, Bundle(name, [BundledSite("a.org", ["http://a.org/"])])))
    first.close()
    return executor


def comes_back() -> str:
    """Which orders ended."""
    first = cluster(workers=0)
    port = int(first.scheduler_address.rpartition(":")[2])
    with closing(driver_of(first)) as executor, closing(cluster(workers=1, port=port)):
        ended = [executor.ended(), executor.ended()]
        return " ".join(sorted(f"{each.order.bundle.name} {each.outcome.state}" for each in ended))


def is_gone() -> str:
    """What the driver says."""
    executors.ANSWER_SECONDS = executors.RECONNECT_SECONDS = 0.2
    with closing(driver_of(cluster(workers=0))) as executor:
        try:
            return str(executor.ended())
        except ClusterError as error:
            return str(error)


if __name__ == "__main__":
    executors.LOOK_EVERY = 0.1
    sys.stdout.write(f"{comes_back()}\n{is_gone()}\n")
