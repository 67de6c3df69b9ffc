/** Parts of undici that connections through proxies need, beside those of undici.cjs. */
const Dispatcher = require('undici/lib/dispatcher/dispatcher.js');

// As in its index.js: ProxyAgent calls it for tunnels.
Object.assign(Dispatcher.prototype, { connect: require('undici/lib/api/api-connect.js') });

module.exports = {
  Agent: require('undici/lib/dispatcher/agent.js'),
  Pool: require('undici/lib/dispatcher/pool.js'),
  ProxyAgent: require('undici/lib/dispatcher/proxy-agent.js'),
  buildConnector: require('undici/lib/core/connect.js'),
  errors: require('undici/lib/core/errors.js'),
};
