"""One file an experiment: each holds `EXPERIMENT`, or `EXPERIMENTS` where several are one table of settings."""
