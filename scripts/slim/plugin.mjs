import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url));

/** esbuild plugin that drops unused parts of packages: commands that use a cluster start sooner. */
export const slimPackages = {
  name: 'slim-packages',
  setup(build) {
    build.onResolve({ filter: /^undici$/ }, ({ importer }) => ({
      path: fileOf(importer.endsWith('/proxy-agents.ts') ? 'undici-proxies.cjs' : 'undici.cjs'),
    }));
    build.onResolve({ filter: /^(socks|socks-proxy-agent|hpagent)$/ }, ({ importer }) =>
      importer.includes('/@kubernetes/client-node/')
        ? { path: fileOf('no-proxies.cjs') }
        : undefined,
    );
    build.onResolve({ filter: /^\.\/client-h2\.js$/ }, () => ({ path: fileOf('no-http2.cjs') }));
    build.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'require-call' ? undefined : { path: fileOf('http.cjs') },
    );
    // client-node's kubeconfig imports two functions from an index of all generated API classes: 3
    // MB, which do not declare that they have no side effects. The paths are resolved here: esbuild
    // took 20 s for the thousand paths on a slow machine.
    build.onResolve({ filter: /^\.\.?\/.*\.js$/ }, ({ path, resolveDir }) =>
      resolveDir.includes('/@kubernetes/client-node/dist')
        ? { path: resolve(resolveDir, path), sideEffects: false }
        : undefined,
    );
  },
};
