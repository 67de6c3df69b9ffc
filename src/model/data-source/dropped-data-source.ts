import type { DataSourceReference, PersistentVolumeClaim } from '../../api/core.ts';

/** Annotation of kubectl: the applied manifest as JSON. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Returns the data source in the manifest that kubectl applied, if the claim has none now. API
 * servers silently drop a reference with a namespace while their gate
 * CrossNamespaceVolumeDataSource is off, and references that they do not know. A manifest of
 * another claim, copied with its annotations, is ignored. Pure.
 */
export function droppedSource({
  metadata,
  spec,
}: Pick<PersistentVolumeClaim, 'metadata' | 'spec'>): DataSourceReference | undefined {
  const text = metadata.annotations?.[LAST_APPLIED];
  if (text === undefined || (spec.dataSourceRef ?? spec.dataSource) != null) return undefined;
  const applied = parse(text);
  if (
    applied.metadata?.name !== metadata.name ||
    applied.metadata?.namespace !== metadata.namespace
  )
    return undefined;
  const reference = applied.spec?.dataSourceRef ?? applied.spec?.dataSource;
  return typeof reference?.name === 'string' && typeof reference.kind === 'string'
    ? reference
    : undefined;
}

/** Parses the annotation, which anybody may have written. */
function parse(text: string): Partial<PersistentVolumeClaim> {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}
