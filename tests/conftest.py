"""What holds for every test: a cache directory of its own, and Hypothesis without a clock."""

import os
import tempfile

import hypothesis

# Generated modules of the tests are neither taken from the user's cache nor left there, nor are those of the
# processes that tests start.
_CACHE = tempfile.TemporaryDirectory(prefix="adjoin-tests-")
os.environ["ADJOIN_CACHE_DIR"] = _CACHE.name

hypothesis.settings.register_profile("tests", deadline=None, database=None, print_blob=True)
hypothesis.settings.load_profile("tests")
