import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../src/kube/types.ts';
import { createPod, deletePod, forEach } from './attach-cluster.ts';
import type { Attaching } from './attach-programs.ts';
import type { Chosen, Side, Watched } from './attach-sides.ts';
import { usageOf } from './processes.ts';

export interface Round {
  attaches: number;
  detaches: number;
  /**
   * Times (ms) from the creation of a single pod to the first write that shows the attachment, and
   * to the last.
   */
  first: number[];
  last: number[];
  /** CPU time of the burst, in s. */
  cpu: number;
  serverCpu: number;
}

export interface Bench {
  client: KubeClient;
  watched: Watched;
  serverPid: number;
}

/**
 * Longest pause (ms) between single pods. It exceeds the loop period of kube-controller-manager:
 * pods are created at any moment of the loop.
 */
const PAUSE = 200;
/** Time (ms) for writes that follow the observed ones. */
const REST = 1500;

let rounds = 0;

export async function runRound(
  bench: Bench,
  side: Side,
  program: Attaching,
  { burst, oneByOne }: { burst: number; oneByOne: number },
): Promise<Round> {
  rounds += 1;
  const { client, watched } = bench;
  const choose = (index: number, what: string): Chosen => ({
    pod: side.pod(`${side.name}-${rounds}-${what}-${index}`, index),
    index,
  });
  const usage = async () => {
    const [own, server] = await Promise.all([usageOf(program.pid), usageOf(bench.serverPid)]);
    return { own: own.cpu, server: server.cpu };
  };
  program.mark();
  const before = await usage();
  const pods = Array.from({ length: burst }, (_, index) => choose(index, 'burst'));
  const attaching = performance.now();
  await forEach(burst, (index) => createPod(client, (pods[index] as Chosen).pod));
  await side.attached(pods);
  const attached = Math.max(...pods.map((pod) => side.attachedAt(pod).last)) - attaching;
  await watched.told(pods);
  await sleep(REST);
  program.mark();
  const detaching = performance.now();
  await forEach(burst, (index) => deletePod(client, (pods[index] as Chosen).pod));
  await side.detached(pods);
  const detached = Math.max(...pods.map((pod) => side.detachedAt(pod))) - detaching;
  await sleep(REST);
  program.mark();
  const after = await usage();

  const first: number[] = [];
  const last: number[] = [];
  for (let index = 0; index < oneByOne; index++) {
    await sleep(Math.random() * PAUSE);
    const one = choose(index, 'one');
    const asked = performance.now();
    await createPod(client, one.pod);
    await side.attached([one]);
    const at = side.attachedAt(one);
    first.push(at.first - asked);
    last.push(at.last - asked);
    await watched.told([one]);
    await deletePod(client, one.pod);
    await side.detached([one]);
  }
  return {
    attaches: burst / (attached / 1000),
    detaches: burst / (detached / 1000),
    first,
    last,
    cpu: after.own - before.own,
    serverCpu: after.server - before.server,
  };
}
