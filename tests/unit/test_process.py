import signal

import pytest

from bitrawl.process import Death, FailureKind


@pytest.mark.parametrize(
    ("death", "cause", "kind"),
    [
        (Death(-signal.SIGKILL), "killed by SIGKILL", FailureKind.KILLED),
        (Death(-signal.SIGTERM), "killed by SIGTERM", FailureKind.KILLED),
        (Death(-signal.SIGBUS), "killed by SIGBUS", FailureKind.KILLED),  # the disk below a file in memory is full
        (Death(-signal.SIGSEGV), "killed by SIGSEGV", FailureKind.CRASH),
        (Death(-signal.SIGPROF), "killed by SIGPROF", FailureKind.TIMEOUT),  # our timer of the time that it had itself
        (Death(-signal.SIGALRM), "killed by SIGALRM", FailureKind.KILLED),  # the other one: the machine stood still
        (Death(-200), "killed by signal 200", FailureKind.KILLED),
        (Death(1, "Traceback\nMemoryError: none left"), "out of memory", FailureKind.KILLED),
        (Death(3, "Traceback\nKeyError: 7"), "exit status 3", FailureKind.CRASH),
        (Death(0), "exit status 0", FailureKind.CRASH),
    ],
)
def test_a_death_says_whether_the_process_or_its_machine_is_to_blame(death: Death, cause: str, kind: FailureKind):
    assert (death.cause, death.failure.kind) == (cause, kind)
