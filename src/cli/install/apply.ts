import type { KubeObject } from '../../api/meta.ts';
import { isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import { patchWithRetry } from '../../kube/retry.ts';
import type { KubeClient } from '../../kube/types.ts';
import { asCreated, changeOf } from './change.ts';
import type { Wanted } from './wanted.ts';

export type Outcome = 'created' | 'changed' | 'unchanged';

export interface ApplyOptions {
  /** The server checks, and stores nothing. */
  dryRun: boolean;
  signal: AbortSignal;
}

/** Makes an object, or changes the one that is there. Throws what the server refuses, and where it is not ours to change. */
export async function apply(client: KubeClient, wanted: Wanted, options: ApplyOptions): Promise<Outcome> {
  const { resource, object } = wanted;
  const { name, namespace } = object.metadata;
  const at = { ...options, ...(namespace === undefined ? {} : { namespace }) };
  let changed = false;
  try {
    await patchWithRetry<KubeObject>(
      client,
      resource,
      name,
      (current) => {
        const change = changeOf(current, wanted);
        changed = change !== undefined;
        return change;
      },
      at,
    );
    return changed ? 'changed' : 'unchanged';
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  try {
    await client.create(resource, asCreated(wanted), at);
    return 'created';
  } catch (error) {
    // Another installation was faster: then it is changed where need be.
    if (isAlreadyExists(error)) return apply(client, wanted, options);
    throw error;
  }
}
