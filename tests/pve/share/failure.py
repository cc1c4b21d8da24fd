"""How a program ends that cannot do what it was asked."""


class Fail(Exception):
    """Its text, as it goes to standard error, and its exit status."""

    def __init__(self, text, code=255):
        super().__init__(text)
        self.text = text
        self.code = code


class Interrupted(Fail):
    """A signal told the worker to end."""

    def __init__(self, text="received interrupt "):
        super().__init__(text)
