import type { KubeObject } from '../../../api/meta.ts';
import { STORAGE_CLASSES, VOLUMES } from '../../../api/resources.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { about, conclude } from '../batch.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import type { CreateFlags, WaitFlags } from './flags.ts';
import { nameOf } from './name.ts';
import { printDone } from './print.ts';
import { untilReady } from './wait-ready.ts';

/**
 * Creates Volumes and storage classes, each independent of the others, and prints them. Does not
 * call `connect` if no cluster is needed. Throws a StowageError.
 */
export async function createObjects(
  objects: readonly KubeObject[],
  flags: CreateFlags & Partial<WaitFlags> & GlobalFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  const several = objects.length > 1;
  if (flags.dryRun === 'client') {
    return printDone(objects, several, 'created (dry run)', flags.output, io);
  }
  const client = await connect();
  const dryRun = flags.dryRun === 'server';
  const sent = await send(objects, dryRun, io, client);
  const { errors } = sent;
  let { made } = sent;
  let done: (object: KubeObject) => string = () =>
    dryRun ? 'created (server dry run)' : 'created';
  if (flags.wait && flags.timeout !== undefined && !dryRun && !io.signal.aborted) {
    for (const object of made) io.stderr.write(`${nameOf(object)} created\n`);
    const waited = await untilReady(made, flags.timeout, io, client);
    made = waited.ready;
    done = ({ kind }) => (kind === VOLUMES.kind ? 'ready' : 'created');
    errors.push(...waited.errors);
  }
  printDone(made, several, done, flags.output, io);
  conclude(errors, objects.length, io);
}

/** Checks objects by a dry run of the server. Throws a StowageError for refused objects. */
export async function checkObjects(
  objects: readonly KubeObject[],
  io: Io,
  client: KubeClient,
): Promise<void> {
  const { errors } = await send(objects, true, io, client);
  conclude(errors, objects.length, io);
}

async function send(
  objects: readonly KubeObject[],
  dryRun: boolean,
  { signal }: Io,
  client: KubeClient,
): Promise<{ made: KubeObject[]; errors: unknown[] }> {
  const made: KubeObject[] = [];
  const errors: unknown[] = [];
  for (const object of objects) {
    const resource = object.kind === VOLUMES.kind ? VOLUMES : STORAGE_CLASSES;
    try {
      made.push(await client.create(resource, object, { dryRun, strict: true, signal }));
    } catch (error) {
      errors.push(about(error, { kind: object.kind, name: object.metadata.name }));
      if (signal.aborted) break;
    }
  }
  return { made, errors };
}
