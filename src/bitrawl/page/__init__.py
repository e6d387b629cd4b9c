"""From bytes to a Page."""

from typing import TYPE_CHECKING

from bitrawl.doors import door

if TYPE_CHECKING:
    from bitrawl.page.alternates import LanguageNames
    from bitrawl.page.analyser import read_html, structure
    from bitrawl.page.markdown import as_markdown
    from bitrawl.page.sandbox import Reader, Rejects, SandboxedAnalyser, page_reader
    from bitrawl.page.settings import AnalysisSection
else:
    __getattr__ = door(__name__)
