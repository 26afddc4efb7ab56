# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Test Anything Protocol for the project's Python tests.

    tap = Tap()
    tap.ok(condition, "what holds", detail)      a failed check prints detail as a diagnostic
    tap.equal(got, wanted, "what is equal")
    tap.skip("what", "why")
    tap.done()                                   prints the plan; exits 1 after a failure
"""
import sys


class Tap:
    def __init__(self, stream=None):
        self.stream = stream or sys.stdout
        self.count = 0
        self.failed = 0

    def _line(self, text):
        self.stream.write(text + "\n")
        self.stream.flush()

    def note(self, text):
        for line in str(text).splitlines():
            self._line("# " + line)

    def ok(self, condition, name, detail=None):
        self.count += 1
        self._line(f"{'ok' if condition else 'not ok'} {self.count} - {name}")
        if not condition:
            self.failed += 1
            if detail is not None:
                self.note(detail)
        return bool(condition)

    def equal(self, got, wanted, name):
        return self.ok(got == wanted, name, f"got {got!r}, wanted {wanted!r}")

    def skip(self, name, why):
        self.count += 1
        self._line(f"ok {self.count} - {name} # SKIP {why}")

    def done(self):
        self._line(f"1..{self.count}")
        sys.exit(1 if self.failed or not self.count else 0)
