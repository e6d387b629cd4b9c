"""The sections of the report on what was mined: duplicates, pairs, segments, the corpus and samples."""

from collections.abc import Iterable, Mapping
from urllib.parse import quote

from bitrawl.corpus.naming import without_files
from bitrawl.report.job.facts import CorpusCount, Facts, PairSample, SegmentSample
from bitrawl.report.markup import Html, fill, joined, link, shortened
from bitrawl.report.plots import Bar, bars, histogram
from bitrawl.report.wording import METHODS, REFUSALS, counted, language_pair, method_name, number, share, size

MAX_TEXT = 600  # characters of a segment that are shown; judgement


def duplicates(facts: Facts) -> Html:
    """Pages that repeat others; nothing if none does."""
    mined = facts.mined
    if not mined.duplicates:
        return Html()
    rows = joined(
        fill("<tr><td>{url}</td><td>{other}</td></tr>", url=link(url), other=link(other))
        for url, other in mined.duplicate_samples
    )
    return fill(
        '<h3>Duplicate pages</h3><p>{text}</p><div class="card"><table class="sides"><thead><tr><th>page</th>'
        "<th>has the text of</th></tr></thead><tbody>{rows}</tbody></table></div>",
        text=f"{counted(mined.duplicates, 'page has', 'pages have')} nearly the same text as another page, and"
        f" {'is' if mined.duplicates == 1 else 'are'} left out of the corpus. Examples:",
        rows=rows,
    )


def pairs(facts: Facts) -> Html:
    """Pairs by languages, score and method, and the refused ones."""
    mined = facts.mined
    if not facts.crawled.summary.pages or len(facts.asked.langs) == 1:
        return Html()
    if not mined.begun:
        return fill(
            "<p>{text}</p>", text="The pages of this job have not been paired yet. To pair them, run: bitrawl pair DIR"
        )
    if not mined.pairs:
        return joined(
            [fill("<p>{text}</p>", text="No two pages were found to be translations of each other."), _refusals(facts)]
        )
    languages = [Bar(language_pair(one.lang_a, one.lang_b), one.pairs) for one in mined.language_pairs]
    methods = [
        Bar(f"{one.letter} · {method_name(one.letter)}", one.pairs, METHODS.get(one.letter, ("", ""))[1], one.alone)
        for one in mined.methods
    ]
    return fill(
        "<p>{text}</p>"
        '<div class="two"><div class="card"><h3>By languages</h3>{languages}</div>{scores}</div>'
        '<div class="card space"><h3>By method</h3><p>{explained}</p>{methods}</div>{refused}',
        text="Two pages are a pair if all of the evidence together says that one is a translation of the other. The score"
        " is a probability: of the pairs that score 0.9, nine in ten should be right.",
        languages=bars(languages, total=mined.pairs),
        scores=histogram("Page pairs by score", mined.pair_scores, x="score", y="pairs"),
        explained="Each bar shows how many pairs a method supports. Usually several methods agree. The solid part of each"
        " bar shows pairs that no other method supports.",
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
        '<h3>Refused pairs</h3><p>{text}</p><div class="card"><table><thead><tr><th>reason</th><th class="n">pairs</th>'
        "<th>example</th></tr></thead><tbody>{rows}</tbody></table></div>",
        text="Some evidence proposed these pages as pairs (they declare it, for example, or their URLs suggest it), but"
        " they were refused.",
        rows=rows,
    )


_SCORES = {
    "score": ("Segment pairs by score", "score of the alignment"),
    "coverage": ("Words with a translation on the other side", "share of words, mean of both sides"),
    "length_ratio": ("Lengths", "length of the shorter text / length of the longer"),
}


