import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { execa } from 'execa';
import { CERTIFICATE, KEY } from './tls.ts';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** HTTP server; each path answers with bytes or by a function. */
export interface SourceServer {
  port: number;
  /** Returns the URL of a path, on 127.0.0.1. */
  url(path: string): string;
  paths: Map<string, Buffer | Answer>;
  /** All requests so far. */
  asked: { path: string; authorization: string | undefined }[];
  stop(): Promise<void>;
}

/** Starts a server on all loopback addresses of the machine. */
export async function startSourceServer({ tls = false } = {}): Promise<SourceServer> {
  const paths = new Map<string, Buffer | Answer>();
  const asked: SourceServer['asked'] = [];
  const answer: Answer = (request, response) => {
    const { url: path = '', headers } = request;
    asked.push({ path, authorization: headers.authorization });
    const found = paths.get(path);
    if (found === undefined) response.writeHead(404).end('nothing here');
    else if (Buffer.isBuffer(found)) response.end(found);
    else found(request, response);
  };
  const server = tls
    ? createTlsServer({ cert: CERTIFICATE, key: KEY }, answer)
    : createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    paths,
    asked,
    url: (path) => `${tls ? 'https' : 'http'}://127.0.0.1:${port}${path}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const CONFIG = '/etc/stowage';

/**
 * Sets the allowed data sources of this machine until the returned function is called. The list is
 * on its own mount: concurrent tests in other mount namespaces allow other sources.
 */
export async function allowSources(...lines: string[]): Promise<() => Promise<void>> {
  await mkdir(CONFIG, { mode: 0o755, recursive: true });
  await execa('mount', ['-t', 'tmpfs', '-o', 'mode=0755', 'stowage-sources', CONFIG]);
  await writeFile(`${CONFIG}/sources.conf`, lines.map((line) => `${line}\n`).join(''), {
    mode: 0o644,
  });
  return async () => {
    await execa('umount', [CONFIG]);
  };
}
