"""What runs jobs: one process, threads, processes."""
