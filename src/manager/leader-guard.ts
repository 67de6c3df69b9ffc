import { randomBytes } from 'node:crypto';
import { type Leader, leaderAnnotations } from '../api/leader.ts';
import type { Logger } from '../api/logger.ts';
import { refuse } from '../api/reasons.ts';
import { createClient } from '../kube/client.ts';
import type { Connection } from '../kube/connect.ts';
import { type Election, type ElectionTiming, startElection } from '../kube/election.ts';
import { checkWrites, limitRate, limitRequests, type Rate } from '../kube/flow-control.ts';
import type { KubeClient } from '../kube/types.ts';
import { nodeError } from '../nodes/errors.ts';
import type { Clock } from '../workqueue/clock.ts';
import { leaseName } from './lease-name.ts';

export interface RightOptions {
  connection: Connection;
  /** Unset: this process acts without election. */
  election?: (ElectionTiming & { namespace: string }) | undefined;
  /** Unset: no limit beyond the API server's. */
  rate?: Rate | undefined;
  /** See leaseName. */
  localNodes: readonly string[];
  /** Settings of this process, for its Lease. */
  leader: Leader;
  host: string;
  clock: Clock;
  random: () => number;
  logger: Logger;
}

export interface RightToAct {
  /** Unset without election. */
  election: Election | undefined;
  /** Client that always reads, and writes only while this process leads. */
  client: KubeClient;
  /** Throws a NodeError if this process may not act on nodes. */
  checkNode(node: string): void;
}

/** Maximum number of concurrent requests: a thousand Volumes may send requests together. */
export const AT_ONCE = 32;

/** Stands for election at once, and returns clients that stop acting when leadership is lost. */
export function standForElection(options: RightOptions): RightToAct {
  const { connection, rate, host, clock, random, logger } = options;
  const elect = ({ namespace, ...timing }: NonNullable<RightOptions['election']>): Election =>
    startElection({
      // Renewals bypass both the leader check and the rate limit.
      client: connection.client,
      namespace,
      name: leaseName(options.localNodes),
      identity: `${host}_${randomBytes(8).toString('hex')}`,
      timing,
      annotations: leaderAnnotations(options.leader),
      clock,
      monotonic: () => performance.now(),
      random,
      logger,
    });
  const election = options.election && elect(options.election);
  const checked = limitRequests(
    checkWrites(connection.transport, () => election?.check()),
    AT_ONCE,
  );
  return {
    election,
    client: createClient(rate ? limitRate(checked, rate, clock) : checked),
    checkNode(node) {
      if (election === undefined || election.leads()) return;
      throw nodeError('not-ours', node, refuse('NotLeading', { node }));
    },
  };
}
