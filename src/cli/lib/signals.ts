/** Signals that end a command, and the exit status that shells give a program after each. */
export const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;

/** Reason with which the signal of a command's Io aborts. */
export class SignalError extends Error {
  override readonly name = 'SignalError';
  readonly exitCode: number;

  constructor(signal: keyof typeof SIGNAL_EXIT) {
    super(`ended by ${signal}`);
    this.exitCode = SIGNAL_EXIT[signal];
  }
}
