"""Classes that share close(), test() and wait(): a handle has an object of the native module in _open."""


def forwarded(name, doc):
    """A property of the object of the native module."""
    return property(lambda self: getattr(self._open, name), doc=doc)


class Closed:
    """A handle that all ranks close: by close(), or at the end of a with."""

    def __init__(self, opened):
        self._open = opened

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Frees it; further calls do nothing. Collective: all ranks close their handles in the same order."""
        self._open.close()


class Begun(Closed):
    """An exchange that is begun, and completed later."""

    predicted_seconds = forwarded(
        "predicted_seconds", "Of one exchange; None: the strategy was named, or has no prediction.")

    def test(self):
        """Is it complete? Advances it."""
        return self._open.test()


class Planned(Begun):
    """A planned exchange, which runs many times."""

    def wait(self):
        """Completes it."""
        self._open.wait()


class Repeated(Planned):
    """A planned exchange of the same arrays."""

    def start(self):
        """Begins it. Before wait(), the sent array must not change, and the received one must not be used."""
        self._open.start()

    def run(self):
        """start() and wait()."""
        self.start()
        self.wait()


class Chosen:
    """A handle with one strategy."""

    strategy = forwarded("strategy", "The strategy as a text.")
    explanation = forwarded("explanation", "The reason of the choice, for people.")
