import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { KubeObject } from '../../../src/api/meta.ts';
import { run } from '../../../src/cli/run.ts';
import { LISTED } from '../../../src/cli/support-bundle/kinds.ts';
import { connect } from '../../../src/kube/connect.ts';
import { fakeApi, json, type Seen, status } from '../../support/fake-api.ts';
import { fakeIo, type World } from '../../support/fake-io.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** A cluster that serves what a test plants, over HTTP. */
export interface PlantedCluster {
  /** Directory of the test, with the kubeconfig. */
  folder: string;
  /** Requests in order. */
  seen: Seen[];
  /** All texts that the server sent. */
  sent(): string;
  /** Runs a command line against the cluster. */
  stowage(argv: string[], world?: World): Promise<{ code: number; out: string; err: string }>;
  stop(): Promise<void>;
}

export interface Planted {
  /** Objects by the plural of their kind. */
  objects?: Record<string, object[]>;
  /** Texts by path, without the query. */
  texts?: Record<string, string>;
  /** Texts of failures, by path, without the query. */
  failures?: Record<string, string>;
  /** Messages of refused lists, by plural. */
  refused?: Record<string, string>;
  /** Token of the kubeconfig's user. */
  token?: string;
}

export async function plantedCluster(planted: Planted): Promise<PlantedCluster> {
  const sent: string[] = [];
  const api = await fakeApi((request, response) => {
    const { pathname } = new URL(request.url, 'http://server');
    const text = planted.texts?.[pathname];
    if (text !== undefined) {
      sent.push(text);
      response.writeHead(200, { 'content-type': 'text/plain' }).end(text);
      return;
    }
    const failure = planted.failures?.[pathname];
    if (failure !== undefined) {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(failure);
      return;
    }
    const [code, body] = answerTo(pathname, request.method, planted);
    sent.push(JSON.stringify(body));
    json(response, body, code);
  });
  const folder = await temporaryDirectory('support-bundle');
  const kubeconfig = join(folder.path, 'kubeconfig');
  const { token = 'token' } = planted;
  await writeFile(kubeconfig, kubeconfigFor(api.url, token), { mode: 0o600 });
  return {
    folder: folder.path,
    seen: api.seen,
    sent: () => sent.join('\n'),
    async stowage(argv, world = {}) {
      const { io, outcome } = fakeIo(world);
      const code = await run([...argv, '--kubeconfig', kubeconfig], { ...io, connect });
      return { code, out: outcome.out, err: outcome.err };
    },
    async stop() {
      await api.close();
      await folder.remove();
    },
  };
}

const kubeconfigFor = (server: string, token: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token } }],
  });

const notFound = status(404, 'NotFound', 'the server could not find the requested resource');

function answerTo(
  path: string,
  method: string,
  { objects = {}, refused = {} }: Planted,
): [code: number, body: object] {
  if (path === '/version') return [200, { gitVersion: 'v1.33.1' }];
  if (method === 'POST') return [201, { kind: 'SelfSubjectAccessReview', status: {} }];
  const parts = path.split('/').slice(path.startsWith('/api/') ? 3 : 4);
  if (parts.length === 0)
    return [200, { resources: LISTED.map(([{ plural }]) => ({ name: plural })) }];
  const [plural = '', name, subresource] = parts[0] === 'namespaces' ? parts.slice(2) : parts;
  const refusal = refused[plural];
  if (refusal !== undefined) return [403, status(403, 'Forbidden', refusal)];
  const items = (objects[plural] ?? []) as KubeObject[];
  if (name === undefined) return [200, { kind: 'List', metadata: { resourceVersion: '1' }, items }];
  const item = items.find(({ metadata }) => metadata.name === name);
  return item === undefined || subresource !== undefined ? [404, notFound] : [200, item];
}

/** Unpacks an archive with tar, and returns its files by their paths below its directory. */
export async function unpacked(file: string, into: string): Promise<Record<string, string>> {
  await execa('tar', ['-xzf', file, '-C', into]);
  const listed = await execa('tar', ['-tzf', file]);
  const [directory = ''] = listed.stdout.split('/');
  const files: Record<string, string> = {};
  for (const entry of await readdir(join(into, directory), {
    recursive: true,
    withFileTypes: true,
  })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[path.slice(join(into, directory).length + 1)] = await readFile(path, 'utf8');
  }
  return files;
}
