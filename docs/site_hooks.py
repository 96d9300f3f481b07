"""What `make docs` does beyond MkDocs: pages of the repository's root, folders in the navigation, links as on a forge.

README, RESULTS, CHANGELOG and CONTRIBUTING stand at the root and are shown without a copy. A link works in the
repository and on the site: it is written as in the repository, and changed here while a page is made.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from check_links import FENCE, LINK, ROOT
from mkdocs.structure.files import File, Files

DOCS = ROOT / "docs"
SAME = ("RESULTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff")
AT_ROOT = {"README.md": "index.md", **{name: name for name in SAME}}
COMMENT = re.compile(r"^(<!--.*-->)\n(?=\S)", re.MULTILINE)  # what follows it at once would be taken for HTML, too
TABLE_CODE = re.compile(r"`[^`\n]*\\\|[^`\n]*`")  # a code span of a table's cell in which | had to be escaped


def on_config(config: Any) -> Any:
    """`folder/` in the navigation stands for the pages of that folder."""
    config.nav = _unfold(config.nav)
    return config


def _unfold(entry: Any) -> Any:
    if isinstance(entry, list):
        return [_unfold(one) for one in entry]
    if isinstance(entry, dict):
        return {title: _unfold(inside) for title, inside in entry.items()}
    if not entry.endswith("/"):
        return entry
    pages = sorted((DOCS / entry).glob("*.md"), key=lambda page: (page.name != "README.md", page.name))
    return [page.relative_to(DOCS).as_posix() for page in pages]


def on_files(files: Files, config: Any) -> Files:
    """The files of the root join those of docs/."""
    for name, uri in AT_ROOT.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page with links that hold on the site."""
    own = next((name for name, uri in AT_ROOT.items() if uri == page.file.src_uri), None)
    place = Path(own) if own else Path("docs", page.file.src_uri)
    parts, end = [], 0
    for fence in FENCE.finditer(markdown):  # code stays as it is
        parts += [_prose(markdown[end : fence.start()], place), fence[0]]
        end = fence.end()
    return "".join([*parts, _prose(markdown[end:], place)])


def _prose(text: str, place: Path) -> str:
    text = LINK.sub(lambda link: link[0].replace(f"({link[1]})", f"({site_link(link[1], place)})"), text)
    text = COMMENT.sub(r"\1\n\n", text)
    return TABLE_CODE.sub(lambda code: code[0].replace(r"\|", "|"), text)


def site_link(target: str, place: Path) -> str:
    """A link of the page at `place`, a path from the root of the repository, as it has to be on the site."""
    path, mark, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", target):
        return target
    end = posixpath.normpath(posixpath.join(place.parent.as_posix(), path))
    return posixpath.relpath(_uri(end), posixpath.dirname(_uri(place.as_posix())) or ".") + mark + anchor


def _uri(path: str) -> str:
    """Where a file of the repository is on the site."""
    return AT_ROOT.get(path) or path.removeprefix("docs/")
