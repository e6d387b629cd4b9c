"""A job's description: typed, closed, and the same whether it comes from flags or from a TOML file."""

from bitrawl.config.choices import (
    FOCUSED,
    UNFOCUSED,
    CorpusFormat,
    DocumentType,
    Format,
    Part,
    Render,
    Strategy,
    fitting,
    usual,
)
from bitrawl.config.job_file import merged, public_text_of, read, seeds_from, text_of, write
from bitrawl.config.resolving import continues, converted, resolve, typed
from bitrawl.config.schema import (
    AlignSection,
    Anonymise,
    BudgetSection,
    DiscoverySection,
    ExportSection,
    FetchSection,
    Gone,
    Job,
    PolitenessSection,
    Reach,
    RenderSection,
    Thresholds,
    TopicModel,
    TopicSection,
    Walk,
)

# fmt: off
__all__ = [
    "FOCUSED", "UNFOCUSED", "AlignSection", "Anonymise", "BudgetSection", "CorpusFormat", "DiscoverySection", "DocumentType",
    "ExportSection", "FetchSection", "Format", "Gone", "Job", "Part", "PolitenessSection", "Reach", "Render", "RenderSection",
    "Strategy", "Thresholds", "TopicModel", "TopicSection", "Walk", "continues", "converted", "fitting", "merged",
    "public_text_of", "read", "resolve",
    "seeds_from", "text_of", "typed", "usual", "write",
]
# fmt: on
