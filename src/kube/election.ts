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
  /** Not one that the election itself holds back. */
  client: KubeClient;
  namespace: string;
  /** Of the Lease. */
  name: string;
  /** Of this process alone: one that starts again is another candidate. */
  identity: string;
  timing: ElectionTiming;
  /** Annotations of the Lease while this process leads. */
  annotations?: Readonly<Record<string, string>>;
  clock: Clock;
  /** ms of a clock that never steps, and goes on while the process is stopped. */
  monotonic: () => number;
  /** In [0, 1). */
  random: () => number;
  logger: Logger;
}

/** In ms, each less than the one before. */
export interface ElectionTiming {
  /** How long others wait, after they saw a renewal, before they take the Lease. */
  leaseDurationMs: number;
  /** How long after its last renewal a leader may act. */
  renewDeadlineMs: number;
  retryPeriodMs: number;
}

export interface Election {
  /** Resolves when this process leads; never, if it is stopped before. */
  won: Promise<void>;
  /** Resolves, to say why, when it leads no more though nobody stopped it. */
  lost: Promise<StowageError>;
  /** To be called right before whatever only a leader may do. Throws a StowageError in any other process. */
  check(): void;
  leads(): boolean;
  /** When the API server last answered about the Lease, in ms since the epoch; 0 before the first time. */
  lastHeard(): number;
  /** From now on this process may do nothing. Others may not either, yet. */
  resign(): void;
  /** Resigns and releases the Lease: whoever waits for it takes it at once. */
  stop(): Promise<void>;
}

/** For how long an account that may not have the Lease is borne with, in ms: its rights may be made after it. */
const REFUSED_FOR = 30_000;

/** As client-go's JitterFactor: followers that started together do not ask together. */
const JITTER = 1.2;

/**
 * Stands for a Lease, as client-go's leaderelection does, and keeps it. The right to act ends `renewDeadlineMs` after the
 * last renewal was sent: before anyone else can have it, whatever kept this process from noticing.
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
  /** Whether `lease` is what the server answered last. */
  let current = false;
  let leadsUntil: number | undefined;
  let othersUntil = 0;
  let heardAt = 0;
  let told: string | undefined;
  let complaint: string | undefined;
  /** Since when the server refuses it to this account; undefined: it does not. */
  let refusedSince: number | undefined;
  /** Set while a turn is under way, too: a release that is heard of meanwhile may be newer than what it read. */
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
    // Whoever leads makes it anew before anyone else does.
    if (type === 'deleted') current = false;
    if (type === 'deleted' || !object.spec?.holderIdentity) woken.abort();
  });

  const leads = () => leadsUntil !== undefined && monotonic() < leadsUntil;

  /** A request that hangs must leave time for another before the deadline. */
  function within(): AbortSignal {
    const left = leadsUntil === undefined ? renewDeadlineMs : leadsUntil - monotonic();
    return AbortSignal.timeout(Math.max(1, Math.round(Math.min(renewDeadlineMs / 2, left))));
  }

  /** Before a renewal is sent: it may have waited for a connection while its time passed. */
  function inTime(): void {
    if (leadsUntil === undefined || leads()) return;
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

  /** Annotations that the Lease has not, or has otherwise. */
  function unsaid({ metadata }: Lease): { annotations?: Record<string, string> } {
    const left = Object.entries(annotations).filter(
      ([key, value]) => metadata.annotations?.[key] !== value,
    );
    return left.length === 0 ? {} : { annotations: Object.fromEntries(left) };
  }

  async function write(): Promise<void> {
    const askedAt = monotonic();
    const spec = heldBy(identity, lease, leaseDurationMs, clock.now());
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
            { metadata: { ...versionOf(lease), ...unsaid(lease) }, spec },
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
  }

  function resign(): void {
    leadsUntil = undefined;
    stopping.abort();
  }

  function lose(why: string): void {
    resign();
    onLost(
      new StowageError(
        'failed',
        `This process leads no more: the Lease ${namespace}/${name}: ${why}`,
        {
          hint: 'It ends so that what it remembers is not acted on. Start it again, as systemd and Kubernetes do.',
        },
      ),
    );
  }

  function giveUp(cause: Error): void {
    resign();
    onLost(
      new StowageError(
        'forbidden',
        `This process can never lead: the Lease ${namespace}/${name}: ${cause.message}`,
        {
          cause,
          hint: 'The account of stowage install has that right in the namespace of the installation alone: name that with -n, $STOWAGE_NAMESPACE or in the kubeconfig.',
        },
      ),
    );
  }

  /** One look and what follows from it. Returns how long to rest, in ms. */
  async function turn(): Promise<number> {
    try {
      if (leadsUntil === undefined || !current) {
        // Not even a look, by who may find that its time has passed.
        const { do: what } = decide(lease, observedAt, me(), monotonic());
        if (leadsUntil === undefined || what !== 'lost') await read();
      }
      const decision = decide(lease, observedAt, me(), monotonic());
      if (decision.do === 'lost') {
        lose(decision.why);
        return 0;
      }
      const holder = lease?.spec?.holderIdentity || undefined;
      if (decision.do === 'wait' && holder !== told) {
        logger.info({ lease: `${namespace}/${name}`, holder }, 'standing by for the leader');
        told = holder;
      }
      if (decision.do === 'wait') refusedSince = undefined;
      if (decision.do === 'wait')
        return Math.min(decision.ms, retryPeriodMs * (1 + JITTER * random()));
      await write();
      complaint = undefined;
      refusedSince = undefined;
    } catch (err) {
      // Deleted since it was read: to be made anew at once. (Where it cannot even be made, its namespace is missing.)
      if (isNotFound(err) && lease !== undefined) return 0;
      if (isConflict(err) || isAlreadyExists(err)) {
        logger.debug({ err, lease: name }, 'another one wrote the Lease first');
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

  /** Once for as long as it is the same: it is tried again every few seconds. */
  function complain(err: Error): void {
    const level = err.message === complaint ? 'debug' : 'warn';
    complaint = err.message;
    logger[level](
      { err, lease: `${namespace}/${name}`, leads: leads() },
      'the Lease was neither read nor written',
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
      const patch = { metadata: versionOf(lease), spec: released(lease, clock.now()) };
      await client.patch(LEASES, name, patch, {
        namespace,
        signal: AbortSignal.timeout(renewDeadlineMs / 2),
      });
      logger.info({ lease: `${namespace}/${name}`, identity }, 'released the Lease');
    } catch (err) {
      logger.warn(
        { err, lease: `${namespace}/${name}` },
        'the Lease was not released, and others wait it out',
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
          hint: 'Nothing was done. Whoever holds it does the work.',
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
      // Also where a write that took it was still under way.
      if (lease?.spec?.holderIdentity === identity) await release();
    },
  };
}

const versionOf = ({ metadata: { uid, resourceVersion } }: Lease) => ({ uid, resourceVersion });
