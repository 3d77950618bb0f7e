"""What exchanges that are completed later have in common."""


class Closed:
    """What is closed by all ranks together: by close(), or at the end of a with."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Frees it; nothing the second time. Collective: all ranks close what they have in the same order."""
        self._open.close()


class Begun(Closed):
    """An exchange that is begun, and completed later."""

    def __init__(self, opened):
        self._open = opened

    def test(self):
        """Is it complete? Moves it on."""
        return self._open.test()

    @property
    def predicted_seconds(self):
        """Of one exchange; None: the strategy was named, or nothing has a price."""
        return self._open.predicted_seconds


class Planned(Begun):
    """One that is planned, and runs many times."""

    def wait(self):
        """Completes it."""
        self._open.wait()


class Repeated(Planned):
    """One that moves the same arrays each time."""

    def start(self):
        """Begins one: what is sent must not change, and what is received not be used, before wait()."""
        self._open.start()

    def run(self):
        """start() and wait()."""
        self.start()
        self.wait()


class Chosen:
    """What tells which strategy it runs."""

    @property
    def strategy(self):
        """The strategy that runs, as a text."""
        return self._open.strategy

    @property
    def explanation(self):
        """Why it was chosen, for people."""
        return self._open.explanation
