"""A request that is refused, with the code of the reply; apart, since clients need no web framework to know it."""

from sfumato.errors import InputError


class Refused(InputError):
    """A request that is not done as asked; `status` is the code of the reply."""

    def __init__(self, message: str, status: int = 422) -> None:
        self.status = status
        super().__init__(message)
