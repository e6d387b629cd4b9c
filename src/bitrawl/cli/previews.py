"""What `--dry-run` prints: each host's answer to a few questions, and what the job would do with it."""

from collections.abc import Sequence

from rich.text import Text

from bitrawl.cli.console import duration, out
from bitrawl.config import Job
from bitrawl.crawl.preview import Preview


def show_previews(previews: Sequence[Preview], job: Job) -> None:
    """One block for each host."""
    for preview in previews:
        out.print(Text(preview.host, style="bold"))
        for label, value in _rows(preview):
            out.print(Text.assemble((f"  {label:<10}", "cyan"), value))
    languages = ", ".join(job.langs)
    out.print(f"strategy {job.strategy}, languages {languages}; nothing was written", markup=False)


def _rows(preview: Preview) -> list[tuple[str, str]]:
    skip = preview.skip
    refused = f"{skip.reason}{f' ({skip.detail})' if skip.detail else ''}" if skip else "allowed"
    rows = [("seed", f"{preview.seed}: {refused}")]
    if preview.crawl_delay:
        rows.append(("delay", f"robots.txt asks for {preview.crawl_delay:g} s between visits"))
    if preview.sitemap is None:
        return rows
    claimed = f", declared as {preview.html_lang}" if preview.html_lang else ""
    declared = "   ".join(f"{code} {count}" for code, count in sorted(preview.languages.items())[:12])
    sitemap = preview.sitemap
    listed = f"{sitemap.urls} URLs" if sitemap.skip is None else f"not read ({sitemap.skip.reason})"
    files = f", first of {sitemap.files} files" if sitemap.files > 1 else ""
    rows += [
        ("language", f"{preview.language}{claimed}"),
        ("links", f"{preview.links} in scope on the seed"),
        ("sitemap", f"{sitemap.url}: {listed}{files}"),
        ("declared", declared or "no translations"),
    ]
    if preview.seconds:
        rows.append(("estimate", f"{sitemap.estimated} pages in about {duration(preview.seconds)}"))
    return rows
