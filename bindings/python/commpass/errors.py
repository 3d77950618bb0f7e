"""What Commpass raises. Every message is one sentence: where, what, and the remedy."""


class Error(RuntimeError):
    """Base of everything that Commpass raises on its own account."""


class InputError(Error, ValueError):
    """Something that was given is wrong: an array, a file, a profile, a strategy, a rank."""


class NotApplicable(Error):
    """A strategy that is well-formed but cannot be used for this layout or profile."""
