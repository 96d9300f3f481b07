"""Every link between the project's own Markdown files must lead somewhere: `make links`. Needs no installed package."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The anchors that headings make: small letters, spaces as dashes, no punctuation; -1, -2, … when repeated."""
    times: Counter[str] = Counter()
    found = set()
    for title in HEADING.findall(FENCE.sub("", text)):
        name = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
        found.add(f"{name}-{times[name]}" if times[name] else name)
        times[name] += 1
    return found


def broken_links(page: Path) -> list[str]:
    """One line for every link of a page that leads nowhere; links to the web are not followed."""
    found = []
    for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            found.append(f"{page.relative_to(ROOT)}: {target} does not exist")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
            found.append(f"{page.relative_to(ROOT)}: {target} names no heading")
    return found


def main() -> int:
    pages = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    found = [line for page in pages for line in broken_links(page)]
    for line in found:
        print(line, file=sys.stderr)
    print(f"{len(pages)} pages, {len(found)} broken links")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
