"""`python -m palaestra` is the command `palaestra`."""

from palaestra.cli.start import run

if __name__ == "__main__":
    run()
