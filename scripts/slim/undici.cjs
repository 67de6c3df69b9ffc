/** What is used of undici, which as a whole takes three times as long to load. As its own index.js puts it together. */
const Dispatcher = require('undici/lib/dispatcher/dispatcher.js');
const Agent = require('undici/lib/dispatcher/agent.js');
const request = require('undici/lib/api/api-request.js');

Object.assign(Dispatcher.prototype, { request });

/** client-node makes one for its own requests, of which Stowage makes none. */
class ProxyAgent {}

module.exports = { Agent, ProxyAgent };
