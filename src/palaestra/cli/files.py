"""Files that a verb will write, looked at before hours of work and not after them."""

from __future__ import annotations

from pathlib import Path

from palaestra.base.errors import ConfigError


def writable(file: str | Path) -> Path:
    """The path of a file to be written; ConfigError if its folder is not there, or if it is a folder itself."""
    path = Path(file)
    if not path.parent.is_dir():
        raise ConfigError(f"cannot write {path}: there is no folder {path.parent}; make it first")
    if path.is_dir():
        raise ConfigError(f"cannot write {path}: it is a folder")
    return path


def picture(file: str | Path) -> Path:
    """The path of a picture to be written; ConfigError also for an ending that is no format of pictures."""
    from palaestra.lab.rating_plots import figure_format

    figure_format(Path(file))
    return writable(file)
