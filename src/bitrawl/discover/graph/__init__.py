"""Who links to whom, from what others have crawled: host graphs, tables of links, archives, services."""
