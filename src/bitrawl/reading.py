"""What reads pages, made in each child process: apart from `assemble`, so that a child loads nothing else."""

from bitrawl.page.analyser import PageAnalyser
from bitrawl.page.boilerplate import BoilerplateClassifier
from bitrawl.text.language import NgramLanguageIdentifier


def page_reader() -> PageAnalyser:
    """With the models of the package."""
    return PageAnalyser(NgramLanguageIdentifier(), BoilerplateClassifier.load())
