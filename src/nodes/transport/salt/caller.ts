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

/** One function of Stowage's module on a minion. */
export interface SaltCall {
  /** Such as `observe`. */
  fun: string;
  /** Its arguments, beside the node and the version of the module. */
  args: Readonly<Record<string, unknown>>;
  /** How long the function may wait by itself, in ms. */
  waitMs: number;
  /** Only starts it: the answer is the id of Salt's job, whose end is an event. */
  detached?: boolean;
}

/** `jid` where the call was only started. */
export type SaltAnswer = { ret: unknown } | { jid: string };

export interface SaltCallerOptions {
  access: SaltAccess;
  session: SaltSession;
  /** The id of the minion that is a node. */
  minionOf(node: string): string;
  /** Throws a NodeError where nothing may be done on the node (any more). */
  check?: ((node: string) => void) | undefined;
}

/** What the module is, as both sides know it: salt/_modules/stowage.py says the same. */
export const MODULE_VERSION = 1;

/** How long a minion has for what takes it no time, in s: it starts a process for each call. */
const PROMPT = 10;
/** After which the salt-master asks a minion that has not answered whether it is at work still, and gives up, in s. */
const GRACE = 15;

/** Calls of functions of minions by the runner on the salt-master (salt/_runners/stowage.py), one HTTP request each. */
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

/** What the module returned. Throws a NodeError where it was Salt that spoke: there is no such function, or it failed. */
function checkedReturn(node: string, minion: string, ret: unknown, retcode: unknown): unknown {
  if (typeof ret === 'string') throw functionFailed(node, minion, ret, retcode);
  return ret;
}
