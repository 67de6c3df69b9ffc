import type { KubeObject } from './meta.ts';
import { PAUSED_ANNOTATION } from './names.ts';

/** Reports whether an object is paused, so that nothing may be written for it. */
export const isPaused = (object: KubeObject | undefined): boolean =>
  (object?.metadata.annotations?.[PAUSED_ANNOTATION] ?? 'false') !== 'false';
