"""What to try after an end, or when little was found: in the words of the command line, and in those of the web app."""

from enum import StrEnum
from typing import Self

import msgspec

from bitrawl.message import Message, Value
from bitrawl.reasons import Action, Reason


class Remedy(StrEnum):
    """What to try. A row has a name, the sentence of the command line, that of the web app, and the button there."""

    advice: str
    text: str  # a key of the catalogues
    action: Action | None

    def __new__(cls, name: str, advice: str, text: str, action: Action | None = None) -> Self:
        row = str.__new__(cls, name)
        row._value_, row.advice, row.text, row.action = name, advice, text, action
        return row

    # fmt: off
    GO_ON = ("go-on", "To go on, run the same command again.", "You can go on where it stopped.", Action.RESUME)
    TRY_AGAIN = ("try-again", "To try again, run the same command again.", "You can try again, now or later.",
        Action.RESUME)
    VISIT_REST = ("visit-rest", "To visit the rest, run the same command with --exhaustive.",
        "The rest of the site can still be visited.", Action.VISIT_REST)
    LARGER_LIMIT = ("larger-limit", "To go on, run the same command with a larger {flag}.",
        "You can go on with a larger limit.", Action.LARGER_LIMIT)
    SITE_LIMIT = ("site-limit", "To go on, run the same command with a larger {flag}.",
        "Only the operator of this server can raise this limit.")
    OTHER_ADDRESS = ("other-address", "Give {address} as the seed.", "Start again with {address}.", Action.REPEAT)
    # of a command that failed, which has said on the command line what to do
    CHANGE_SETTINGS = ("change-settings", "", "Change the settings, and start again.", Action.REPEAT)
    OTHER_ARCHIVE = ("other-archive", "", "Start again with another archive.", Action.REPEAT)
    OTHER_CATEGORY = ("other-category", "", "Look the category up in the wiki, and copy its name into the form.", Action.REPEAT)
    WIKI_LATER = ("wiki-later", "",
        "Try again later. If the wiki does not answer then either, tell the operator of this server.", Action.RESUME)
    TELL_OPERATOR = ("tell-operator", "", "Tell the operator of this server.")
    # of a diagnosis
    WAIT = ("wait", "Wait until the job has ended.", "Wait until the job has ended.")
    PAGE_IN = ("page-in", "Add the URL of a page in {languages} as a seed.",
        "Start again, and add the address of a page in {languages}.", Action.REPEAT)
    ADD_LANGUAGES = ("add-languages", "To include them, mine the site again, into another folder: {command}",
        "Start again, and add these languages.", Action.REPEAT)
    ONE_SITE = ("one-site", "If this is the same site under another name, add --one-site {home},{address}.",
        "Start again, and add {address} to the addresses.", Action.REPEAT)
    LOOK_AT_REFUSED = ("look-at-refused",
        "Check the refused pairs in the report. If pairs were refused wrongly, describe their URLs with --url-pair.",
        "Look at the refused pairs: the report under Download lists them.")
    LOOSEN_TOPIC = ("loosen-topic",
        ("Check the refused pairs in the report. If they are about the topic, lower its thresholds, or give texts or terms in"
        " both languages."),
        "If they are about the topic, start again with texts or terms in both languages.", Action.REPEAT)
    URL_RULE = ("url-rule", "If the URLs follow a rule, say what marks the languages in them: --url-pair {codes}.",
        "If the site has translations, start again from a page that has one.", Action.REPEAT)
    OTHER_EXAMPLES = ("other-examples", "Name other pages about the topic with --like, or give texts with --texts.",
        "Start again with other pages or texts about the topic.", Action.REPEAT)
    MORE_TEXTS = ("more-texts", "Give more: ten articles of a few pages each are enough.",
        "Start again with more texts: ten articles of a few pages each are enough.", Action.REPEAT)
    LOWER_THRESHOLD = ("lower-threshold",
        ("If the pages just below the threshold are about the topic (see the report), {change} in [topic] of a copy of job.toml,"
        " and judge the same pages without fetching them again: {command}"),
        "If these pages are about the topic, start again with a lower threshold for the topic.", Action.REPEAT)
    TERMS_IN = ("terms-in",
        "Add terms in {languages}, each with its language, as in 50:term>{code}. bitrawl topic translate proposes them.",
        "Start again, and add terms in {languages}.", Action.REPEAT)
    MARK_TERMS = ("mark-terms", "Write the language after each term, as in 50:term>{code}, or give a list in {language}.",
        "Start again with a list in {language}.", Action.REPEAT)
    TERMS_OF_TEXT = ("terms-of-text", "Give terms that are in the text itself. To see what a page has: {command}",
        "Start again with terms that are in the text itself.", Action.REPEAT)
    CHECK_TOPIC = ("check-topic",
        ("Check that the seeds lead to pages about the topic, and look at one that is: {command}. bitrawl topic learn makes a"
        " list from texts."),
        "Check that the addresses lead to pages about the topic, or start again with other terms.", Action.REPEAT)
    CHECK_SEEDS = ("check-seeds", "Check that the seeds lead to pages about the topic.",
        "Check that the addresses lead to pages about the topic.", Action.REPEAT)
    # fmt: on


class Tip(msgspec.Struct, frozen=True):
    """One thing to try. `str` is for the command line."""

    remedy: Remedy | Reason
    values: dict[str, Value] = {}

    def __str__(self) -> str:
        return str(Message(self.remedy.advice, self.values))

    @property
    def message(self) -> Message:
        """For the web app."""
        return Message(self.remedy.text, self.values)

    @property
    def action(self) -> Action | None:
        return self.remedy.action
