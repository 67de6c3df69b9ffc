import { NodeError } from '../../errors.ts';
import type { NodeTransport } from '../shell.ts';
import type { SaltAccess } from './access.ts';
import {
  apiUnreachable,
  functionFailed,
  loginRefused,
  minionDown,
  noMinion,
  notAllowed,
  runnerFailed,
} from './failures.ts';
import { SaltDenied, SaltUnreachable } from './http.ts';
import { SaltLoginRefused, type SaltSession } from './session.ts';

/** Call of a function of Stowage's module on a minion. */
export interface SaltCall {
  /** Name of the function, such as `observe`. */
  fun: string;
  /** Arguments of the function, beside the node and the version of the module. */
  args: Readonly<Record<string, unknown>>;
  /** Time (ms) that the function itself may wait. */
  waitMs: number;
  /** True to only start the function: the answer is the ID of Salt's job, whose end is an event. */
  detached?: boolean;
}

/** `jid` if the call was only started. */
export type SaltAnswer = { ret: unknown } | { jid: string };

export interface SaltCallerOptions {
  access: SaltAccess;
  session: SaltSession;
  /** Returns the ID of a node's minion. */
  minionOf(node: string): string;
  /** Throws a NodeError if nothing may be done on the node (any more). */
  check?: ((node: string) => void) | undefined;
}

/** Version of the module's interface, as salt/_modules/stowage.py has it too. */
export const MODULE_VERSION = 1;

/** Function of the module and of salt/ssh_guard.py for `purge`: nodes know only this name. */
export const PURGE_FUNCTION = 'forget';

/** Time (s) for a minion to answer a call that does not wait: it starts a process for each call. */
const PROMPT = 10;
/**
 * Additional time (s) for the salt-master to ask a silent minion whether it still runs the call,
 * and to wait for that.
 */
const GRACE = 15;

/**
 * Creates a transport that calls functions of minions by the runner on the salt-master
 * (salt/_runners/stowage.py), in one HTTP request each.
 */
export function createSaltCaller(options: SaltCallerOptions): NodeTransport<SaltCall, SaltAnswer> {
  const { access, session, minionOf, check } = options;
  return {
    async run(node, { fun, args, waitMs, detached = false }, timeoutMs) {
      const minion = minionOf(node);
      const patience = PROMPT + Math.ceil(waitMs / 1000);
      const low = {
        client: 'runner',
        fun: detached ? 'stowage.start' : 'stowage.call',
        kwarg: {
          minion,
          function: fun,
          arguments: { node, version: MODULE_VERSION, ...args },
          ...(detached ? {} : { patience }),
        },
        timeout: patience + GRACE,
      };
      check?.(node);
      let answer: unknown;
      try {
        const body = [low];
        answer = await session.send({
          method: 'POST',
          path: '/',
          body,
          timeoutMs,
          check: () => check?.(node),
        });
      } catch (error) {
        if (error instanceof SaltUnreachable) throw apiUnreachable(node, access, error);
        if (error instanceof SaltLoginRefused) throw loginRefused(node, access, error);
        if (error instanceof SaltDenied) throw notAllowed(node, access, low.fun, error);
        if (error instanceof NodeError) throw error;
        throw apiUnreachable(node, access, error as Error);
      }
      const [found] = (answer as { return?: (Record<string, unknown> | string)[] }).return ?? [];
      if (typeof found === 'string') throw runnerFailed(node, access, found);
      if (detached) {
        const { jid, minions } = (found ?? {}) as { jid?: unknown; minions?: unknown[] };
        if (typeof jid !== 'string' || !minions?.includes(minion)) throw noMinion(node, minion);
        return { jid };
      }
      if (found === undefined || !Object.hasOwn(found, minion)) throw noMinion(node, minion);
      if (typeof found[minion] !== 'object') throw minionDown(node, minion);
      const { ret, retcode } = found[minion] as { ret?: unknown; retcode?: unknown };
      return { ret: checkedReturn(node, minion, ret, retcode) };
    },
    close: () => session.close(),
  };
}

/**
 * Returns what the module returned. Throws a NodeError if the text is Salt's: the function is
 * missing, or failed.
 */
function checkedReturn(node: string, minion: string, ret: unknown, retcode: unknown): unknown {
  if (typeof ret === 'string') throw functionFailed(node, minion, ret, retcode);
  return ret;
}
