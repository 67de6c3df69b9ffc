import type { ReadyReason } from '../names.ts';

/** An entry of the list of reasons. Its texts are templates (template.ts). */
export interface ReasonEntry {
  /** The sentence, without a full stop at its end. */
  message: string;
  /** Advice for a person: sentences. Absent where it passes by itself. */
  action?: string;
  /** The public reason that it shows under, where that is not the one of what was under way. */
  shows?: ReadyReason;
  /** The cause that `stowage why` names, where that is not the one of what was under way. */
  cause?: string;
  /** Parameters that differ from one look to the next, as figures and what others say: an event is told once whatever they are. */
  varies?: readonly string[];
}

/** An event or refusal for programs: a code of the list with its parameters. It travels as JSON. */
export interface Reason {
  code: string;
  parameters: Readonly<Record<string, string>>;
}
