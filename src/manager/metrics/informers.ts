import { Gauge, type Registry } from 'prom-client';
import type { KubeObject, Resource } from '../../api/meta.ts';
import type { Informer } from '../../kube/informer.ts';

/** Registers the age of informer caches, and returns a function that adds an informer. */
export function informerMetrics(
  registry: Registry,
  clock: { now(): number },
): <T extends KubeObject>(resource: Resource, informer: Informer<T>) => void {
  const informers = new Map<string, Pick<Informer<KubeObject>, 'lastHeard'>>();
  new Gauge({
    registers: [registry],
    name: 'stowage_informer_age_seconds',
    help: 'Time since the last list, event or bookmark of the resource from the API server. Missing before the first list.',
    labelNames: ['resource'] as const,
    collect() {
      for (const [resource, informer] of informers) {
        const heard = informer.lastHeard();
        if (heard > 0) this.set({ resource }, (clock.now() - heard) / 1000);
      }
    },
  });
  return ({ plural }, informer) => {
    informers.set(plural, informer);
  };
}
