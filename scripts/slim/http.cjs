/** As an ES module, node:http would load all of Node.js's fetch and WebSocket, which it exports, too. */
module.exports = require('node:http');
