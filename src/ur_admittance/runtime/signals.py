"""Signals that end a program which moves an arm."""

import signal


def ending_signals() -> list[signal.Signals]:
    """Ctrl-C, a request to end, and a terminal that was closed or lost; the last one not under nohup."""
    ending = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        ending.append(signal.SIGHUP)
    return ending
