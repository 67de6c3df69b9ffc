import type { KubeObject } from '../../api/meta.ts';
import { isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import { patchWithRetry } from '../../kube/retry.ts';
import type { KubeClient, WriteOptions } from '../../kube/types.ts';
import { asCreated, changeOf, LEFT, RECREATE } from './change.ts';
import type { Wanted } from './wanted.ts';

/** Outcome for objects of other owners. */
export const LEFT_AS_IT_IS = 'left unchanged';
export type Outcome = 'created' | 'changed' | 'unchanged' | 'recreated' | typeof LEFT_AS_IT_IS;

export interface ApplyOptions {
  /** Lets the server check, without storing anything. */
  dryRun: boolean;
  signal: AbortSignal;
}

/** Creates or changes an object. Throws refusals, and an error if Stowage may not change it. */
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
        outdated = change === RECREATE ? current : undefined;
        outcome = change === undefined ? 'unchanged' : change === LEFT ? LEFT_AS_IT_IS : 'changed';
        return change === RECREATE || change === LEFT ? undefined : change;
      },
      at,
    );
    if (outdated === undefined) return outcome;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  if (outdated !== undefined) {
    await dryRunCreate(client, wanted, at);
    const { uid, resourceVersion } = outdated.metadata;
    await client.delete(resource, name, { ...at, uid, resourceVersion });
    if (options.dryRun) return 'recreated';
  }
  try {
    await client.create(resource, asCreated(wanted), at);
    return outdated === undefined ? 'created' : 'recreated';
  } catch (error) {
    // Another installation created the object first: change that one if needed.
    if (isAlreadyExists(error)) return apply(client, wanted, options);
    throw error;
  }
}

/** Lets the server check a new object before the existing one is deleted. Throws its refusal. */
async function dryRunCreate(client: KubeClient, wanted: Wanted, at: WriteOptions): Promise<void> {
  const object = asCreated(wanted);
  const metadata = { ...object.metadata, name: `${object.metadata.name}-anew` };
  await client.create(wanted.resource, { ...object, metadata }, { ...at, dryRun: true });
}

/**
 * Lets the server check what `apply` would do, and changes nothing. Ignores missing objects, which
 * the same run may create: some users may not create a binding before its role.
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
