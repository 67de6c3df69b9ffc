import type { KubeObject, Resource } from '../api/meta.ts';
import { isConflict } from './errors.ts';
import type { KubeClient } from './types.ts';

/** Number of attempts, as in client-go's DefaultRetry. */
const ATTEMPTS = 5;

/**
 * Reads an object, computes a merge patch from it, and applies the patch only if nobody wrote in
 * between; else starts again. `compute` returns undefined if nothing needs to change. Returns the
 * resulting object. Throws the last 409 if others keep writing, and errors of the client and
 * `compute`.
 */
export async function patchWithRetry<T extends KubeObject>(
  client: Pick<KubeClient, 'get' | 'patch'>,
  resource: Resource,
  name: string,
  compute: (current: T) => object | undefined,
  options: {
    namespace?: string;
    subresource?: 'status';
    signal?: AbortSignal;
    dryRun?: boolean;
  } = {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const current = await client.get<T>(resource, name, options);
    const patch: { metadata?: object } | undefined = compute(current);
    if (patch === undefined) return current;
    const { uid, resourceVersion } = current.metadata;
    const guarded = { ...patch, metadata: { ...patch.metadata, uid, resourceVersion } };
    try {
      return await client.patch<T>(resource, name, guarded, options);
    } catch (error) {
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
    }
  }
}
