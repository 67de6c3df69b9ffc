import type { DataSourceReference, PersistentVolumeClaim } from '../../api/core.ts';

/** kubectl's: the manifest that was applied, as JSON. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * What a claim was to start from by the manifest that kubectl applied, where it has no source now: API servers drop a reference
 * with a namespace while their gate CrossNamespaceVolumeDataSource is off, and others that they do not know, without a word.
 * A manifest of another claim, whose annotations were copied, says nothing. Pure.
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

/** Anybody may have written it. */
function parse(text: string): Partial<PersistentVolumeClaim> {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}
