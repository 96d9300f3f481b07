"""A program that speaks UCI and plays the pawn race of `squares`: python fake_uci.py [MODE]. Imports nothing of it."""

from __future__ import annotations

import sys
import time


def main() -> None:
    mode = sys.argv[1] if len(sys.argv) > 1 else "good"
    options: dict[str, str] = {}
    moves: list[str] = []
    for line in sys.stdin:
        words = line.split()
        if words[0] == "uci":
            if mode == "mute":
                time.sleep(600)
            print("id name fake\noption name Skill Level type spin default 20 min 0 max 20\nuciok", flush=True)
        elif words[0] == "setoption":
            cut = words.index("value")
            options[" ".join(words[2:cut])] = " ".join(words[cut + 1 :])
        elif words[0] == "isready":
            print("readyok", flush=True)
        elif words[0] == "position":
            moves = words[words.index("moves") + 1 :] if "moves" in words else []
        elif words[0] == "go":
            if mode == "hang":
                time.sleep(600)
            if mode == "die":
                sys.exit(5)
            own = [move for place, move in enumerate(moves) if place % 2 == len(moves) % 2]
            # Every pawn of this side stands where its moves have brought it; the first file's goes on.
            rank = (2 if len(moves) % 2 == 0 else 5) + (1 if len(moves) % 2 == 0 else -1) * sum(
                m[0] == "a" for m in own
            )
            step = 1 if len(moves) % 2 == 0 else -1
            best = {"illegal": "a1a1", "none": ""}.get(mode, f"a{rank}a{rank + step}")
            print(f"info string {options} {' '.join(words)}\nbestmove {best}", flush=True)


if __name__ == "__main__":
    main()
