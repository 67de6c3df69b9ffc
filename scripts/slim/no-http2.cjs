/** Replaces undici's HTTP/2, which src/kube/transport.ts turns off: it would load node:http2. */
module.exports = () => {
  throw new Error('HTTP/2 was left out of the bundle');
};
