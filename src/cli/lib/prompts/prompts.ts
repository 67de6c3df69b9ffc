export interface Choice {
  name: string;
  value: string;
  /** Reason why it cannot be chosen. */
  disabled?: string;
}

/**
 * Questions to the person at the terminal. Each rejects with a SignalError at Ctrl-C, and with a
 * StowageError at the end of the input.
 */
export interface Prompts {
  /**
   * Asks for a text. `problem` returns what is wrong with an answer, and the question is repeated.
   */
  input(message: string, problem: (answer: string) => string | undefined): Promise<string>;
  select(message: string, choices: readonly Choice[]): Promise<string>;
  /** Asks for a yes; the default is no. */
  confirm(message: string): Promise<boolean>;
}
