export interface Choice {
  name: string;
  value: string;
  /** Why it cannot be chosen. */
  disabled?: string;
}

/**
 * Questions to the person at the terminal. Each rejects with a SignalError at Ctrl-C, and with a StowageError when
 * there is nothing more to read.
 */
export interface Prompts {
  /** `problem` says what is wrong with an answer, which is then asked for again. */
  input(message: string, problem: (answer: string) => string | undefined): Promise<string>;
  select(message: string, choices: readonly Choice[]): Promise<string>;
  /** No, unless yes is typed. */
  confirm(message: string): Promise<boolean>;
}
