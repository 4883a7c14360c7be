"""All tests of the Python package: unittest's, the doctests of docstrings and of docs/python.md.

    PYTHONPATH=build/python python3 python/tests/run.py [NAME...]
"""

import doctest
import importlib
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)

import x2ir  # noqa: E402
import models  # noqa: E402


def documents(suite):
    """Doctests run in a folder with the models that they name."""

    def set_up(test):
        test.folder = tempfile.TemporaryDirectory()
        test.before = os.getcwd()
        os.chdir(test.folder.name)
        models.write_small("model.onnx")

    def tear_down(test):
        os.chdir(test.before)
        test.folder.cleanup()

    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    arguments = {"setUp": set_up, "tearDown": tear_down, "optionflags": flags}
    for name in ("", "._model", "._look", "._own_ops", "._graph"):
        module = importlib.import_module("x2ir" + name)
        suite.addTests(doctest.DocTestSuite(module, extraglobs={"x2ir": x2ir}, **arguments))
    page = os.path.join(ROOT, "docs", "python.md")
    suite.addTests(doctest.DocFileSuite(page, module_relative=False, **arguments))


def main():
    loader = unittest.TestLoader()
    suite = unittest.TestSuite()
    if len(sys.argv) > 1:
        suite.addTests(loader.loadTestsFromNames(sys.argv[1:]))
    else:
        suite.addTests(loader.discover(HERE, "*_test.py"))
        documents(suite)
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
