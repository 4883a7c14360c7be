"""What goes wrong, as exceptions."""


class Error(Exception):
    """Base of all errors of x2ir.

    ``report`` is the :class:`Report` of the conversion, or None; ``failures`` are its failures, each
    with ``op``, ``node``, ``nodes``, ``reason``, ``hint`` and ``count``; ``code`` is the kind of
    error in words ("NOT_FOUND"); ``option`` is the option that is wrong, or None.
    """

    report = None
    code = ""
    option = None

    @property
    def failures(self):
        return self.report.failures if self.report is not None else []

    __str__ = Exception.__str__  # a KeyError would quote the message


class ConversionError(Error):
    """Ops of the model cannot be converted, or the target cannot express them."""


class ModelError(Error, ValueError):
    """The model is malformed, or its file is no model, or broken."""


class OptionError(Error, ValueError):
    """An option that does not exist, or a value that does not suit it or the model."""


class InputError(Error, KeyError, ValueError):
    """Arrays that the model does not take: of a name that no input has, a wrong type or shape."""


class FileError(Error, OSError):
    """The system failed: no such file, no permission, disk full, no memory."""


class Cancelled(Error):
    """The progress function said not to go on."""


class Unsupported(Exception):
    """For handlers to raise: this form of the op is not done. It becomes a failure of the report."""


_KINDS = {
    "NOT_FOUND": FileError,  # a file: of ops, there is a report
    "UNAVAILABLE": FileError,
    "PERMISSION_DENIED": FileError,
    "RESOURCE_EXHAUSTED": FileError,
    "ALREADY_EXISTS": FileError,
    "INVALID_ARGUMENT": ModelError,
    "DATA_LOSS": ModelError,
    "CANCELLED": Cancelled,
}


def make(code, message, report, option, fault):
    """The exception for a status; called by the extension module.

    fault: "option" or "input" where the status does not say whose fault it is, else "".
    """
    if fault == "option" or option is not None:
        kind = OptionError
    elif fault == "input":
        kind = InputError
    elif report is not None and report.failures:
        kind = ConversionError
    else:
        kind = _KINDS.get(code, ConversionError)
    error = kind(message)
    error.code, error.report, error.option = code, report, option
    return error
