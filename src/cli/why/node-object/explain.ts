import { NODES } from '../../../api/resources.ts';
import { readyConditionOf } from '../../../model/node-health.ts';
import type { Io } from '../../lib/io.ts';
import type { ReadClient } from '../../lib/objects/related.ts';
import { foundIn } from '../../lib/read-result.ts';
import type { Target } from '../../lib/target.ts';
import type { Explained } from '../types.ts';
import { diagnoseNode } from './diagnose.ts';
import { type NodeObjectFacts, readNode } from './read.ts';

/** Explains why Stowage cannot work on a node. Throws a StowageError `not-found` if unknown. */
export async function explainNode(
  { name }: Target,
  { signal, clock }: Io,
  { client }: { client: ReadClient },
): Promise<Explained & { known: NodeObjectFacts }> {
  const known = await readNode(name, client, signal);
  const node = foundIn(known.node);
  // Throws the server's own error for the name.
  if ('absent' in known.node && !foundIn(known.volumes)?.length)
    await client.get(NODES, name, { signal });
  const ready = readyConditionOf(node);
  const phase = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  const { first, ...readings } = known;
  return {
    subject: { kind: NODES.kind, name, phase },
    diagnosis: diagnoseNode(known, clock.timeOfDay()),
    readings: [readings, ...(first === undefined ? [] : [first])],
    node: name,
    known,
  };
}
