"""The faults, one tree.

BitrawlError
├── UrlError            a text that is no http(s) URL
├── ConfigError         a job that cannot be run as described; the message names the fix
├── StoreError          the job folder cannot be read or written
│   └── DiskFullError   no space left; free some and run the same command again
├── ArchiveError        a WARC file that cannot be read
└── ChildError          a child process cannot be started

A page that cannot be had or understood is not a fault: it is a `Skip`.
"""


class BitrawlError(Exception):
    """Whatever this package raises on purpose; its text is written for the user."""


class UrlError(BitrawlError, ValueError):
    """A text that is no http(s) URL."""


class ConfigError(BitrawlError):
    """A job that cannot be run as described; the message names the fix."""


class StoreError(BitrawlError):
    """The job folder cannot be read or written."""


class DiskFullError(StoreError):
    """No space left; free some and run the same command again."""


class ArchiveError(BitrawlError):
    """A WARC file that cannot be read."""


class ChildError(BitrawlError):
    """A child process cannot be started."""
