import type { Lease } from '../api/core.ts';
import { StowageError } from '../api/errors.ts';
import type { Logger } from '../api/logger.ts';
import { apiVersionOf } from '../api/meta.ts';
import { LEASES } from '../api/resources.ts';
import { isAlreadyExists, isConflict, isNotFound } from './errors.ts';
import { createInformer } from './informer.ts';
import { decide, heldBy, heldUntil, released } from './lease.ts';
import type { Clock, KubeClient } from './types.ts';

export interface ElectionOptions {
  /** Client whose writes do not depend on this election. */
  client: KubeClient;
  namespace: string;
  /** Name of the Lease. */
  name: string;
  /** Identity of this process alone: a restarted process is another candidate. */
  identity: string;
  timing: ElectionTiming;
  /** Annotations of the Lease while this process leads. */
  annotations?: Readonly<Record<string, string>>;
  clock: Clock;
  /**
   * Returns ms of a clock that never steps, and that continues while the process is stopped. While
   * the machine sleeps, only the time of day continues.
   */
  monotonic: () => number;
  /** In [0, 1). */
  random: () => number;
  logger: Logger;
}

/** Durations in ms, each shorter than the one before. */
export interface ElectionTiming {
  /** Time for which other candidates wait after an observed renewal before they take the Lease. */
  leaseDurationMs: number;
  /** Time after its last renewal for which a leader may act. */
  renewDeadlineMs: number;
  retryPeriodMs: number;
}

export interface Election {
  /** Resolves when this process leads; never resolves if it is stopped before. */
  won: Promise<void>;
  /** Resolves with the reason when this process loses the Lease, or is refused it permanently. */
  lost: Promise<StowageError>;
  /**
   * Throws a StowageError unless this process leads. Call it right before any action of a leader.
   */
  check(): void;
  leads(): boolean;
  /** Time of the API server's last response about the Lease, by `now` of the clock; initially 0. */
  lastHeard(): number;
  /** Ends this process's right to act. The Lease stays held: no other process may act yet. */
  resign(): void;
  /** Resigns and releases the Lease, so that a waiting candidate takes it at once. */
  stop(): Promise<void>;
}

/** Time (ms) for which refused access to the Lease is tolerated: its RBAC may be created later. */
const REFUSED_FOR = 30_000;

/** Jitter as in client-go's JitterFactor: followers that started together do not retry together. */
const JITTER = 1.2;

/**
 * Competes for a Lease like client-go's leaderelection, and renews it. The right to act ends
 * `renewDeadlineMs` after the last renewal was sent, before another candidate can take the Lease.
 * This holds even if the process was stopped, or the machine asleep, meanwhile.
 */
