"""What the steps of the package tests compare with."""


def equal(got, expected, what):
    if got != expected:
        raise AssertionError(f"{what}: expected {expected!r}, got {got!r}")