def segments(facts: Facts) -> Html:
    """Segment pairs by score, number of sentences and flag; nothing if there are none."""
    mined = facts.mined
    if not mined.segments:
        return Html()
    charts = [
        histogram(_SCORES[name][0], counts, x=_SCORES[name][1], y="segment pairs")
        for name, counts in sorted(mined.segment_scores.items(), key=lambda item: list(_SCORES).index(item[0]))
    ]
    clean = mined.segments - mined.flagged
    flags = [Bar("no flag", clean), *(Bar(flag, count) for flag, count in mined.flags.items())]
    types = [Bar(name, count) for name, count in mined.types.items()]
    return fill(
        '<p>{text}</p><div class="two">{charts}<div class="card"><h3>By number of sentences on each side</h3>{types}'
        '</div></div><div class="card space"><h3>By flag</h3>{flags}</div>',
        text=f"These are all segment pairs that were aligned; {share(clean, mined.segments)} of them have no flag. The"
        " thresholds of the job decide which get into the corpus. You can change them without aligning again.",
        charts=joined(charts),
        flags=bars(flags, total=mined.segments),
        types=bars(types, total=mined.segments),
    )


def corpus(facts: Facts) -> Html:
    """What was written, what the thresholds kept out, and the files; nothing before anything is written."""
    written = {name: count for name, count in facts.corpora.items() if count.units or count.refused}
    missing = fill("<p>{text}</p>", text=without_files(facts.without_files)) if facts.without_files else Html()
    return joined([_counts(written) if written else Html(), missing, _files(facts.files) if facts.files else Html()])


def _counts(written: Mapping[str, CorpusCount]) -> Html:
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
    return fill(
        '<p>{text}</p><div class="card"><table><thead><tr><th>corpus</th><th class="n">units</th>'
        '<th class="n">duplicates merged</th><th class="n">refused</th><th>by threshold or verdict</th></tr></thead>'
        "<tbody>{rows}</tbody></table></div>",
        text="The corpus holds the segment pairs that reach the thresholds of the job file, unless a person said otherwise. Equal pairs are merged into one"
        " unit, which keeps all of its sources. To write the corpus with other thresholds, run: bitrawl export DIR",
        rows=rows,
    )


def _files(files: Mapping[str, int]) -> Html:
    rows = joined(
        fill(
            '<tr><th scope="row"><a href="corpus/{path}"><bdi>{name}</bdi></a></th><td class="n">{size}</td></tr>',
            path=quote(name),
            name=name,
            size=size(count) if count else "",
        )
        for name, count in files.items()
    )
    return fill('<h3>Files</h3><div class="card"><table class="files">{rows}</table></div>', rows=rows)


def samples(facts: Facts) -> Html:
    """Samples side by side, by language pair."""
    mined = facts.mined
    if not mined.pair_samples:
        return Html()
    text = (
        f"{counted(len(mined.segment_samples), 'segment pair')} of the corpus, drawn at random from all sites and all"
    )
    parts = [fill("<p>{text} ranges of scores, and some page pairs.</p>", text=text)]
    for one in mined.language_pairs:
        languages = (one.lang_a, one.lang_b)
        pairs = [s for s in mined.pair_samples if (s.pair.lang_a, s.pair.lang_b) == languages]
        segments = [s for s in mined.segment_samples if (s.lang_a, s.lang_b) == languages]
        title = language_pair(*languages)
        parts += [
            fill(_SAMPLES, title=f"{title}: {what}", rows=joined(rows))
            for what, rows in (
                ("segment pairs", list(map(_segment_rows, segments))),
                ("page pairs", list(map(_pair_rows, pairs))),
            )
            if rows
        ]
    return joined(parts)


_SAMPLES = '<h3>{title}</h3><div class="card"><table class="sides">{rows}</table></div>'


def _pair_rows(sample: PairSample) -> Html:
    pair = sample.pair
    evidence = sorted(pair.evidence.items(), key=lambda item: -item[1])
    return fill(
        '<tr><td><span lang="{lang_a}" dir="auto">{title_a}</span><small>{url_a}</small></td>'
        '<td><span lang="{lang_b}" dir="auto">{title_b}</span><small>{url_b}</small></td></tr>'
        '<tr class="about"><td colspan="2">score {score} {tags}</td></tr>',
        lang_a=pair.lang_a,
        lang_b=pair.lang_b,
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
        '<tr class="about"><td colspan="2">score {score} · {type} {tags}</td></tr>',
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
