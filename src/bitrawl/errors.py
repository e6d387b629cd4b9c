"""The exceptions of this package, in one tree.

BitrawlError
├── UrlError            a text is not an http(s) URL
├── ConfigError         a job cannot be run as described; the message names the fix
│   ├── TopicError      nothing that was given says what the topic is
│   ├── CategoryError   a wiki has no such category, or it is empty
│   └── FieldError      what a person typed into a form of the web app, field by field
├── RefusedError        the web app does not do this now; the message says why
├── OutdatedError       somebody else has changed meanwhile what is to be changed
├── StoreError          the job folder cannot be read or written
│   ├── DamagedError    a file is not as bitrawl wrote it; `bitrawl check` says what is lost
│   └── DiskFullError   no space is left; free some and run the same command again
├── ArchiveError        a WARC file cannot be read
├── GraphError          a link graph, or another source of backlinks, is not what it should be
├── WikiError           a wiki does not answer as a wiki does, or a dump of one cannot be read
├── ChildError          a child process cannot be started
├── ClusterError        the scheduler of a cluster does not answer
├── OutOfMemoryError    there is no memory left for this process
└── UnwantedError       nobody waits for the work any more

A page that cannot be fetched or analysed is not an error: it is a `Skip`.
"""

import errno
from collections.abc import Mapping, Sequence

FAULT_FILE = "BITRAWL_FAULT_FILE"
"""The variable of the environment that names the file where a command that fails writes down why, as a value."""


class BitrawlError(Exception):
    """The base of all errors that this package raises on purpose. The text is written for the user.

    `advice` is the end of the text that names flags and commands: the web app, which has forms and buttons, leaves it out.
    """

    def __init__(self, *message: object, advice: str = "") -> None:
        super().__init__(*([f"{message[0]}{advice}"] if advice else message))
        self.advice = advice
        self.without_advice = str(message[0]) if message else ""


class UrlError(BitrawlError, ValueError):
    """A text is not an http(s) URL."""


class ConfigError(BitrawlError):
    """A job cannot be run as described. The message names the fix."""


class TopicError(ConfigError):
    """Nothing that was given says what the topic is."""


class CategoryError(ConfigError):
    """A wiki has no such category, or it is empty."""

    def __init__(
        self, message: str, *, category: str, near: Sequence[str] = (), empty: bool = False, advice: str = ""
    ) -> None:
        super().__init__(message, advice=advice)
        self.category = category
        self.near = tuple(near)  # similar names
        self.empty = empty


class FieldError(ConfigError):
    """Mistakes in what a person typed, by the name of the field; "" is for those that belong to no field."""

    def __init__(self, fields: Mapping[str, object]) -> None:
        super().__init__("; ".join(f"{name}: {said}" if name else str(said) for name, said in fields.items()))
        self.fields = dict(fields)


class RefusedError(BitrawlError):
    """The web app does not do this now: because of what the job is doing, or because of a limit."""


class OutdatedError(BitrawlError):
    """What is to be changed is not what the person saw: somebody else has changed it meanwhile."""


class NothingFoundError(BitrawlError):
    """A job has no page, none about its topic, or none in a language that it needs. Its folder is kept."""


class StoreError(BitrawlError):
    """The job folder cannot be read or written."""


class DamagedError(StoreError):
    """A file is not as bitrawl wrote it. The message names it, and `bitrawl check` says what is lost."""


class DiskFullError(StoreError):
    """No space is left. Free some and run the same command again."""


class ArchiveError(BitrawlError):
    """A WARC file cannot be read."""


class GraphError(BitrawlError):
    """A link graph, or another source of backlinks, is not what it should be. The message names the fix."""


class WikiError(BitrawlError):
    """A wiki does not answer as a wiki does, or a dump of one cannot be read."""


class ChildError(BitrawlError):
    """A child process cannot be started."""


class ClusterError(BitrawlError):
    """The scheduler of a cluster does not answer. What was done is kept."""


class OutOfMemoryError(BitrawlError):
    """There is no memory left for this process. That says nothing about what it was working on."""


class UnwantedError(BitrawlError):
    """Nobody waits for the work any more. What was done of it is kept."""


# What Python raises where there is no memory left: a library that cannot be loaded is an ImportError, a thread that cannot be
# started a RuntimeError. Only their texts tell them from others.
_SHORT = (ImportError, OSError, RuntimeError, SystemError, ChildError)
_SHORT_WORDS = (
    *("memoryerror", "failed to map segment", "cannot allocate memory", "bad_alloc", "can't start new thread"),
    "without exception set",  # a library whose own error could not be made either
    "without setting an exception",
)


def lacks_memory(error: BaseException | None) -> bool:
    """Whether it, or what it came from, is a lack of memory; also of a child process that tells its traceback."""
    while error is not None:
        if isinstance(error, MemoryError | OutOfMemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            return True
        text = str(error).lower() if isinstance(error, _SHORT) else ""
        if any(word in text for word in _SHORT_WORDS):
            return True
        error = error.__cause__
    return False
