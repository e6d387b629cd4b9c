"""A job's life, the same for the command line, the front door, the web app and the cluster.

folder    what a job folder holds; asking for a job, resuming it, starting over
crawling  visit sites
mining    mine the sites while they are visited, or again
worker    the child processes that mine
export    write the corpus
status    how far a job is, and whether it is running
bootstrap a topic, seeds and bilingual sites from the name of a subject
pages     pages apart from any job, for `bitrawl clean`
"""
