"""Speed of Palaestra beside its peers and limits, in one run: `make bench`, or `python -m benchmarks --help`."""
