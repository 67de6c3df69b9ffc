import type { KubeObject } from '../../api/meta.ts';
import { isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import { patchWithRetry } from '../../kube/retry.ts';
import type { KubeClient, WriteOptions } from '../../kube/types.ts';
import { ANEW, asCreated, changeOf, LEFT } from './change.ts';
import type { Wanted } from './wanted.ts';

/** Of what is somebody else's. */
export const LEFT_AS_IT_IS = 'left as it is';
export type Outcome = 'created' | 'changed' | 'unchanged' | 'made anew' | typeof LEFT_AS_IT_IS;

export interface ApplyOptions {
  /** The server checks, and stores nothing. */
  dryRun: boolean;
  signal: AbortSignal;
}

/** Makes an object, or changes the one that is there. Throws what the server refuses, and where it is not ours to change. */
export async function apply(
  client: KubeClient,
  wanted: Wanted,
  options: ApplyOptions,
): Promise<Outcome> {
  const { resource, object } = wanted;
  const { name, namespace } = object.metadata;
  const at = { ...options, ...(namespace === undefined ? {} : { namespace }) };
  let outcome: Outcome = 'unchanged';
  let outdated = undefined as KubeObject | undefined;
  try {
    await patchWithRetry<KubeObject>(
      client,
      resource,
      name,
      (current) => {
        const change = changeOf(current, wanted);
        outdated = change === ANEW ? current : undefined;
        outcome = change === undefined ? 'unchanged' : change === LEFT ? LEFT_AS_IT_IS : 'changed';
        return change === ANEW || change === LEFT ? undefined : change;
      },
      at,
    );
    if (outdated === undefined) return outcome;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  if (outdated !== undefined) {
    await checkAnew(client, wanted, at);
    const { uid, resourceVersion } = outdated.metadata;
    await client.delete(resource, name, { ...at, uid, resourceVersion });
    if (options.dryRun) return 'made anew';
  }
  try {
    await client.create(resource, asCreated(wanted), at);
    return outdated === undefined ? 'created' : 'made anew';
  } catch (error) {
    // Another installation was faster: then it is changed where need be.
    if (isAlreadyExists(error)) return apply(client, wanted, options);
    throw error;
  }
}

/** Whether the server would have an object, before the one of its name is deleted. Throws what it is refused with. */
async function checkAnew(client: KubeClient, wanted: Wanted, at: WriteOptions): Promise<void> {
  const object = asCreated(wanted);
  const metadata = { ...object.metadata, name: `${object.metadata.name}-anew` };
  await client.create(wanted.resource, { ...object, metadata }, { ...at, dryRun: true });
}

/**
 * Has the server check what `apply` would do, and does nothing. What it misses may come with the other objects: a binding is
 * refused to some as long as its role is not there.
 */
export async function rehearse(
  client: KubeClient,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<void> {
  try {
    await apply(client, wanted, { dryRun: true, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
