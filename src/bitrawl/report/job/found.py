"""The sections of the report on what was mined: repetitions, pairs, segments and samples of them."""

from collections.abc import Iterable

from bitrawl.report.job.facts import Facts, PairSample, SegmentSample
from bitrawl.report.markup import Html, fill, joined, link, shortened
from bitrawl.report.plots import Bar, bars, histogram
from bitrawl.report.wording import METHODS, REFUSALS, counted, language_pair, method_name, number, share

MAX_TEXT = 600  # characters of a segment that is shown


def duplicates(facts: Facts) -> Html:
    """Pages that repeat others; nothing when none does."""
    mined = facts.mined
    if not mined.duplicates:
        return Html()
    rows = joined(
        fill("<tr><td>{url}</td><td>{other}</td></tr>", url=link(url), other=link(other))
        for url, other in mined.duplicate_samples
    )
    return fill(
        '<h3>Repetitions</h3><p>{text}</p><div class="card"><table class="sides"><thead><tr><th>page</th>'
        "<th>repeats</th></tr></thead><tbody>{rows}</tbody></table></div>",
        text=f"{counted(mined.duplicates, 'page has', 'pages have')} nearly all of the text of another, and"
        f" {'is' if mined.duplicates == 1 else 'are'} left out of the corpus. The first ones:",
        rows=rows,
    )


def pairs(facts: Facts) -> Html:
    """By languages, score and method, and what was refused."""
    mined = facts.mined
    if not facts.crawled.summary.pages or len(facts.asked.langs) == 1:
        return Html()
    if not mined.begun:
        return fill("<p>{text}</p>", text="This job has been crawled, and not yet searched for pairs.")
    if not mined.pairs:
        return joined([fill("<p>{text}</p>", text="No two pages were found to be translations."), _refusals(facts)])
    languages = [Bar(language_pair(one.lang_a, one.lang_b), one.pairs) for one in mined.language_pairs]
    methods = [
        Bar(f"{one.letter} · {method_name(one.letter)}", one.pairs, METHODS.get(one.letter, ("", ""))[1], one.alone)
        for one in mined.methods
    ]
    return fill(
        "<p>{text}</p>"
        '<div class="two"><div class="card"><h3>By languages</h3>{languages}</div>{scores}</div>'
        '<div class="card space"><h3>By method</h3><p>{explained}</p>{methods}</div>{refused}',
        text="Two pages are a pair when all evidence together says that one is the translation of the other. The score"
        " is a probability: of the pairs with 0.9, nine in ten should be right.",
        languages=bars(languages, total=mined.pairs),
        scores=histogram("How sure the pairs are", mined.pair_scores, x="score", y="pairs"),
        explained="How many pairs each method speaks for; mostly several agree. The full part of a bar are pairs that"
        " only this method found.",
        methods=bars(methods, total=mined.pairs),
        refused=_refusals(facts),
    )


def _refusals(facts: Facts) -> Html:
    refusals = facts.mined.refusals
    if not refusals:
        return Html()
    rows = joined(
        fill(
            '<tr><th scope="row">{reason}<small>{why}</small></th><td class="n">{count}</td><td>{a}<br>{b}</td></tr>',
            reason=refusal.reason,
            why=REFUSALS.get(refusal.reason, ""),
            count=number(refusal.count),
            a=link(refusal.url_a),
            b=link(refusal.url_b),
        )
        for refusal in refusals
    )
    return fill(
        '<h3>Refused</h3><p>{text}</p><div class="card"><table><thead><tr><th>reason</th><th class="n">pairs</th>'
        "<th>for example</th></tr></thead><tbody>{rows}</tbody></table></div>",
        text="Pages that something held to be a pair (they declare it, or their addresses say so) and that were not"
        " taken for one.",
        rows=rows,
    )


_SCORES = {
    "score": ("How well the segments match", "score of the alignment"),
    "coverage": ("Words that have their translation on the other side", "share of words, mean of both sides"),
    "length_ratio": ("Lengths", "length of the shorter over the longer"),
}


