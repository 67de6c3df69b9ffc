import type { Pod } from './core.ts';

/** Returns the names of the claims that a pod uses, including those of its ephemeral volumes. */
export const claimNamesOf = ({ metadata, spec }: Pod): string[] =>
  (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim != null) return [persistentVolumeClaim.claimName];
    return ephemeral == null ? [] : [`${metadata.name}-${name}`];
  });
