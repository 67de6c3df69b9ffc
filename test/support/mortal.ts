import type { Resource } from '../../src/api/meta.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { NodeError } from '../../src/nodes/errors.ts';
import type { Executor } from '../../src/nodes/job.ts';

export interface Mortal {
  client: KubeClient;
  executor: Executor;
  /** Effects since the last `arm`, such as `patch pods` or `submit n1`. */
  effects: string[];
  /** Makes the process die before, or right after, its n-th effect from now on. Then resolves. */
  arm(at: number, when: 'before' | 'after'): Promise<void>;
}

/**
 * Wraps the client and executor of a process that dies at an effect: later actions have no effect.
 * Events are not counted.
 * @param counts selects the effects to count; by default all
 */
export function mortal(
  client: KubeClient,
  nodes: Executor,
  counts: (what: string) => boolean = () => true,
): Mortal {
  let deadly = { at: 0, when: 'before' as 'before' | 'after', die: () => {} };
  let dead = false;

  const act = async <R>(
    what: string,
    refuse: () => Error,
    carryOut: () => Promise<R>,
  ): Promise<R> => {
    if (dead) throw refuse();
    if (!counts(what)) return carryOut();
    const isLast = self.effects.push(what) === deadly.at;
    if (isLast) dead = true;
    try {
      if (!isLast || deadly.when === 'after') {
        const result = await carryOut();
        if (!isLast) return dead ? Promise.reject(refuse()) : result;
      }
      throw refuse();
    } finally {
      // Also after a refused effect.
      if (isLast) deadly.die();
    }
  };
  const write =
    <A extends [Resource, ...never[]], R>(verb: string, carryOut: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> => {
      const { kind, plural } = args[0];
      if (kind === 'Event') return carryOut(...args);
      return act(
        `${verb} ${plural}`,
        () => new Error('this process is dead'),
        () => carryOut(...args),
      );
    };
  const ask =
    <A extends [string, ...never[]], R>(method: string, carryOut: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      act(
        `${method} ${args[0]}`,
        () => new NodeError('unreachable', args[0], 'this process is dead'),
        () => carryOut(...args),
      );

  const self: Mortal = {
    client: {
      ...client,
      create: write('create', client.create as never),
      patch: write('patch', client.patch as never),
      delete: write('delete', client.delete as never),
    } as KubeClient,
    executor: {
      ...nodes,
      observe: ask('observe', nodes.observe),
      submit: ask('submit', nodes.submit),
      poll: ask('poll', nodes.poll),
      purge: ask('forget', nodes.purge),
    } as Executor,
    effects: [],
    arm(at, when) {
      self.effects.length = 0;
      const { promise, resolve } = Promise.withResolvers<void>();
      deadly = { at, when, die: resolve };
      return promise;
    },
  };
  return self;
}