def segments(facts: Facts) -> Html:
    """By score, number of sentences and flag; nothing when there are none."""
    mined = facts.mined
    if not mined.segments:
        return Html()
    charts = [
        histogram(_SCORES[name][0], counts, x=_SCORES[name][1], y="segments")
        for name, counts in sorted(mined.segment_scores.items(), key=lambda item: list(_SCORES).index(item[0]))
    ]
    clean = mined.segments - mined.flagged
    flags = [Bar("no flag", clean), *(Bar(flag, count) for flag, count in mined.flags.items())]
    types = [Bar(name, count) for name, count in mined.types.items()]
    return fill(
        '<p>{text}</p><div class="two">{charts}<div class="card"><h3>By number of sentences on either side</h3>{types}'
        '</div></div><div class="card space"><h3>By flag</h3>{flags}</div>',
        text=f"{share(clean, mined.segments)} of all segments have no flag. These are all that were aligned: the job's"
        " thresholds decide which of them get into the corpus, and can be changed without aligning again.",
        charts=joined(charts),
        flags=bars(flags, total=mined.segments),
        types=bars(types, total=mined.segments),
    )


def corpus(facts: Facts) -> Html:
    """What was written, and what the thresholds kept out; nothing before it is written, or for one language."""
    written = {name: count for name, count in facts.corpora.items() if count.units or count.refused}
    rows = joined(
        fill(
            '<tr><th scope="row">{name}</th><td class="n">{units}</td><td class="n">{merged}</td>'
            '<td class="n">{refused}</td><td>{why}</td></tr>',
            name=name,
            units=number(count.units),
            merged=number(count.merged),
            refused=number(sum(count.refused.values())),
            why=", ".join(f"{reason} {number(n)}" for reason, n in count.refused.items()),
        )
        for name, count in written.items()
    )
    if not written:
        return Html()
    return fill(
        '<p>{text}</p><div class="card"><table><thead><tr><th>corpus</th><th class="n">units</th>'
        '<th class="n">repetitions merged</th><th class="n">refused</th><th>by</th></tr></thead>'
        "<tbody>{rows}</tbody></table></div>",
        text="Of the segments, those that reach the thresholds of the job file; equal ones are one unit, with all of the"
        " places where it was found. To write it again with others: bitrawl export DIR.",
        rows=rows,
    )


def samples(facts: Facts) -> Html:
    """Side by side, by language pair."""
    mined = facts.mined
    if not mined.pair_samples:
        return Html()
    parts = [fill("<p>{text}</p>", text="Drawn at random, good ones and bad ones alike.")]
    for one in mined.language_pairs:
        pairs = [s for s in mined.pair_samples if (s.pair.lang_a, s.pair.lang_b) == (one.lang_a, one.lang_b)]
        segments = [s for s in mined.segment_samples if (s.lang_a, s.lang_b) == (one.lang_a, one.lang_b)]
        if pairs:
            rows = joined([*map(_pair_rows, pairs), *map(_segment_rows, segments)])
            title = language_pair(one.lang_a, one.lang_b)
            parts.append(
                fill(
                    '<h3>{title}</h3><div class="card"><table class="sides">{rows}</table></div>',
                    title=title,
                    rows=rows,
                )
            )
    return joined(parts)


def _pair_rows(sample: PairSample) -> Html:
    pair = sample.pair
    evidence = sorted(pair.evidence.items(), key=lambda item: -item[1])
    return fill(
        "<tr><td>{title_a}<small>{url_a}</small></td><td>{title_b}<small>{url_b}</small></td></tr>"
        '<tr class="about"><td colspan="2">pages · score {score} {tags}</td></tr>',
        title_a=link(pair.url_a, sample.title_a),
        title_b=link(pair.url_b, sample.title_b),
        url_a=_address(pair.url_a),
        url_b=_address(pair.url_b),
        score=f"{pair.score:.2f}",
        tags=_tags(f"{method_name(letter)} {value:.2f}" for letter, value in evidence),
    )


def _address(url: str) -> Html:
    return fill("<bdi>{url}</bdi>", url=shortened(url, 90))


def _segment_rows(sample: SegmentSample) -> Html:
    segment = sample.segment
    return fill(
        '<tr><td lang="{lang_a}" dir="auto">{a}</td><td lang="{lang_b}" dir="auto">{b}</td></tr>'
        '<tr class="about"><td>{from_a}</td><td>{from_b}</td></tr>'
        '<tr class="about"><td colspan="2">segments {type} · score {score} {tags}</td></tr>',
        lang_a=sample.lang_a,
        lang_b=sample.lang_b,
        a=shortened(segment.a.text, MAX_TEXT),
        b=shortened(segment.b.text, MAX_TEXT),
        from_a=link(segment.url_a, width=70),
        from_b=link(segment.url_b, width=70),
        type=segment.type,
        score=f"{segment.score:.2f}",
        tags=_tags(segment.flags, bad=True),
    )


def _tags(names: Iterable[str], *, bad: bool = False) -> Html:
    return joined(fill('<span class="tag{bad}">{name}</span>', bad=" bad" if bad else "", name=name) for name in names)
