import { isAllowed, type Right } from '../../../kube/access-review.ts';
import type { Connection } from '../../../kube/connect.ts';
import type { Clock } from '../../../kube/types.ts';
import type { ActionName, ActionRights } from '../../../ui/protocol.ts';
import { ACTIONS } from './table.ts';

/** Time (ms) for which rights are remembered. */
const RIGHTS_MS = 60_000;
/** Namespaces whose rights are remembered. */
const MOST_NAMESPACES = 100;

const NAMES = Object.keys(ACTIONS) as ActionName[];

/** Returns the rights that actions need in a namespace, one for each action that writes. Pure. */
export function neededRights(namespace: string): [ActionName, Right][] {
  return NAMES.flatMap((action): [ActionName, Right][] => {
    const { right } = ACTIONS[action];
    if (right === undefined) return [];
    const { namespaced, ...needed } = right;
    return [[action, { ...needed, ...(namespaced && { namespace }) }]];
  });
}

/** Returns the rights of the page from those that the API server denies. Pure. */
export function actionRights(namespace: string, denied: ReadonlySet<ActionName>): ActionRights {
  const needed = new Map(neededRights(namespace));
  const entries = NAMES.map((action) => {
    const right = needed.get(action);
    if (right === undefined || !denied.has(action))
      return [action, { allowed: true, reason: '' }] as const;
    const where = right.namespace === undefined ? '' : ` in namespace ${right.namespace}`;
    return [
      action,
      { allowed: false, reason: `You may not ${right.verb} ${right.resource}${where}` },
    ] as const;
  });
  return Object.fromEntries(entries) as ActionRights;
}

/**
 * Returns a function that reads the user's rights in a namespace, at most once a minute for each. A
 * review that fails denies nothing: the API server decides on the action itself.
 */
export function createRightsReader(
  { client }: Pick<Connection, 'client'>,
  clock: Pick<Clock, 'now'>,
  signal: AbortSignal,
): (namespace: string) => Promise<ActionRights> {
  const known = new Map<string, { at: number; rights: Promise<ActionRights> }>();

  async function read(namespace: string): Promise<ActionRights> {
    const denied = new Set<ActionName>();
    await Promise.all(
      neededRights(namespace).map(async ([action, right]) => {
        const may = await isAllowed(client, right, signal).catch(() => true);
        if (!may) denied.add(action);
      }),
    );
    return actionRights(namespace, denied);
  }

  return (namespace) => {
    const last = known.get(namespace);
    const elapsed = clock.now() - (last?.at ?? 0);
    if (last !== undefined && elapsed >= 0 && elapsed < RIGHTS_MS) return last.rights;
    const rights = read(namespace);
    known.delete(namespace);
    known.set(namespace, { at: clock.now(), rights });
    const [oldest = ''] = known.keys();
    if (known.size > MOST_NAMESPACES) known.delete(oldest);
    return rights;
  };
}
