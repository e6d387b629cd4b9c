"""The map of a search: hubs on the left, bilingual sites on the right, a line for each citation."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from bitrawl.report.markup import Html, fill, joined, shortened

WIDTH, ROW, TOP = 900, 20, 34
LEFT, RIGHT = 330, 570  # where the lines begin and end
MOST_HUBS, MOST_SITES = 25, 45  # that can be read; judgement
LONGEST = 42  # letters of a name; judgement


class MapHub(msgspec.Struct, frozen=True):
    """A hub, with the bilingual sites that it cites."""

    name: str
    note: str  # what is shown when the hub is pointed at
    sites: tuple[str, ...]


def site_map(hubs: Sequence[MapHub], seeds: frozenset[str] = frozenset()) -> Html:
    """Empty if no hub cites a bilingual site. Sites that are cited alike stand near each other, so that few lines cross."""
    shown = [hub for hub in hubs if hub.sites][:MOST_HUBS]
    counts = Counter(site for hub in shown for site in hub.sites)
    if not counts:
        return Html()
    sites = _in_order([site for site, _ in counts.most_common(MOST_SITES)], shown)
    height = TOP + ROW * max(len(shown), len(sites)) + 10
    hub_at = {hub.name: _y(place, len(shown), height) for place, hub in enumerate(shown)}
    site_at = {site: _y(place, len(sites), height) for place, site in enumerate(sites)}
    lines = joined(
        _line(hub_at[hub.name], site_at[site], f"{hub.name} cites {site}")
        for hub in shown
        for site in hub.sites
        if site in site_at
    )
    left = joined(_hub(hub, hub_at[hub.name]) for hub in shown)
    right = joined(_site(site, site_at[site], counts[site], is_seed=site in seeds) for site in sites)
    return fill(
        '<figure style="max-width: none"><figcaption>Who cites the bilingual sites</figcaption>'
        '<svg viewBox="0 0 {width} {height}" role="img" aria-label="Hubs and the bilingual sites that they cite">'
        '<text x="{left}" y="14" text-anchor="end">{hubs} hubs</text><text x="{right}" y="14">{sites} sites</text>'
        "{lines}{hub_marks}{site_marks}</svg></figure>",
        width=WIDTH, height=height, left=LEFT - 12, right=RIGHT + 12, hubs=len(shown), sites=len(sites),
        lines=lines, hub_marks=left, site_marks=right,
    )  # fmt: skip


def _in_order(sites: Sequence[str], hubs: Sequence[MapHub]) -> list[str]:
    """Each at the mean place of its hubs."""
    places: dict[str, list[int]] = {site: [] for site in sites}
    for place, hub in enumerate(hubs):
        for site in hub.sites:
            if site in places:
                places[site].append(place)
    return sorted(sites, key=lambda site: (sum(places[site]) / len(places[site]), site))


def _y(place: int, count: int, height: int) -> float:
    return TOP + (place + 0.5) * (height - TOP - 10) / count


def _line(start: float, end: float, title: str) -> Html:
    middle = (LEFT + RIGHT) / 2
    return fill(
        '<path class="line c0" style="stroke-width: 1; opacity: .45" d="M{left},{start} C{middle},{start} {middle},{end}'
        ' {right},{end}"><title>{title}</title></path>',
        left=LEFT, right=RIGHT, middle=middle, start=f"{start:.1f}", end=f"{end:.1f}", title=title,
    )  # fmt: skip


def _hub(hub: MapHub, y: float) -> Html:
    return fill(
        '<g><title>{note}</title><circle cx="{x}" cy="{y}" r="{r}" class="stop c1"/>'
        '<text x="{label}" y="{base}" text-anchor="end">{name}</text></g>',
        note=hub.note, x=LEFT, y=f"{y:.1f}", r=f"{min(3 + len(hub.sites) ** 0.5, 8):.1f}", label=LEFT - 12,
        base=f"{y + 4:.1f}", name=shortened(hub.name.partition("://")[2] or hub.name, LONGEST),
    )  # fmt: skip


def _site(site: str, y: float, hubs: int, *, is_seed: bool) -> Html:
    return fill(
        '<g><title>{title}</title><circle cx="{x}" cy="{y}" r="5" class="{kind}" fill="currentColor"/>'
        '<text x="{label}" y="{base}">{name}{seed}</text></g>',
        title=f"{site}, cited by {hubs} of these hubs", x=RIGHT, y=f"{y:.1f}", label=RIGHT + 12, base=f"{y + 4:.1f}",
        kind="stop c2" if not is_seed else "stop c7", name=shortened(site, LONGEST), seed=" (seed)" if is_seed else "",
    )  # fmt: skip
