"""How a build writes shards: jobs, order, keys and the commit."""
