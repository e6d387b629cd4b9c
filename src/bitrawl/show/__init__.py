"""What people look at: the reports, as HTML files that open offline, and their short form for the terminal.

`wording` has the names, labels and sentences. `templating` is the one HTML engine, of the reports and of the web app:
Jinja2, which escapes every value. The markup is in `templates/`. `harvest` is a whole: pictures of simulations, and for them alone.
"""

from typing import TYPE_CHECKING

from bitrawl.doors import door

if TYPE_CHECKING:
    from bitrawl.show.diagnosis import Diagnosis, Point, Symptom, diagnose
    from bitrawl.show.discovery_report import report_of_search
    from bitrawl.show.job_report import brief, report_of_job
    from bitrawl.show.merge_report import report_of_merge
    from bitrawl.show.plots import COLOURS, Range, Series, Written, bars, histogram, lines, ranges, thinned
    from bitrawl.show.templating import new_environment, style_sheet
    from bitrawl.show.wording import ADVICE, counted, fetched, looks_scripted, size
else:
    __getattr__ = door(__name__)
