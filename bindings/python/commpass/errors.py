"""Exceptions of Commpass. A message is one sentence: the place, the problem and the remedy."""


class Error(RuntimeError):
    """The base of all exceptions of Commpass."""


class InputError(Error, ValueError):
    """An input is wrong: an array, a file, a profile, a strategy, a rank."""


class NotApplicable(Error):
    """A valid strategy is not applicable to the layout or the profile."""
