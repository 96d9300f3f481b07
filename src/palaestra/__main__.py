"""`python -m palaestra` is the command `palaestra`."""

from palaestra.cli.main import run

if __name__ == "__main__":
    run()
