/** Requires node:http as CommonJS: its ES module exports fetch and WebSocket, and loads them. */
module.exports = require('node:http');
