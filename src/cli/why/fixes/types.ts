import type { StorageClass } from '../../../api/core.ts';
import type { ParametersOf } from '../../../api/reasons/template.ts';
import type { REASONS, ReasonCode } from '../../../api/reasons.ts';
import type { Volume } from '../../../api/volume.ts';
import type { Fix } from '../types.ts';

/** The objects that a fix is made for, beside the reason. */
export interface FixContext {
  /** The node that it is about; empty where none is known. */
  node: string;
  /** The Volume that is held up, where one is. */
  volume?: Volume | undefined;
  /** The class of the claim that is held up, where one is. */
  storageClass?: StorageClass | undefined;
}

/** Parameters as they were read: another version may have left some out. */
type Read<Code extends ReasonCode> = Readonly<
  Partial<Record<keyof ParametersOf<TextOf<(typeof REASONS)[Code]>>, string>>
>;

type TextOf<Entry> = Entry extends { message: infer Message; action: infer Action }
  ? `${Message & string}${Action & string}`
  : Entry extends { message: infer Message }
    ? Message & string
    : never;

/** Fixes that are more than the sentence in the list, by the reason. */
export type Fixes<Family> = {
  [Code in keyof Family & ReasonCode]?: (
    parameters: Read<Code>,
    context: FixContext,
  ) => Fix | undefined;
};
