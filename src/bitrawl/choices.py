"""What kinds of values a setting takes: bounded numbers, and names of files."""

from typing import Annotated

import msgspec

MEGABYTE = 1_000_000  # bytes, as settings and people count them
Seconds = Annotated[float, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]
# What names a file: it is kept as a whole path, and published as a bare name.
FilePath = Annotated[str, msgspec.Meta(extra={"path": "file"})]
FileOrUrl = Annotated[str, msgspec.Meta(extra={"path": "file or URL"})]
FolderOrModel = Annotated[str, msgspec.Meta(extra={"path": "folder or model"})]
FileOfLanguage = Annotated[str, msgspec.Meta(extra={"path": "file of a language"})]
