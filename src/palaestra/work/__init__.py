"""Where work is done: in this process, on its threads or in other processes. Knows nothing of what the work is."""
