"""Tests which requests salt-api runs itself and which it passes to Salt. The modules of Salt are fakes."""

import importlib.util
import os
import sys
import types
import unittest
from unittest import mock

PATH = os.path.join(os.path.dirname(__file__), "..", "..", "salt", "_netapi", "rest_stowage.py")
CALL = {"minion": "n1", "function": "subjects"}


class ClientError(Exception):
    pass


class RequestTimedOut(Exception):
    pass


class JobTimedOut(Exception):
    pass


class NotRunning(Exception):
    pass


class NetapiClient:
    """Fakes the client of Salt: returns its arguments."""

    def __init__(self, opts):
        self.opts = opts

    def __enter__(self):
        return self

    def runner(self, fun, timeout=None, full_return=False, **kwargs):
        return "Salt's way", fun, timeout, full_return, kwargs


def load():
    """Returns the module, and the fakes of salt.netapi and salt.netapi.rest_cherrypy that it imports."""
    salt, exceptions, loader, netapi, cherrypy = (
        types.ModuleType(name)
        for name in ("salt", "salt.exceptions", "salt.loader", "salt.netapi", "salt.netapi.rest_cherrypy")
    )
    exceptions.SaltClientError, exceptions.SaltDaemonNotRunning = ClientError, NotRunning
    exceptions.SaltReqTimeoutError, exceptions.SaltClientTimeout = RequestTimedOut, JobTimedOut
    loader.runner = mock.Mock(return_value={})
    netapi.NetapiClient = NetapiClient
    netapi.rest_cherrypy = cherrypy
    salt.exceptions, salt.loader, salt.netapi = exceptions, loader, netapi
    cherrypy.start = mock.Mock()
    fakes = {module.__name__: module for module in (salt, exceptions, loader, netapi, cherrypy)}
    with mock.patch.dict(sys.modules, fakes):
        spec = importlib.util.spec_from_file_location("rest_stowage", PATH)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module, netapi, cherrypy


class RestStowage(unittest.TestCase):
    def setUp(self):
        self.module, self.netapi, self.cherrypy = load()
        self.client = self.module.Client({})
        self.client.loadauth = mock.Mock()
        self.client.loadauth.check_authentication.return_value = {"auth_list": ["@stowage"], "error": {}}
        self.client.ckminions = mock.Mock()
        self.client.ckminions.runner_check.return_value = True
        self.call = mock.Mock(return_value={"n1": {"ret": [], "retcode": 0}})
        self.client.runners = {"stowage.call": self.call, "salt.cmd": self.call}

    def run_runner(self, fun="stowage.call", **low):
        return self.client.runner(fun, **{"client": "runner", "token": "abc", "timeout": 25, "kwarg": CALL, **low})

    def test_an_allowed_call_runs_in_salt_api_with_the_checks_of_the_salt_master(self):
        self.assertEqual(self.run_runner(), {"n1": {"ret": [], "retcode": 0}})
        self.call.assert_called_once_with(**CALL)
        asked, how = self.client.loadauth.check_authentication.call_args.args
        self.assertEqual((asked["token"], asked["fun"], how), ("abc", "stowage.call", "token"))
        self.client.ckminions.runner_check.assert_called_once_with(
            ["@stowage"], "stowage.call", {"arg": [], "kwarg": CALL}
        )

    def assert_salts_way(self, answer):
        self.assertEqual(answer[0], "Salt's way")
        self.call.assert_not_called()

    def test_other_requests_are_passed_to_salt(self):
        for low in (
            {"fun": "salt.cmd"},
            {"fun": ["stowage.call", "salt.cmd"]},
            {"fun": "stowage.start"},
            {"kwarg": [CALL]},
            {"arg": ["n1"]},
            {"__tag__": "salt/auth"},
            {"username": "root", "password": "x", "eauth": "pam"},
            {"full_return": True},
        ):
            with self.subTest(low):
                self.assert_salts_way(self.run_runner(**low))

    def test_requests_without_authentication_or_rights_are_passed_to_salt(self):
        self.client.loadauth.check_authentication.return_value = {"auth_list": [], "error": {"message": "no"}}
        self.assert_salts_way(self.run_runner())
        self.client.loadauth.check_authentication.return_value = {"auth_list": ["@jobs"], "error": {}}
        for found in (False, {"error": {"name": "SaltInvocationError"}}, None):
            self.client.ckminions.runner_check.return_value = found
            self.assert_salts_way(self.run_runner())

    def test_a_request_without_a_token_is_passed_to_salt_unchanged(self):
        answer = self.client.runner("stowage.call", kwarg=CALL, username="stowage", password="x", eauth="pam", timeout=3)
        self.assertEqual(answer[1:4], ("stowage.call", 3, False))
        self.assertEqual(answer[4]["username"], "stowage")
        self.client.loadauth.check_authentication.assert_not_called()

    def test_reports_errors_as_salt_does(self):
        self.call.side_effect = ValueError("not a function of Stowage's module: 'cmd.run'")
        with self.assertLogs(self.module.log, "ERROR"):
            said = self.run_runner()
        self.assertTrue(said.startswith("Exception occurred in runner stowage.call: Traceback"), said)
        self.assertTrue(said.endswith("not a function of Stowage's module: 'cmd.run'\n"), said)
        self.call.side_effect = ClientError("The salt master could not be contacted.")
        with self.assertRaises(NotRunning):
            self.run_runner()
        for error in (RequestTimedOut, JobTimedOut, NotRunning):
            self.call.side_effect = error("no")
            with self.assertRaises(error):
                self.run_runner()

    def test_starts_as_rest_cherrypy_with_its_own_options(self):
        options = {"rest_stowage": {"port": 8000}, "rest_cherrypy": {"port": 1}, "runner_dirs": []}
        self.module.__opts__ = options
        self.assertEqual(self.module.__virtual__(), "rest_stowage")
        self.module.start()
        self.assertIsInstance(self.netapi.NetapiClient({}), self.module.Client)
        self.assertEqual(self.cherrypy.__opts__, {**options, "rest_cherrypy": {"port": 8000}})
        self.cherrypy.start.assert_called_once_with()
        self.assertEqual(options["rest_cherrypy"], {"port": 1})

    def test_a_client_serves_one_request_at_a_time_and_is_reused(self):
        with self.module.Client.kept({}) as first:
            with self.module.Client.kept({}) as second:
                self.assertIsNot(first, second)
        with self.module.Client.kept({}) as third:
            self.assertIn(third, (first, second))

    def test_is_not_loaded_without_options(self):
        for options in ({}, {"rest_stowage": {}}, {"rest_cherrypy": {"port": 8000}}):
            self.module.__opts__ = options
            self.assertFalse(self.module.__virtual__()[0])


if __name__ == "__main__":
    unittest.main()
