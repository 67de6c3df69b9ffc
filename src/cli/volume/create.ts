import { StowageError } from '../../api/errors.ts';
import { VOLUME_API_VERSION } from '../../api/names.ts';
import { VOLUMES } from '../../api/resources.ts';
import { validateVolume } from '../../api/validate-volume.ts';
import type { Volume, VolumeMode } from '../../api/volume.ts';
import type { Connection } from '../../kube/connect.ts';
import type { KubeClient } from '../../kube/types.ts';
import { waitFor } from '../../kube/wait.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { asJson, asYaml } from '../output/data.ts';
import { showProgress } from '../output/progress.ts';
import { fullName, progressOf, readyOf } from './describe.ts';

export interface CreateFlags {
  node: string;
  size: string;
  directory?: string;
  storageClass: string;
  mode?: VolumeMode;
  labels?: Record<string, string>;
  dryRun: 'none' | 'client' | 'server';
  wait?: boolean;
  /** ms */
  timeout: number;
  output?: 'json' | 'yaml' | 'name';
}

/** `stowage create volume`. `connect` is not called for what needs no cluster. Throws a StowageError. */
export async function create(
  name: string,
  flags: CreateFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<Connection>,
): Promise<void> {
  const wanted = volumeOf(name, flags);
  const problems = validateVolume(wanted);
  if (problems.length > 0) throw new StowageError('usage', `Volume ${name}: ${problems.join('; ')}`);
  if (flags.dryRun === 'client') return print(wanted, flags, io, ' (dry run)');
  const { client } = await connect();
  const dryRun = flags.dryRun === 'server';
  const created = await client.create(VOLUMES, wanted, { dryRun, signal: io.signal });
  if (dryRun) return print(created, flags, io, ' (server dry run)');
  if (!flags.wait) return print(created, flags, io);
  print(await untilReady(created, flags, io, client), flags, io);
}

function volumeOf(name: string, flags: CreateFlags): Volume {
  const { labels, directory } = flags;
  return {
    apiVersion: VOLUME_API_VERSION,
    kind: 'Volume',
    metadata: { name, ...(labels && { labels }) },
    spec: {
      nodeName: flags.node,
      storageClassName: flags.storageClass,
      ...(flags.mode && { mode: flags.mode }),
      ...(labels && { template: { metadata: { labels } } }),
      sparseLoopDevice: { size: flags.size, ...(directory !== undefined && { directory }) },
    },
  };
}

async function untilReady(
  created: Volume,
  flags: CreateFlags & GlobalFlags,
  io: Io,
  client: KubeClient,
): Promise<Volume> {
  const { name, uid } = created.metadata;
  io.stderr.write(`${fullName(name)} created\n`);
  const [outcome] = await showProgress(io, [
    {
      title: name,
      run: (tell) =>
        waitFor<Volume>(client, VOLUMES, name, {
          until: (volume) => isReady(name, uid, volume),
          timeoutMs: flags.timeout,
          onChange: (volume) => tell(volume === undefined ? 'gone' : progressOf(volume)),
          signal: io.signal,
          clock: io.clock,
        }),
    },
  ]);
  if (outcome?.status === 'rejected') throw outcome.reason;
  return outcome?.value ?? created;
}

/** Throws a StowageError when it never will be. */
function isReady(name: string, uid: string | undefined, volume: Volume | undefined): boolean {
  if (volume === undefined || volume.metadata.uid !== uid) {
    throw new StowageError('not-found', `Volume ${name} was deleted while it was waited for`);
  }
  const ready = readyOf(volume);
  if (ready?.status === 'False') {
    throw new StowageError('failed', `Volume ${name} failed: ${ready.reason}: ${ready.message}`, {
      hint: `Once the cause is removed, delete it and create it again: stowage delete volume ${name}`,
    });
  }
  return ready?.status === 'True';
}

function print(volume: Volume, { output }: CreateFlags, io: Io, how = ''): void {
  switch (output) {
    case 'json':
      return void io.stdout.write(asJson(volume));
    case 'yaml':
      return void io.stdout.write(asYaml(volume));
    case 'name':
      return void io.stdout.write(`${fullName(volume.metadata.name)}\n`);
    case undefined:
      return void io.stdout.write(`${fullName(volume.metadata.name)} created${how}\n`);
  }
}
