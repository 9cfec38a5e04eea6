"""Writing of shards by a build: jobs, order, keys and the commit."""
