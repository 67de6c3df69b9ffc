import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect } from '@jest/globals';
import { ALL_CRDS } from '../../src/api/crds.ts';
import { until } from '../support/until.ts';
import { type Client, clientFor } from './client.ts';
import { DISK_CRD } from './disk-crd.ts';
import { SHELF_CRD } from './shelf-crd.ts';

/** An API server under test: the sandbox, or a real one. */
export interface Server {
  client: Client;
  /** Path of a kubeconfig of a user with all rights. */
  kubeconfig: string;
}

export interface RunningServer {
  url: string;
  /** Path of an administrator's kubeconfig. */
  kubeconfig: string;
  stop(): Promise<void>;
}

/**
 * Tests of an API server's responses, for any implementation. All suites share one server: each
 * removes its objects, or gives them names of its own.
 */
export type Suite = (server: () => Server) => void;

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const STARTING = 600_000;

/** Declares the suites for one server that has the CRDs of Stowage and of the tests. */
export function describeSuites(
  suites: Record<string, Suite>,
  start: () => Promise<RunningServer>,
): void {
  let running: RunningServer;
  let server: Server;
  beforeAll(async () => {
    running = await start();
    const kubeconfig = await readFile(running.kubeconfig, 'utf8');
    server = {
      client: clientFor({ url: running.url, kubeconfig }),
      kubeconfig: running.kubeconfig,
    };
    for (const crd of [DISK_CRD, SHELF_CRD, ...ALL_CRDS]) await serve(server.client, crd);
  }, STARTING);
  afterAll(async () => {
    await server?.client.close();
    await running?.stop();
  });
  for (const [name, suite] of Object.entries(suites)) describe(name, () => suite(() => server));
}

interface Definition {
  spec: { group: string; names: { plural: string }; versions: { name: string }[] };
}

/** Creates a CRD, and waits until it is served. */
async function serve(client: Client, crd: object): Promise<void> {
  const { code, body } = await client.request('POST', CRDS, crd);
  if (code !== 201) throw new Error(`${code} ${body.message}`);
  const { group, names, versions } = (crd as Definition).spec;
  const path = `/apis/${group}/${versions[0]?.name}/${names.plural}`;
  await until(`${path} is served`, async () => {
    return (await client.request('GET', path)).code === 200 || undefined;
  });
}

/** Removes all objects of these paths after each test, regardless of finalizers. */
export function cleanUp(server: () => Server, ...paths: string[]): void {
  afterEach(async () => {
    for (const path of paths) await empty(server().client, path);
  });
}

/** Removes all objects of a path, regardless of finalizers, and waits until they are gone. */
export async function empty(client: Client, path: string): Promise<void> {
  const { code } = await client.request('DELETE', path, { gracePeriodSeconds: 0 });
  // Namespaces can only be deleted one by one.
  const one = code === 405;
  await until(`nothing is left at ${path}`, async () => {
    const { code: read, body } = await client.request('GET', path);
    expect(read).toBe(200);
    for (const { metadata } of body.items as {
      metadata: { name: string; finalizers?: string[] };
    }[]) {
      if (one) await client.request('DELETE', `${path.split('?')[0]}/${metadata.name}`);
      if (metadata.finalizers)
        await client.request(
          'PATCH',
          `${path.split('?')[0]}/${metadata.name}`,
          { metadata: { finalizers: null } },
          { 'content-type': 'application/merge-patch+json' },
        );
    }
    return body.items.length === 0 || undefined;
  });
}
