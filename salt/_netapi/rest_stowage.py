"""
Variant of salt-api's `rest_cherrypy`, with the same options, that runs Stowage's runner within
salt-api. Salt itself starts a process of the salt-master for each call. The process first reads
the master's grains and loads every runner, which takes most of a second.

.. code-block:: yaml

    netapi_dirs:
      - /srv/stowage/_netapi
    rest_stowage:
      port: 8000
      ssl_crt: /etc/salt/tls/tls.crt
      ssl_key: /etc/salt/tls/tls.key

The salt-master's own checks decide who may call the runner. Calls that are not clearly allowed here
take Salt's usual path, and are refused there.
"""

import logging
import traceback

import salt.exceptions
import salt.loader
import salt.netapi
from salt.netapi import rest_cherrypy

log = logging.getLogger(__name__)

OPTIONS = "rest_stowage"

FUNCTIONS = ("stowage.call", "stowage.start")

#: Errors with a status of their own in salt-api: no salt-master, or no answer in time.
UNAVAILABLE = (
    salt.exceptions.SaltReqTimeoutError,
    salt.exceptions.SaltClientTimeout,
    salt.exceptions.SaltDaemonNotRunning,
)


def __virtual__():
    if "port" not in __opts__.get(OPTIONS, {}):
        return False, f"no port in {OPTIONS}"
    return OPTIONS


def start():
    """Serves until the process, one of salt-api, is terminated."""
    options = dict(__opts__, rest_cherrypy=__opts__[OPTIONS])
    salt.netapi.NetapiClient = Client.kept
    # Salt's loader sets this in modules.
    rest_cherrypy.__opts__ = options
    rest_cherrypy.start()


class Client(salt.netapi.NetapiClient):
    """Executes one request at a time, since Salt's loaders do not support several threads."""

    #: Clients of ended requests. A new one takes half a call's time to search Salt's directories.
    free = []

    @classmethod
    def kept(cls, opts):
        """Returns a client for a request: a free one, or a new one."""
        try:
            return cls.free.pop()
        except IndexError:
            return cls(opts)

    def __init__(self, opts):
        super().__init__(opts)
        self.runners = salt.loader.runner(opts)

    def __exit__(self, *_):
        """Keeps the client for another request."""
        self.free.append(self)

    def runner(self, fun, timeout=None, full_return=False, **kwargs):
        """Runs Stowage's functions here if the account may call them, and all else as Salt does."""
        if full_return or not self._may(fun, kwargs):
            return super().runner(fun, timeout=timeout, full_return=full_return, **kwargs)
        try:
            return self.runners[fun](**kwargs["kwarg"])
        except UNAVAILABLE:
            raise
        except salt.exceptions.SaltClientError as error:
            raise salt.exceptions.SaltDaemonNotRunning(str(error)) from error
        except Exception:  # pylint: disable=broad-except
            log.exception("%s failed", fun)
            # The same text as Salt's.
            return f"Exception occurred in runner {fun}: {traceback.format_exc()}"

    def _may(self, fun, low):
        """Returns whether the account may call it, as salt.master.ClearFuncs.runner does."""
        if fun not in FUNCTIONS or fun not in self.runners or set(low) - {"token", "client", "kwarg"}:
            return False
        if not isinstance(low.get("kwarg"), dict):
            return False
        found = self.loadauth.check_authentication({**low, "fun": fun}, "token")
        # Any value but True is an error, reported as a mapping.
        return not found.get("error") and (
            self.ckminions.runner_check(found["auth_list"], fun, {"arg": [], "kwarg": low["kwarg"]}) is True
        )
