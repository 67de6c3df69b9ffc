import type { StorageClass } from '../../../api/core.ts';
import type { ParametersOf } from '../../../api/reasons/template.ts';
import type { REASONS, ReasonCode } from '../../../api/reasons.ts';
import type { Volume } from '../../../api/volume.ts';
import type { Fix, VolumeFacts } from '../types.ts';

/** Objects that a fix is for, beside the reason. */
export interface FixContext {
  /** Node that the fix is about; empty if unknown. */
  node: string;
  /** Blocked Volume, if any. */
  volume?: Volume | undefined;
  /** Facts about a Failed Volume. Without them, no fix deletes an object by its name. */
  known?: VolumeFacts | undefined;
  /** Class of the blocked claim, if any. */
  storageClass?: StorageClass | undefined;
}

/** Parameters as read: another version may have omitted some. */
type Read<Code extends ReasonCode> = Readonly<
  Partial<Record<keyof ParametersOf<TextOf<(typeof REASONS)[Code]>>, string>>
>;

type TextOf<Entry> = Entry extends { message: infer Message; action: infer Action }
  ? `${Message & string}${Action & string}`
  : Entry extends { message: infer Message }
    ? Message & string
    : never;

/** Fixes that are more than the action in the list, by reason. */
export type Fixes<Family> = {
  [Code in keyof Family & ReasonCode]?: (
    parameters: Read<Code>,
    context: FixContext,
  ) => Fix | undefined;
};
