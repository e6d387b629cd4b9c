"""Bilingual terms: how many are right, on the bundled web by a list of its words, and what jobs that you name hold.

`python -m lab.bench.term_pairs DIR ...` also prints the first fifty pairs of mined jobs, for a person to judge, with the
CPU time that they took.
"""

import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bitrawl.arguments import TERM_PAIR_SCORE
from bitrawl.corpus.term_pairs import TermPair, find_pairs
from bitrawl.demo.sites import sites
from bitrawl.job import open_folder
from bitrawl.model import Language
from bitrawl.text.frequencies import Keyness, Phrases, Texts, general_rates
from bitrawl.text.sentences import sentences
from bitrawl.text.words import words

# What is right on the bundled web, by what its pages mean.
VOCABULARY = {
    "fr": """bee=abeille; hive=ruche; swarm=essaim; beekeeper=apiculteur; honey=miel; queen=reine; jar=pot|bocal;
        metre=mètre; hour=heure; minute=minute; volunteer=bénévole; water=eau; crown=couronne;
        Saltholm=Saltholm; Hollin=Hollin; sensor=capteur; Tidewatch=Tidewatch; Perseverance=Perseverance;
        clock=horloge|pendule; goose=oie; lamp=lampe; bell=cloche; stove=poêle; half=demi|moitié; ferry=bac;
        book=livre; upper lake=lac supérieur; lake=lac; engine=locomotive; winter=hiver;
        kilogram=kilo|kilogramme; kilometre=kilomètre; degree=degré; dog=chien; fog=brouillard;
        library=bibliothèque; reader=lecteur; museum=musée; railway=chemin de fer; station=gare|station;
        train=train; tide=marée; boat=bateau|canot; rescue=sauvetage; river=rivière|fleuve; morning=matin;
        evening=soir""",
    "es": """bee=abeja; hive=colmena; swarm=enjambre; beekeeper=apicultor; honey=miel; queen=reina; jar=tarro;
        metre=metro; hour=hora; minute=minuto; volunteer=voluntario; water=agua; crown=corona;
        kilogram=kilo|kilogramo; kilometre=kilómetro; donkey=burro; observatory=observatorio;
        winter=invierno; dumpling=empanadilla; dome=cúpula; degree=grado; dog=perro; flour=harina;
        half an hour=media hora; evening=tarde|noche; stove=estufa; clock=reloj; each=cada;
        upper lake=lago de arriba; fog=niebla; lake=lago; book=libro; library=biblioteca; reader=lector;
        telescope=telescopio; star=estrella; railway=ferrocarril; engine=locomotora|máquina; boat=barco|bote;
        rescue=rescate|salvamento; bell=campana; morning=mañana|madrugada; goose=ganso; lamp=lámpara;
        course=curso; kitchen=cocina""",
    "zh": """crown=克朗; kilogram=公斤|千克; flour=面粉; minute=分钟; sensor=传感器; spring=春天|春季; Tidewatch=Tidewatch; tea=茶叶;
        hour=小时; degree=度; metre=米; water=水|热水; dumpling=饺子; book=书|图书; library=图书馆; reader=读者; station=站|站点;
        data=数据; leaf=叶子|茶叶; autumn=秋天; summer=夏天; winter=冬天; kitchen=厨房; course=课程; evening=晚上""",
}


def of_bundled_web(language: str) -> list[TermPair]:
    """From the articles in English and that language, sentence by sentence; only pairs that are written by default."""
    languages = Language("en"), Language(language)
    segments = list(_segments(languages))
    a, b = (
        Keyness(Phrases(Texts(code, (segment[side] for segment in segments))), general_rates(code))
        for side, code in enumerate(languages)
    )
    return [one.terms for one in find_pairs(a, b) if one.terms.score >= TERM_PAIR_SCORE]


def right(found: TermPair, language: str) -> bool:
    """Whether the vocabulary has it, in any inflection."""
    return _key(found.term_a, found.term_b, language) in _vocabulary(language)


def _vocabulary(language: str) -> set[tuple[str, str]]:
    entries = (entry.strip().split("=") for entry in VOCABULARY[language].split(";"))
    return {_key(term, other, language) for term, others in entries for other in others.split("|")}


def _key(a: str, b: str, language: str) -> tuple[str, str]:
    return " ".join(words(a, Language("en"))), " ".join(words(b, Language(language)))


def _segments(languages: tuple[Language, Language]) -> Iterator[tuple[str, str]]:
    for site in sites().values():
        for article in site.page:
            if set(languages) <= set(site.languages_of(article)):
                sides = [site.version(article, code).text.strip().split("\n\n") for code in languages]
                if len(sides[0]) == len(sides[1]):
                    for a, b in zip(*sides, strict=True):
                        yield from _split((a, b), languages)


def _split(paragraphs: tuple[str, str], languages: tuple[Language, Language]) -> Iterator[tuple[str, str]]:
    a, b = (list(sentences(text, code)) for text, code in zip(paragraphs, languages, strict=True))
    yield from zip(a, b, strict=True) if len(a) == len(b) else [paragraphs]


def show_job(folder: Path) -> None:
    began = time.process_time()
    terms = open_folder(folder).term_pairs()
    print(f"\n{folder}: {len(terms)} pairs of terms, {time.process_time() - began:.1f} s of CPU")
    for one in islice(terms, 50):
        print(f"{one.score:.2f} {one.count_a:>6} {one.count_b:>6} {one.count_together:>6}  {one.term_a} = {one.term_b}")


def main() -> None:
    print("bilingual terms of the bundled web, of the first 20")
    for language in VOCABULARY:
        found = of_bundled_web(language)[:20]
        wrong = [f"{one.term_a} = {one.term_b}" for one in found if not right(one, language)]
        print(f"en-{language}: {len(found) - len(wrong)} of {len(found)} right; {', '.join(wrong) or 'none wrong'}")
    for folder in sys.argv[1:]:
        show_job(Path(folder))


if __name__ == "__main__":
    main()
