import type { KubeNode } from '../../api/core.ts';
import { isPaused } from '../../api/paused.ts';
import { NODES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import type { KubeClient } from '../../kube/types.ts';
import { resumeCommand } from '../../model/pause.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import type { Io } from '../lib/io.ts';
import { printable } from '../lib/output/printable.ts';
import { foundIn, readNamed } from '../lib/read-result.ts';

/**
 * Prints a note for each paused node of resumed Volumes, on which they stay paused. Returns the
 * names of these nodes. Prints none for a Node that the user may not read.
 */
export async function noteOtherPauses(
  volumes: readonly Volume[],
  { signal, stderr }: Io,
  client: KubeClient,
): Promise<ReadonlySet<string>> {
  const paused = new Set<string>();
  for (const node of new Set(volumes.map(nodeOf))) {
    const read = await readNamed<KubeNode>(client, NODES, node, { signal });
    if (!isPaused(foundIn(read))) continue;
    paused.add(node);
    stderr.write(
      printable(
        `note: Node ${node} is paused, too, so its Volumes stay paused. To resume it: ${resumeCommand('node', node)}\n`,
      ),
    );
  }
  return paused;
}
