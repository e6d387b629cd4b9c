"""The exceptions of this package, in one tree.

BitrawlError
├── UrlError            a text is not an http(s) URL
├── ConfigError         a job cannot be run as described; the message names the fix
├── StoreError          the job folder cannot be read or written
│   └── DiskFullError   no space is left; free some and run the same command again
├── ArchiveError        a WARC file cannot be read
├── GraphError          a link graph, or another source of backlinks, is not what it should be
├── WikiError           a wiki does not answer as a wiki does, or a dump of one cannot be read
└── ChildError          a child process cannot be started

A page that cannot be fetched or analysed is not an error: it is a `Skip`.
"""


class BitrawlError(Exception):
    """The base of all errors that this package raises on purpose. The text is written for the user."""


class UrlError(BitrawlError, ValueError):
    """A text is not an http(s) URL."""


class ConfigError(BitrawlError):
    """A job cannot be run as described. The message names the fix."""


class StoreError(BitrawlError):
    """The job folder cannot be read or written."""


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
