import type { ReadyReason } from '../names.ts';

/** Entry of the list of reasons. Its texts are templates (template.ts). */
export interface ReasonEntry {
  /** Sentence without a period. */
  message: string;
  /** Advice for a person, as sentences. Absent if the obstacle passes by itself. */
  action?: string;
  /** Public reason to show, if not that of the operation. */
  shows?: ReadyReason;
  /** Cause that `stowage why` names, if not that of the operation. */
  cause?: string;
  /**
   * Parameters that vary between observations, such as figures and texts of others: an event is
   * emitted once, whatever their values.
   */
  varies?: readonly string[];
}

/** Event or refusal for programs: a code of the list with its parameters, stored as JSON. */
export interface Reason {
  code: string;
  parameters: Readonly<Record<string, string>>;
}
