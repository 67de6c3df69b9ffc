import type { Leftover } from '../../api/leftover.ts';
import { LEFTOVERS } from '../../api/resources.ts';
import { isAlreadyExists, isNotFound, isRefusal } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Input } from './types.ts';

/** Creates a Leftover, unless an earlier attempt did. Throws if the API server does not answer. */
export async function createLeftover(
  client: Pick<KubeClient, 'create' | 'get'>,
  leftover: Leftover,
): Promise<NonNullable<Input['kept']>> {
  const { name } = leftover.metadata;
  try {
    await client.create(LEFTOVERS, leftover);
    return { as: name };
  } catch (error) {
    if (isNotFound(error)) {
      return { problem: 'the API server does not serve Leftovers: apply deploy/leftover-crd.yaml' };
    }
    if (isRefusal(error)) return { problem: error.message };
    if (!isAlreadyExists(error)) throw error;
  }
  const { spec } = await client.get<Leftover>(LEFTOVERS, name);
  return spec.nodeName === leftover.spec.nodeName
    ? { as: name }
    : {
        problem: `Leftover ${name} exists and names node ${spec.nodeName}, not ${leftover.spec.nodeName}. Delete it`,
      };
}
