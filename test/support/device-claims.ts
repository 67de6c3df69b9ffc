import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { createMetrics, type Metrics } from '../../src/manager/metrics/metrics.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { isAllGone } from './all-gone.ts';
import { claimsOf, createClass, createNode, type Id } from './claim-objects.ts';
import { type ClaimsCluster, startClaimsCluster } from './claims-cluster.ts';
import { startController, type TestController } from './controller.ts';
import { type DeviceMounts, deviceMounts } from './device-mounts.ts';
import { allowSources, type SourceServer, startSourceServer } from './source-server.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { ensureUdev } from './udev.ts';

/** Claims on real loop devices of this machine, which is the node n1. */
export interface DeviceClaims {
  folder: string;
  /** Directory of the class fast. */
  volumes: string;
  cluster: ClaimsCluster;
  claims: ReturnType<typeof claimsOf>;
  devices: DeviceMounts;
  metrics: Metrics;
  /** Source of populated volumes and target of backups. */
  server: SourceServer;
  createFast(): Promise<unknown>;
  /** Registers a populator that runs on the node. */
  register(name: string, builtin: string): Promise<void>;
  /**
   * Waits until a claim is bound.
   * @returns the mount point of its volume
   */
  mounted(id: Id): Promise<string>;
  isAllGone(): Promise<void>;
}

interface Options {
  /** Creates the directory for all files. */
  disk?(): Promise<{ path: string; remove(): Promise<void> }>;
  /** Returns the allowed data sources of the node, in addition to 127.0.0.1. */
  sources?(folder: string): string[];
}

/**
 * Sets up a new sandbox for each test of a file, with the daemon's controllers in this process.
 * Tests create the class fast.
 */
export function deviceClaims({
  disk: makeDisk = () => temporaryDirectory('claims'),
  sources = () => [],
}: Options = {}): DeviceClaims {
  let stopUdev: () => Promise<void>;
  let disk: Awaited<ReturnType<typeof makeDisk>>;
  let controller: TestController;
  let disallow: () => Promise<void>;
  const scene = {
    createFast: () => createClass(scene.cluster.client, 'fast', scene.volumes, 'ext4'),
    async register(name, builtin) {
      const { code, err } = await scene.cluster.stowage([
        'register',
        'populator',
        name,
        '--node',
        builtin,
      ]);
      expect([code, err]).toEqual([0, '']);
    },
    async mounted(id) {
      const { spec } = await scene.claims.isBound(id);
      return scene.devices.mount(spec.local?.path ?? '', id.replace('/', '-'));
    },
    isAllGone: () => isAllGone(scene.cluster.client, scene.volumes),
  } as DeviceClaims;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
  });
  afterAll(() => stopUdev?.());

  beforeEach(async () => {
    disk = await makeDisk();
    scene.folder = disk.path;
    scene.volumes = join(disk.path, 'volumes');
    scene.devices = deviceMounts(disk.path);
    scene.server = await startSourceServer();
    disallow = await allowSources('allow-address 127.0.0.1', ...sources(disk.path));
    scene.cluster = await startClaimsCluster({ crossNamespace: true });
    scene.claims = claimsOf(scene.cluster.client, { storageClassName: 'fast', size: '64Mi' });
    await createNode(scene.cluster.client, 'n1');
    scene.metrics = createMetrics({ clock: systemClock, transportOf: () => 'ssh' });
    controller = await startController(scene.cluster.client, {
      metrics: scene.metrics,
      executor: createShellExecutor(createLocalShell(['n1'])),
      retry: { startMs: 200, maxMs: 2000 },
      provisioning: { namespace: 'default', crossNamespace: true, snapshotController: 'builtin' },
    });
  });
  afterEach(async () => {
    await controller?.stop();
    await scene.cluster?.stop();
    await scene.devices?.clean();
    await scene.server?.stop();
    await disallow?.();
    await disk?.remove();
  });
  return scene;
}
