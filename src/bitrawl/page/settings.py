"""How pages are read."""

from typing import Annotated

import msgspec


class AnalysisSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The processes that read pages."""

    workers: Annotated[int, msgspec.Meta(ge=0)] = 0  # 0: one per core, four at most
    seconds: Annotated[float, msgspec.Meta(gt=0)] = 20.0  # of CPU for one page
    megabytes: Annotated[int, msgspec.Meta(ge=256)] = 1024  # of memory, each
