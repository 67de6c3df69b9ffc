import { RETRY_ANNOTATION } from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';

/**
 * Reports whether a user requested a retry of the state that the condition Ready reports. The next
 * write of the condition fulfills the request.
 */
export function isRetryRequested({ metadata, status }: Volume): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const token = metadata.annotations?.[RETRY_ANNOTATION];
  return token !== undefined && token === ready?.lastUpdateTime;
}
