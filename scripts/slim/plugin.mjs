import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url));

/** An esbuild plugin: leaves out of packages what is not used of them, so that commands that talk to a cluster start sooner. */
export const slimPackages = {
  name: 'slim-packages',
  setup(build) {
    build.onResolve({ filter: /^undici$/ }, () => ({ path: fileOf('undici.cjs') }));
    build.onResolve({ filter: /^(socks|socks-proxy-agent|hpagent)$/ }, () => ({
      path: fileOf('no-proxies.cjs'),
    }));
    build.onResolve({ filter: /^\.\/client-h2\.js$/ }, () => ({ path: fileOf('no-http2.cjs') }));
    build.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'require-call' ? undefined : { path: fileOf('http.cjs') },
    );
    // The kubeconfig of client-node imports two functions from an index of all classes that are generated for the API: 3 MB,
    // which do nothing when they are loaded, but do not say so.
    // (They are named by file. To ask esbuild for each of the thousand paths took twenty seconds on a slow machine.)
    build.onResolve({ filter: /^\.\.?\/.*\.js$/ }, ({ path, resolveDir }) =>
      resolveDir.includes('/@kubernetes/client-node/dist')
        ? { path: resolve(resolveDir, path), sideEffects: false }
        : undefined,
    );
  },
};
