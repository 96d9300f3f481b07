"""Golden searches, stored with the configuration that made them.

`python -m tests.search.test_signature` makes them anew.

A commit that changes them says why in its message.
"""

from __future__ import annotations

import json
from pathlib import Path

from palaestra.search.signature import fixed_searches, signature

GOLDEN = Path(__file__).parent.parent / "golden" / "searches.json"


def current() -> dict[str, object]:
    return {
        "signature": signature(),
        "searches": [
            {
                "game": search.game,
                "name": search.name,
                "config": search.config.model_dump(exclude_defaults=True),
                "rows": [
                    {
                        "actions": search.result.actions[row, :count].tolist(),
                        "visits": search.result.visits[row, :count].tolist(),
                        "chosen": int(search.result.chosen[row]),
                        "value": round(float(search.result.values[row]), 5),
                    }
                    for row, count in enumerate(search.result.counts.tolist())
                ],
            }
            for search in fixed_searches()
        ],
    }


def test_searches_are_those_that_were_stored() -> None:
    stored, now = json.loads(GOLDEN.read_text()), json.loads(json.dumps(current()))
    assert [(s["game"], s["name"]) for s in stored["searches"]] == [(s["game"], s["name"]) for s in now["searches"]]
    for old, new in zip(stored["searches"], now["searches"], strict=True):
        assert new == old, f"{old['game']} {old['name']}"
    assert now["signature"] == stored["signature"]


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(current(), indent=1) + "\n")
