"""Tests how long the runner on the salt-master waits. The modules of Salt are fakes."""

import importlib.util
import os
import sys
import types
import unittest
from unittest import mock

PATH = os.path.join(os.path.dirname(__file__), "..", "..", "salt", "_runners", "stowage.py")


def load():
    """Returns the module, and its client."""
    salt, client, exceptions = (types.ModuleType(name) for name in ("salt", "salt.client", "salt.exceptions"))
    salt.client, salt.exceptions = client, exceptions
    exceptions.SaltClientTimeout = TimeoutError
    local = mock.MagicMock()
    local.__enter__.return_value = local
    local.run_job.return_value = {"jid": "1", "minions": ["n1"]}
    client.get_local_client = mock.Mock(return_value=local)
    with mock.patch.dict(sys.modules, {module.__name__: module for module in (salt, client, exceptions)}):
        spec = importlib.util.spec_from_file_location("stowage_runner", PATH)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    module.__opts__ = {}
    return module, local


class Runner(unittest.TestCase):
    def setUp(self):
        self.module, self.local = load()

    def test_waits_for_the_requested_time(self):
        self.local.event.get_event.return_value = {"data": {"return": {"answer": []}, "retcode": 0}}
        for patience in (0.5, 12, 30):
            said = self.module.call("n1", "subjects", {}, patience)
            self.assertEqual(said, {"n1": {"ret": {"answer": []}, "retcode": 0}})
            self.assertEqual(self.local.event.get_event.call_args[1]["wait"], patience)

    def test_refuses_other_times(self):
        for patience in (0, -1, 31, 10**9, float("inf"), float("nan"), "12", None, True, [12]):
            with self.assertRaisesRegex(ValueError, "seconds"):
                self.module.call("n1", "subjects", {}, patience)
        self.local.run_job.assert_not_called()

    def test_calls_only_the_functions_of_stowage_on_one_minion(self):
        for minion, function in (("n1,n2", "poll"), ("", "poll"), (["n1"], "poll"), ("n1", "ping"), ("n1", "../x")):
            with self.assertRaisesRegex(ValueError, "not "):
                self.module.call(minion, function, {}, 10)
            with self.assertRaisesRegex(ValueError, "not "):
                self.module.start(minion, function, {})
        self.local.run_job.assert_not_called()


if __name__ == "__main__":
    unittest.main()