export function startElection(options: ElectionOptions): Election {
  const { client, namespace, name, identity, timing, clock, monotonic, random, logger } = options;
  const { annotations = {} } = options;
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = timing;
  const { promise: won, resolve: onWon } = Promise.withResolvers<void>();
  const { promise: lost, resolve: onLost } = Promise.withResolvers<StowageError>();
  const stopping = new AbortController();
  let lease: Lease | undefined;
  let observedAt = 0;
  /** True if `lease` is the server's latest response. */
  let current = false;
  let leadsUntil: number | undefined;
  /** End of the right to act by the time of day, in ms since the epoch. */
  let leadsUntilTimeOfDay = 0;
  let othersUntil = 0;
  let heardAt = 0;
  let loggedHolder: string | undefined;
  let complaint: string | undefined;
  /** Start of the server's refusals (monotonic ms); undefined while this account has access. */
  let refusedSince: number | undefined;
  /** Set during a turn too: a release observed meanwhile may be newer than what the turn read. */
  let woken = new AbortController();
  const informer = createInformer<Lease>({
    client,
    resource: LEASES,
    namespace,
    fieldSelector: `metadata.name=${name}`,
    clock,
    random,
    logger,
  });
  informer.onChange(({ type, object }) => {
    // The leader creates a deleted Lease again before any other candidate does.
    if (type === 'deleted') current = false;
    if (type === 'deleted' || !object.spec?.holderIdentity) woken.abort();
  });

  const isInTime = () => leadsUntil !== undefined && monotonic() < leadsUntil;
  // A step of the time of day also ends the right to act, until the next renewal.
  const leads = () => isInTime() && clock.timeOfDay() < leadsUntilTimeOfDay;

  /** Returns the signal of a request. If it hangs, another one must fit in before the deadline. */
  function within(): AbortSignal {
    const left = leadsUntil === undefined ? renewDeadlineMs : leadsUntil - monotonic();
    return AbortSignal.timeout(Math.max(1, Math.round(Math.min(renewDeadlineMs / 2, left))));
  }

  /** Throws if leadership expired while a renewal waited for a connection. */
  function inTime(): void {
    if (leadsUntil === undefined || isInTime()) return;
    throw new StowageError('conflict', `The Lease ${namespace}/${name} was not renewed in time`);
  }

  function learn(answer: Lease | undefined, askedAt: number): void {
    const seen = ({ metadata: { uid, resourceVersion } }: Lease) => `${uid} ${resourceVersion}`;
    if (answer === undefined || lease === undefined || seen(answer) !== seen(lease))
      observedAt = askedAt;
    lease = answer;
    if (answer !== undefined) othersUntil = heldUntil(answer, observedAt, me());
    current = true;
    heardAt = clock.now();
  }

  async function read(): Promise<void> {
    try {
      const answer = await client.get<Lease>(LEASES, name, { namespace, signal: within() });
      learn(answer, monotonic());
    } catch (error) {
      if (!isNotFound(error)) throw error;
      learn(undefined, monotonic());
    }
  }

  /** Returns the annotations that the Lease lacks, or has with another value. */
  function missingAnnotations({ metadata }: Lease): { annotations?: Record<string, string> } {
    const left = Object.entries(annotations).filter(
      ([key, value]) => metadata.annotations?.[key] !== value,
    );
    return left.length === 0 ? {} : { annotations: Object.fromEntries(left) };
  }

  async function write(): Promise<void> {
    const askedAt = monotonic();
    const timeOfDay = clock.timeOfDay();
    const spec = heldBy(identity, lease, leaseDurationMs, timeOfDay);
    const options = { namespace, signal: within(), check: inTime };
    current = false;
    const answer =
      lease === undefined
        ? await client.create<Lease>(
            LEASES,
            {
              apiVersion: apiVersionOf(LEASES),
              kind: LEASES.kind,
              metadata: { name, annotations },
              spec,
            },
            options,
          )
        : await client.patch<Lease>(
            LEASES,
            name,
            { metadata: { ...versionOf(lease), ...missingAnnotations(lease) }, spec },
            options,
          );
    learn(answer, askedAt);
    const until = askedAt + renewDeadlineMs;
    if (stopping.signal.aborted || monotonic() >= until) return;
    if (leadsUntil === undefined) {
      logger.info({ lease: `${namespace}/${name}`, identity }, 'leading');
      onWon();
    }
    leadsUntil = until;
    leadsUntilTimeOfDay = timeOfDay + renewDeadlineMs;
  }

  function resign(): void {
    leadsUntil = undefined;
    stopping.abort();
  }

  function lose(why: string): void {
    resign();
    onLost(
      new StowageError('failed', `This process lost the Lease ${namespace}/${name}: ${why}`, {
        hint: 'Start it again, as systemd and Kubernetes do: it exits so that it does not act on stale state.',
      }),
    );
  }

  function giveUp(cause: Error): void {
    resign();
    onLost(
      new StowageError(
        'forbidden',
        `This process cannot take the Lease ${namespace}/${name}: ${cause.message}`,
        {
          cause,
          hint: 'Set the namespace of the installation with -n, $STOWAGE_NAMESPACE or in the kubeconfig: the account of stowage install has that right only there.',
        },
      ),
    );
  }

  /** Reads the Lease, decides, and writes it. Returns the delay (ms) before the next turn. */
  async function turn(): Promise<number> {
    try {
      if (leadsUntil === undefined || !current) {
        // A leader whose time has passed does not read the Lease again.
        const { do: what } = decide(lease, observedAt, me(), monotonic());
        if (leadsUntil === undefined || what !== 'lost') await read();
      }
      const decision = decide(lease, observedAt, me(), monotonic());
      if (decision.do === 'lost') {
        lose(decision.why);
        return 0;
      }
      const holder = lease?.spec?.holderIdentity || undefined;
      if (decision.do === 'wait' && holder !== loggedHolder) {
        logger.info(
          { lease: `${namespace}/${name}`, holder },
          'standing by: another process leads',
        );
        loggedHolder = holder;
      }
      if (decision.do === 'wait') refusedSince = undefined;
      if (decision.do === 'wait')
        return Math.min(decision.ms, retryPeriodMs * (1 + JITTER * random()));
      await write();
      complaint = undefined;
      refusedSince = undefined;
    } catch (err) {
      // The Lease was deleted after it was read: create it again at once. (If creating it fails
      // with 404, the namespace is missing.)
      if (isNotFound(err) && lease !== undefined) return 0;
      if (isConflict(err) || isAlreadyExists(err)) {
        logger.debug({ err, lease: name }, 'another process wrote the Lease first');
      } else {
        complain(err as Error);
        refusedSince =
          (err as Partial<StowageError>).code === 'forbidden'
            ? (refusedSince ?? monotonic())
            : undefined;
        if (leadsUntil === undefined && monotonic() - (refusedSince ?? Infinity) >= REFUSED_FOR) {
          giveUp(err as Error);
          return 0;
        }
      }
    }
    const left = leadsUntil === undefined ? retryPeriodMs : leadsUntil - monotonic();
    return Math.max(0, Math.min(retryPeriodMs, left));
  }

  /** Warns once while the error is the same: turns repeat within seconds. */
  function complain(err: Error): void {
    const level = err.message === complaint ? 'debug' : 'warn';
    complaint = err.message;
    logger[level](
      { err, lease: `${namespace}/${name}`, leads: leads() },
      'cannot read or write the Lease',
    );
  }

  const me = () => ({ identity, leadsUntil, othersUntil, leaseDurationMs });

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      woken = new AbortController();
      const until = AbortSignal.any([woken.signal, stopping.signal]);
      const rest = await turn();
      if (rest > 0) await clock.sleep(rest, until).catch(() => {});
    }
  }

  async function release(): Promise<void> {
    try {
      if (!current) await read();
      if (lease?.spec?.holderIdentity !== identity) return;
      const patch = { metadata: versionOf(lease), spec: released(lease, clock.timeOfDay()) };
      await client.patch(LEASES, name, patch, {
        namespace,
        signal: AbortSignal.timeout(renewDeadlineMs / 2),
      });
      logger.info({ lease: `${namespace}/${name}`, identity }, 'released the Lease');
    } catch (err) {
      logger.warn(
        { err, lease: `${namespace}/${name}` },
        'cannot release the Lease; others wait until it expires',
      );
    }
  }

  informer.start();
  const running = run();

  return {
    won,
    lost,
    check() {
      if (leads()) return;
      throw new StowageError(
        'conflict',
        `This process does not hold the Lease ${namespace}/${name}`,
        {
          hint: 'Nothing was done. The holder of the Lease does the work.',
        },
      );
    },
    leads,
    lastHeard: () => heardAt,
    resign,
    async stop() {
      resign();
      await running;
      await informer.stop();
      // Covers a write that took the Lease while `stop` was called.
      if (lease?.spec?.holderIdentity === identity) await release();
    },
  };
}

const versionOf = ({ metadata: { uid, resourceVersion } }: Lease) => ({ uid, resourceVersion });
