/** Replaces client-node's proxies, a tenth of the loaded code: see src/kube/proxy-agents.ts. */
class NoProxies {
  constructor() {
    throw new Error('proxies were left out of the bundle');
  }
}

module.exports = {
  SocksProxyAgent: NoProxies,
  SocksClient: NoProxies,
  HttpProxyAgent: NoProxies,
  HttpsProxyAgent: NoProxies,
};
