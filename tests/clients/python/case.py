"""Cases of a program: their headers, and errors by SQLSTATE and message."""
import contextlib
import sys


def state(e):
    for attribute in ("pgcode", "sqlstate"):
        if getattr(e, attribute, None):
            return getattr(e, attribute)
    for inner in (getattr(e, "orig", None), e.__cause__):
        if inner is not None:
            return state(inner)
    return type(e).__name__


@contextlib.contextmanager
def case(name, after=None):
    """Runs the case NAME. after is called when it has failed, as to roll back."""
    print("==", name)
    try:
        yield
    except Exception as e:  # whatever a driver raises is what its user sees
        print(state(e), str(e).strip().split("\n")[0])
        if after:
            after()
    sys.stdout.flush()
