"""Where the work of many machines goes: a folder on a disk or on NFS, or a prefix of an S3 bucket.

A place has no locks and no database. It only promises that a file under its name is complete.

S3, or a store that speaks its language (MinIO, Ceph, R2), needs obstore, of the extra `cluster`. Its settings come from the
usual variables: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL; keys also from the
profile AWS_PROFILE of ~/.aws/credentials, which obstore does not read itself.
"""

import configparser
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from bitrawl.errors import ConfigError, StoreError
from bitrawl.file_names import BUNDLES
from bitrawl.files import NEW, discard, replacing, write_fault
from bitrawl.job import OpenedCopy, OpenedJob, OpenedMerge, OpenedRun, open_folder
from bitrawl.packages import extra

if TYPE_CHECKING:
    from obstore.store import ObjectStore

    from bitrawl.cluster.run import MinedRun


# Eight pauses of .5 to 15 s are about a minute: a store that restarts is waited for, a wrong address is found out.
RETRIES = 8
_LONGEST_REQUEST, _LONGEST_CONNECT = timedelta(minutes=5), timedelta(seconds=10)
_COPIED_BLOCK, _DOWNLOADED_BLOCK = 1 << 20, 8 << 20  # bytes to hold at once
# S3 takes 10,000 parts: files of up to 160 GB. Four at once hold 64 MB.
_PART, _PARTS_AT_ONCE = 16 << 20, 4
_KEYS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
# Where obstore itself finds keys; the last one is for machines whose role is asked from the network.
_OTHER_SOURCES = (
    *("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    *("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
)


class Place(Protocol):
    """A file or a folder, here or elsewhere. Its text is its address. All of its methods raise `StoreError`.

    It can be pickled, so that a task can carry it to another machine.
    """

    def __truediv__(self, name: str) -> "Place": ...

    def read(self) -> bytes | None:
        """The content of a file; None if there is none."""

    def write(self, content: bytes) -> None:
        """A whole file or nothing, even if several machines write it. An earlier file is replaced."""

    def write_new(self, content: bytes) -> bool:
        """A whole file, unless it is there already: then nothing changes, and the answer is False.

        Of several machines that write it at once, one gets True.
        """

    def names(self) -> list[str]:
        """The entries of a folder, sorted; empty if there is no such folder."""

    def upload(self, folder: Path) -> None:
        """Copy all files below the folder to here. Each of them is complete, or absent."""

    def download(self, folder: Path) -> None:
        """Copy all files below this place into the folder. Nothing happens if there are none."""

    def delete(self) -> None:
        """Remove the file, or the folder with all that is in it; nothing happens if there is none."""


def place(address: str) -> Place:
    """The place with that address: a path, `file://…`, or `s3://bucket/prefix`. Raises `ConfigError`."""
    kind, separator, rest = address.partition("://")
    if not address.strip():
        raise ConfigError("the address of a place is empty; give a folder, or s3://bucket/prefix")
    if not separator:
        return LocalPlace(Path(address).expanduser().absolute())
    if kind == "file":
        return LocalPlace(Path("/" + rest.lstrip("/")))
    if kind != "s3":
        raise ConfigError(f"{address}: {kind}:// is not supported; give a folder, or s3://bucket/prefix")
    return s3_place(address)


def is_run(address: str) -> bool:
    """Whether a place holds sites in bundles."""
    return (place(address) / BUNDLES).read() is not None


def is_here(address: str) -> bool:
    """Whether a place is a folder that this machine sees."""
    return isinstance(place(address), LocalPlace)


def open_address(address: str) -> "OpenedJob | OpenedMerge | OpenedCopy | MinedRun":
    """What the folder with that address holds, as `bitrawl.job.open_folder`. Elsewhere there can only be a run."""
    if is_run(address) or not is_here(address):
        from bitrawl.cluster.run import MinedRun  # noqa: PLC0415 - a job needs none of it

        return MinedRun(address)
    opened = open_folder(Path(address.removeprefix("file://")))
    assert not isinstance(opened, OpenedRun), "a run has the file that says so"
    return opened


class LocalPlace(NamedTuple):
    """A path. It may be on NFS: a rename is atomic there for all who look."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str) -> Self:
        return self._replace(path=self.path / name)

    def read(self) -> bytes | None:
        try:
            return self.path.read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            raise _unreadable(self.path, error) from error

    def write(self, content: bytes) -> None:
        with replacing(self.path, shared=True) as file:
            file.write(content)

    def write_new(self, content: bytes) -> bool:
        draft = self.path.with_name(f"{self.path.name}.{uuid.uuid4().hex}{NEW}")
        try:
            with replacing(draft) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.link(draft, self.path)  # Unlike a rename, it fails if the name is taken, also on NFS.
        except FileExistsError:
            return False
        except OSError as error:
            raise write_fault(self.path, error) from error
        finally:
            discard(draft)
        return True

    def names(self) -> list[str]:
        try:
            return sorted(path.name for path in self.path.iterdir() if not path.name.endswith(NEW))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise _unreadable(self.path, error) from error

    def upload(self, folder: Path) -> None:
        for path in _files_below(folder):
            _copy(path, self.path / path.relative_to(folder), shared=True)

    def download(self, folder: Path) -> None:
        for path in _files_below(self.path):
            _copy(path, folder / path.relative_to(self.path))

    def delete(self) -> None:
        try:
            if self.path.is_dir() and not self.path.is_symlink():
                shutil.rmtree(self.path)
            else:
                self.path.unlink(missing_ok=True)
        except NotADirectoryError:
            return
        except OSError as error:
            raise StoreError(f"{self.path} cannot be deleted: {error.strerror or error}") from error


class S3Place(NamedTuple):
    """A key of a bucket, or all keys below it. Only the address travels; each process makes its own connections."""

    bucket: str
    key: str
    retries: int = RETRIES

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}".rstrip("/")

    def __truediv__(self, name: str) -> Self:
        return self._replace(key=f"{self.key}/{name}".strip("/"))

    def read(self) -> bytes | None:
        if not self.key:
            return None
        try:
            with self._translated():
                return bytes(self._store().get(self.key).bytes())
        except _MissingError:
            return None

    def write(self, content: bytes) -> None:
        with self._translated():
            self._store().put(self.key, content)

    def write_new(self, content: bytes) -> bool:
        from obstore.exceptions import AlreadyExistsError  # noqa: PLC0415 - an extra

        with self._translated():
            try:
                self._store().put(self.key, content, mode="create")
            except AlreadyExistsError:
                return False
        return True

    def names(self) -> list[str]:
        with self._translated():
            listing = self._store().list_with_delimiter(self.key or None)
        paths = [*listing["common_prefixes"], *(entry["path"] for entry in listing["objects"])]
        return sorted({path.rstrip("/").rpartition("/")[2] for path in paths})

    def upload(self, folder: Path) -> None:
        for path in _files_below(folder):
            target = self / path.relative_to(folder).as_posix()
            with _reading(path), path.open("rb") as file, self._translated():
                self._store().put(target.key, file, chunk_size=_PART, max_concurrency=_PARTS_AT_ONCE)

    def download(self, folder: Path) -> None:
        for key in self._keys_below():
            path = folder / key.removeprefix(self.key).lstrip("/")
            with self._translated():
                blocks = self._store().get(key).stream(min_chunk_size=_DOWNLOADED_BLOCK)
                with replacing(path) as file:
                    for block in blocks:
                        file.write(block)

    def delete(self) -> None:
        keys = [*self._keys_below(), *([self.key] if self.key else [])]
        with self._translated():
            self._store().delete(keys)

    def _keys_below(self) -> list[str]:
        with self._translated():
            return sorted(entry["path"] for batch in self._store().list(self.key or None) for entry in batch)

    def _store(self) -> "ObjectStore":
        return _store(self.bucket, self.retries)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        from obstore.exceptions import BaseError  # noqa: PLC0415 - an extra

        try:
            yield
        except (BaseError, FileNotFoundError, PermissionError) as error:
            raise _fault(self, error) from error


def s3_place(address: str, retries: int = RETRIES) -> S3Place:
    """Raises `ConfigError` if the address, the package or the keys are missing. The store is not asked yet."""
    bucket, _, key = address.removeprefix("s3://").partition("/")
    if not bucket:
        raise ConfigError(f"{address} names no bucket; write s3://bucket/prefix")
    with extra("cluster", f"{address} needs obstore"):
        import obstore  # noqa: F401, PLC0415 - an extra
    _credentials(os.environ)
    return S3Place(bucket, "/".join(part for part in key.split("/") if part), retries)


def _files_below(folder: Path) -> list[Path]:
    """Sorted, without the drafts that a killed process may have left."""
    try:
        return sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(NEW))
    except OSError as error:
        raise _unreadable(folder, error) from error


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """An `OSError` inside means that this file cannot be read."""
    try:
        yield
    except OSError as error:
        raise _unreadable(path, error) from error


def _copy(source: Path, target: Path, *, shared: bool = False) -> None:
    with _reading(source):
        file = source.open("rb")
    with file, replacing(target, shared=shared) as copy:
        shutil.copyfileobj(file, copy, _COPIED_BLOCK)


def _unreadable(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path} cannot be read: {error.strerror or error}; check its permissions, or choose another")


@lru_cache(maxsize=8)
def _store(bucket: str, retries: int) -> "ObjectStore":
    from obstore.store import S3Store  # noqa: PLC0415 - an extra

    pauses: Any = {"init_backoff": timedelta(seconds=0.5), "max_backoff": timedelta(seconds=15), "base": 2}
    patience: Any = {"max_retries": retries, "retry_timeout": timedelta(minutes=5), "backoff": pauses}
    options: Any = {"timeout": _LONGEST_REQUEST, "connect_timeout": _LONGEST_CONNECT, "allow_http": _is_plain_http()}
    keys: Any = _credentials(os.environ)
    return S3Store(bucket, config=keys, client_options=options, retry_config=patience)


def _is_plain_http() -> bool:
    """Whoever names an endpoint without TLS means it: a server in the same room, as MinIO often is."""
    return any(os.environ.get(name, "").startswith("http://") for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT"))


def _credentials(environment: Mapping[str, str]) -> dict[str, str]:
    """Keys of a profile; nothing if obstore finds keys by itself. Raises `ConfigError` if there are none at all.

    Without keys, obstore would ask the network for the role of this machine, and a laptop would wait for an answer.
    Whoever wants that sets the usual variable AWS_EC2_METADATA_DISABLED to false.
    """
    if any(environment.get(name) for name in _OTHER_SOURCES) and not environment.get("AWS_PROFILE"):
        return {}
    path = Path(environment.get("AWS_SHARED_CREDENTIALS_FILE") or "~/.aws/credentials").expanduser()
    profile = environment.get("AWS_PROFILE") or "default"
    keys = _profile(path, profile)
    if keys or environment.get("AWS_EC2_METADATA_DISABLED", "").lower() == "false":
        return keys
    raise ConfigError(
        f"there are no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write the profile"
        f" {profile} into {path}; on a machine of AWS that has a role, set AWS_EC2_METADATA_DISABLED=false"
    )


def _profile(path: Path, name: str) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read as a list of profiles: {error}") from error
    section = parser[name] if parser.has_section(name) else {}
    return {key: section[key] for key in _KEYS if key in section}


class _MissingError(StoreError):
    """There is no such object."""


def _fault(place: S3Place, error: Exception) -> StoreError:
    """What the store said, and what to do about it. Its answers are XML inside of a message of many lines."""
    message = str(error)
    endpoint = os.environ.get("AWS_ENDPOINT_URL") or os.environ.get("AWS_ENDPOINT") or "AWS"
    first = message.partition("\n\nDebug source")[0].replace("\n", " ")
    if "NoSuchBucket" in message:
        return StoreError(f"there is no bucket {place.bucket} at {endpoint}; create it, or correct the address {place}")
    if isinstance(error, FileNotFoundError):
        return _MissingError(f"{place} is not there")
    if any(code in message for code in ("401 Unauthorized", "403 Forbidden")):
        return StoreError(
            f"{endpoint} does not let you use {place}: {first}; check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,"
            " AWS_REGION and what the keys may do"
        )
    if "HTTP error" in message or "non-2xx status code: 5" in message:
        return StoreError(
            f"{endpoint} does not answer for {place}, even after {place.retries} retries: {first}; check"
            " AWS_ENDPOINT_URL and the network, then run the same command again"
        )
    return StoreError(f"{place} cannot be used: {first}")
