"""The strategies of the papers, one file for each paper, to compare with: docs/decisions/paper-strategies.md says how they were read."""
