"""Which sites are bilingual, and where more of them are: link predictor, site check, link graph, back and forth."""
