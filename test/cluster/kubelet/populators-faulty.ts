import { expect } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import { NODES, PERSISTENT_VOLUME_CLAIMS } from '../../../src/api/resources.ts';
import { NAMESPACE } from './pods.ts';
import { startPopulatorsScene } from './populators-scene.ts';

/**
 * Script for populator pods. The first pod writes half of the text and exits with 0 on SIGTERM. The
 * next pod writes all of it.
 */
export const HALF =
  'if [ -e "/target/$1" ]; then printf "%s\\n" "$2" >"/target/$1"; else printf half >"/target/$1"; trap "exit 0" TERM; sleep 3600 & wait; fi';

export type FaultyScene = Awaited<ReturnType<typeof startFaultyScene>>;

/**
 * Starts a scene for one claim at a time, of the kind `kind`, that starts from `example` with the
 * text `whole`.
 */
export async function startFaultyScene(apiServerFlags: readonly string[] = []) {
  const scene = await startPopulatorsScene(apiServerFlags);
  const kind = await scene.createKind();
  await scene.createClass('immediate');
  await kind.source('example', NAMESPACE, 'whole');
  return {
    ...scene,
    kind,
    /** Creates a claim. @returns its UID */
    claim: async (name: string) => (await scene.createClaim(name)).metadata.uid ?? '',
    async why(name: string) {
      const { stdout, stderr } = await scene.stowage('why', 'pvc', `${NAMESPACE}/${name}`);
      return `${stdout}${stderr}`;
    },
    /**
     * Waits until the claim is bound with its source's text, and nothing else remains of its
     * population.
     */
    async isFilled(name: string): Promise<void> {
      await scene.isBound(name);
      const mounted = { claim: name, mode: 'Filesystem' } as const;
      const text = await scene.pods.run('reads', [mounted], `cat /volumes/${name}/hello.txt`);
      expect(text.trimEnd()).toBe('whole');
      await scene.isClean();
      const finished = (await scene.eventsOf(name)).filter((event) =>
        event.startsWith('PopulatorFinished'),
      );
      expect(finished).toHaveLength(1);
    },
    /** Creates an unschedulable Node that is Ready until the returned function is called. */
    async otherNode(name: string): Promise<() => Promise<void>> {
      const { client } = scene;
      const node = {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name },
        spec: { unschedulable: true },
      };
      await client.create<KubeObject>(NODES, node);
      const beat = async () => {
        const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
        const ready = {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          lastHeartbeatTime: now,
        };
        await client.patch(
          NODES,
          name,
          { status: { conditions: [ready] } },
          { subresource: 'status' },
        );
      };
      await beat();
      const timer = setInterval(() => void beat().catch(() => {}), 5000);
      return async () => {
        clearInterval(timer);
        await client.delete(NODES, name);
      };
    },
    /** Removes the claims after a test, also after a failed one. */
    async clear(): Promise<void> {
      for (const { metadata } of (
        await scene.client.list(PERSISTENT_VOLUME_CLAIMS, { namespace: NAMESPACE })
      ).items) {
        await scene.remove(PERSISTENT_VOLUME_CLAIMS, metadata.name);
      }
      await scene.isEmpty();
    },
  };
}
