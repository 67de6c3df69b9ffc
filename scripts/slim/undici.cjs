/** Parts of undici that Stowage uses, as in its index.js: all of it loads three times as long. */
const Dispatcher = require('undici/lib/dispatcher/dispatcher.js');
const Agent = require('undici/lib/dispatcher/agent.js');
const request = require('undici/lib/api/api-request.js');

Object.assign(Dispatcher.prototype, { request });

/** client-node creates a ProxyAgent for its own requests; Stowage makes no such request. */
class ProxyAgent {}

module.exports = { Agent, ProxyAgent };
