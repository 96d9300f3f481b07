"""The command line, for tests of what pages say."""

from tests.cli.conftest import cli as cli
