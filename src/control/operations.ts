/** Thrown instead of starting a second operation on a volume. */
export class OperationPending extends Error {
  override readonly name = 'OperationPending';
  /** The operation that is under way. */
  readonly pending: string;

  constructor(volume: string, pending: string) {
    super(`${pending} of volume ${volume} is still under way`);
    this.pending = pending;
  }
}

export interface Operations {
  /** Runs `start` unless an operation on that volume is under way; then throws OperationPending. */
  run<T>(volume: string, name: string, start: () => Promise<T>): Promise<T>;
  /** The name of the operation under way on that volume. */
  pending(volume: string): string | undefined;
}

/** The table that all work on volumes goes through: one operation per volume at a time. */
export function createOperations(): Operations {
  const pending = new Map<string, string>();
  return {
    async run(volume, name, start) {
      const other = pending.get(volume);
      if (other !== undefined) throw new OperationPending(volume, other);
      pending.set(volume, name);
      try {
        return await start();
      } finally {
        pending.delete(volume);
      }
    },
    pending: (volume) => pending.get(volume),
  };
}
