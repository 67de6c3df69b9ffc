"""
salt-api as `rest_cherrypy` has it, with all of its options, but for one thing: Stowage's runner runs within salt-api. Salt
itself begins a process of the salt-master for each call, which looks up the master's grains and loads every runner there is
before it does anything, and takes most of a second for that.

.. code-block:: yaml

    netapi_dirs:
      - /srv/stowage/_netapi
    rest_stowage:
      port: 8000
      ssl_crt: /etc/salt/tls/tls.crt
      ssl_key: /etc/salt/tls/tls.key

Who may call it is decided by what decides it in the salt-master. Whatever is not clearly allowed here goes Salt's own way,
and is refused there.
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
    """Serves until it is ended, in a process of salt-api's own."""
    options = dict(__opts__, rest_cherrypy=__opts__[OPTIONS])
    salt.netapi.NetapiClient = Client.kept
    # Salt's loader sets this in modules.
    rest_cherrypy.__opts__ = options
    rest_cherrypy.start()


class Client(salt.netapi.NetapiClient):
    """What salt-api has a request done by. It is of one request at a time: Salt's loaders are not for several threads."""

    #: Clients of ended requests. A new one takes half a call's time to search Salt's directories.
    free = []

    @classmethod
    def kept(cls, opts):
        """One for a request."""
        try:
            return cls.free.pop()
        except IndexError:
            return cls(opts)

    def __init__(self, opts):
        super().__init__(opts)
        self.runners = salt.loader.runner(opts)

    def __exit__(self, *_):
        """Instead of ending it."""
        self.free.append(self)

    def runner(self, fun, timeout=None, full_return=False, **kwargs):
        """Of these functions those of this account; all else as ever."""
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
        """As salt.master.ClearFuncs.runner finds out."""
        if fun not in FUNCTIONS or fun not in self.runners or set(low) - {"token", "client", "kwarg"}:
            return False
        if not isinstance(low.get("kwarg"), dict):
            return False
        found = self.loadauth.check_authentication({**low, "fun": fun}, "token")
        # Any value but True is an error, reported as a mapping.
        return not found.get("error") and (
            self.ckminions.runner_check(found["auth_list"], fun, {"arg": [], "kwarg": low["kwarg"]}) is True
        )
