"""How much of a clock must be kept so that an answer arrives before it ends: measured, not guessed.

A player's clock starts when the manager begins to connect and ends when the last byte of the answer is there. What the
player sees of it is shorter by the way of the message and the way of the answer, which the operating system measures
for every connection, and by its own lateness, which is measured at every move. Times are those of `time.monotonic`,
which all processes of a machine share. Knows no messages.
"""

from __future__ import annotations

import socket
import struct

UNKNOWN_ROUND_TRIP = 0.1  # seconds, where the system does not tell
_RTT_AT = 68  # where struct tcp_info of Linux keeps the smoothed round trip, in microseconds


def round_trip(connection: socket.socket | None) -> float:
    """Seconds from here to the other end of a TCP connection and back, as the system has measured them."""
    option = getattr(socket, "TCP_INFO", None)
    if connection is None or option is None:
        return UNKNOWN_ROUND_TRIP
    try:
        known = connection.getsockopt(socket.IPPROTO_TCP, option, _RTT_AT + 4)
        return float(struct.unpack_from("=I", known, _RTT_AT)[0]) / 1e6
    except (OSError, struct.error):
        return UNKNOWN_ROUND_TRIP


class Margin:
    """What is kept of every clock: twice the round trip, the lateness of earlier answers and a little more."""

    FLOOR = 0.05  # seconds for whatever has not been measured yet,
    HEDGE = 0.01  # and this share of the clock, because a busy machine may be late any time
    SHARE = 0.5  # of a clock at most: a very short one is halved rather than used up
    FADE = 0.9  # what is left of an old lateness after one punctual answer

    def __init__(self) -> None:
        self.late = 0.0

    def observe(self, seconds: float) -> None:
        """An answer was ready this long after it was due; negative if it was early."""
        self.late = max(seconds, self.FADE * self.late)

    def keep(self, clock: float, trip: float) -> float:
        """Seconds of this clock that are not for thinking."""
        return min(self.SHARE * clock, self.FLOOR + self.HEDGE * clock + 2 * trip + 1.5 * self.late)

    def end(self, began: float, clock: float, trip: float) -> float:
        """When thinking must be over, for a connection that was there at `began`."""
        return began - trip + clock - self.keep(clock, trip)
