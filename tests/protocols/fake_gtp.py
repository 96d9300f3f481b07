"""A program that speaks GTP and plays tic-tac-toe, well or in one of many wrong ways: python fake_gtp.py [MODE].

Started as a process by tests; imports nothing of the project. It plays the first free point.
"""

from __future__ import annotations

import pathlib
import sys
import time

POINTS = [f"{column}{row}" for row in (1, 2, 3) for column in "ABC"]


def genmove(mode: str, taken: list[str]) -> str:
    if mode == "hang":
        time.sleep(600)
    if mode == "die":
        print("out of memory", file=sys.stderr, flush=True)
        sys.exit(3)
    if mode == "once" and len(taken) > 2:  # the first move is good
        sys.exit(4)
    if mode == "flood":
        while True:
            print("=" + "x" * 100_000)
    wrong = {"illegal": "= Z9", "nonsense": "what?", "resign": "= resign", "refuse": "? no", "taken": f"= {taken[:1]}"}
    if mode in wrong:
        return wrong[mode]
    move = next(point for point in POINTS if point not in taken)
    taken.append(move)
    return f"= {move.lower()}"


def main() -> None:
    mode = sys.argv[1] if len(sys.argv) > 1 else "good"
    if mode == "touch":  # proof that it was started
        pathlib.Path(sys.argv[2]).touch()
    if mode == "mute":
        time.sleep(600)
    taken: list[str] = []
    for line in sys.stdin:
        words = line.split()
        answer = "="
        if words[0] == "protocol_version":
            answer = "= 1" if mode == "old" else "= 2"
        elif words[0] == "boardsize" and words[1] != "3":
            answer = "? unacceptable size"
        elif words[0] == "clear_board":
            taken.clear()
        elif words[0] == "play":
            if words[2] in taken:
                answer = "? illegal move"
            taken.append(words[2])
        elif words[0] == "genmove":
            answer = genmove(mode, taken)
        elif words[0] == "time_settings" and mode == "clocks":
            pathlib.Path(sys.argv[2]).write_text(" ".join(words))
        print(answer + "\n", flush=True)


if __name__ == "__main__":
    main()
